// A compiled kernel loaded into this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../shared_object.hpp"
#include "abi.h"

namespace sinter::inline v1::runtime::vgpu {

struct Kernel {
  Kernel(const std::string& bytes, const std::string& its_name)
      : object(bytes, its_name), name(its_name), binary(bytes) {}

  SharedObject object;
  std::string name;
  std::string binary;
  sinter_virtual::KernelInfo info{};
  bool has_barriers = false;      // its threads wait for each other, so each needs a stack
  std::size_t static_shared = 0;  // bytes of __shared__ variables
  std::size_t static_area = 0;    // bytes of the area that holds them
};

/// The source line of an instruction; 0 if unknown. For errors only: it is slow.
int line_of(const Kernel& kernel, std::uintptr_t instruction) noexcept;

/// Loads the result of compile_kernel. Throws CudaError if it is something else or another kernel. The last
/// reference unloads it.
std::shared_ptr<Kernel> load_kernel(const std::string& binary, const std::string& name);

}  // namespace sinter::inline v1::runtime::vgpu
