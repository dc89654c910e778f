// A compiled kernel in this process.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "virtual/abi.h"

namespace sinter::inline v1::runtime::vgpu {

struct Kernel {
  std::string name;
  std::string binary;
  sinter_virtual::KernelInfo info{};
  bool has_barriers = false;      // its threads wait for each other, so each needs a stack
  std::size_t static_shared = 0;  // bytes of __shared__ variables
  std::uintptr_t base = 0;        // where the shared object lies
  std::uintptr_t end = 0;
};

/// Loads what HostCompiler::compile gave. Throws CudaError when it is not that, or another kernel. Kernels stay loaded
/// until the process ends.
std::unique_ptr<Kernel> load_kernel(const std::string& binary, const std::string& name);

}  // namespace sinter::inline v1::runtime::vgpu
