// A compiled kernel in this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "abi.h"

namespace sinter::inline v1::runtime::vgpu {

struct Kernel {
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  void* object = nullptr;  // the loader's handle
  std::string name;
  std::string binary;
  sinter_virtual::KernelInfo info{};
  bool has_barriers = false;      // its threads wait for each other, so each needs a stack
  std::size_t static_shared = 0;  // bytes of __shared__ variables
  std::size_t static_area = 0;    // bytes that they lie in
};

/// The line of the kernel's text that an instruction belongs to; 0 when it cannot be told. For errors: it is slow.
int line_of(const Kernel& kernel, std::uintptr_t instruction) noexcept;

/// Loads what HostCompiler::compile gave. Throws CudaError when it is not that, or another kernel. The last share
/// unloads it.
std::shared_ptr<Kernel> load_kernel(const std::string& binary, const std::string& name);

}  // namespace sinter::inline v1::runtime::vgpu
