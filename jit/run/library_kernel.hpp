// A GPU kernel whose text is written by hand: what is no elementwise graph.
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
#include "../cache/kernel_place.hpp"

namespace sinter::inline v1::jit {

class LibraryKernel {
 public:
  static constexpr unsigned block_threads = 256;
  /// Beyond them threads take several elements, where a kernel can.
  static constexpr std::int64_t most_blocks = 1 << 16;

  /// `text` has the struct of the parameters and the entry, and may use what prelude/*.cuh defines.
  LibraryKernel(std::string name, const std::string& text);

  const std::string& name() const noexcept { return source_.name; }
  const runtime::KernelSource& source() const noexcept { return source_; }

  /// Compiles and loads it where that was not done yet, and launches it in order with other uses of `uses`. `words` as
  /// for runtime::Launch. Thread-safe. Throws CompileError, CudaError, OutOfMemory.
  void launch(Device device, std::int64_t blocks, std::span<const std::uint64_t> words, unsigned pointers,
              std::span<const runtime::Use> uses) const;

 private:
  void* function(Device device) const;

  const runtime::KernelSource source_;
  const std::size_t device_count_;
  const std::unique_ptr<KernelPlace[]> loaded_;  // by GPU
  mutable runtime::PerProcess<std::mutex> loading_;
};

/// A pointer as a parameter.
inline std::uint64_t address(const runtime::TensorImpl& t) noexcept { return reinterpret_cast<std::uintptr_t>(t.data); }

}  // namespace sinter::inline v1::jit
