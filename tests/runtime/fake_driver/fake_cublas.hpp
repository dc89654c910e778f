// A fake cuBLASLt that multiplies on the fake driver's streams, column-major like the real one, element by element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace fake_cublas {

/// State that a test sets and reads while no other thread calls the library.
struct Control {
  std::size_t cudart_version = 12080;
  std::size_t workspace = 1024;  // bytes required for a product
  int found = 1;                 // number of algorithms for a product
  std::string fail_call;         // this call returns fail_result
  int fail_result = 0;
  int compute_type = 0, scale_type = 0;     // of the last operation created
  int element_type = 0;                     // of the last product requested
  std::map<int, std::uint32_t> alignments;  // promised by the last product, by preference attribute
  std::uint32_t reductions = ~0u;           // allowed by the last product
  int objects = 0;                          // living handles, operations, layouts and preferences
  std::map<std::string, int> calls;
};

}  // namespace fake_cublas

extern "C" fake_cublas::Control* fake_cublas_control();
