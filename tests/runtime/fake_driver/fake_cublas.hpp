// A cuBLASLt that multiplies on the fake driver's streams, in column-major order as the real one, and element by
// element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace fake_cublas {

/// What a test sets and reads, while no other thread calls the library.
struct Control {
  std::size_t cudart_version = 12080;
  std::size_t workspace = 1024;  // bytes that a product takes
  int found = 1;                 // algorithms for a product
  std::string fail_call;         // this call gives fail_result
  int fail_result = 0;
  int compute_type = 0, scale_type = 0;     // of the last operation made
  int element_type = 0;                     // of the last product asked for
  std::map<int, std::uint32_t> alignments;  // that the last product promised, by the preference's attribute
  std::uint32_t reductions = ~0u;           // that it allowed
  int objects = 0;                          // handles, operations, layouts and preferences that live
  std::map<std::string, int> calls;
};

}  // namespace fake_cublas

extern "C" fake_cublas::Control* fake_cublas_control();
