// A GPU kernel whose text is written by hand, such as a sort or a scan.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include <runtime/fork.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "../cache/kernel_pointer.hpp"

namespace sinter::inline v1::jit {

class LibraryKernel {
 public:
  static constexpr unsigned block_threads = 256;
  /// Past this many blocks, threads process several elements if the kernel supports it.
  static constexpr std::int64_t max_blocks = 1 << 16;

  /// `text` defines the struct of the parameters and the kernel, and may use what prelude/*.cuh defines.
  LibraryKernel(std::string name, const std::string& text);

  const std::string& name() const noexcept { return source_.name; }
  const runtime::KernelSource& source() const noexcept { return source_; }

  /// Compiles and loads it if necessary, and launches it in order with other uses of `uses`. `words` as for
  /// runtime::Launch. Thread-safe. Throws CompileError, CudaError, OutOfMemory.
  void launch(Device device, std::int64_t blocks, std::span<const std::uint64_t> words, unsigned pointers,
              std::span<const runtime::BufferAccess> uses) const;

 private:
  void* function(Device device) const;

  const runtime::KernelSource source_;
  const std::size_t device_count_;
  const std::unique_ptr<KernelPointer[]> loaded_;  // by GPU
  mutable runtime::ForkLocal<std::mutex> loading_;
};

/// A pointer as a parameter.
inline std::uint64_t address(const runtime::TensorImpl& t) noexcept { return reinterpret_cast<std::uintptr_t>(t.data); }

}  // namespace sinter::inline v1::jit
