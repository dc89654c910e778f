// One kernel of a plan, ready to run: its tile program for the CPU, and its variants for GPUs.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include "class_key.hpp"
#include "cpu/tile_program.hpp"

namespace sinter::inline v1::jit {

/// For tests and benchmarks: kernels for GPU `index` go to `device` from now on; null ends it.
void use_gpu(int index, runtime::GpuBackend* device) noexcept;

class Executable {
 public:
  /// Classes that a kernel is compiled for before it falls back to the one that holds everything.
  static constexpr std::size_t max_variants = 8;

  /// Keeps a reference to `kernel`.
  explicit Executable(const Kernel& kernel);
  ~Executable();

  const Kernel& kernel() const noexcept { return kernel_; }

  /// Runs over a nest with at least one element. `aliased`: an input is the same memory as an output, element for
  /// element. Thread-safe. Throws CompileError, CudaError.
  /// False when it met a value that it cannot compute with, which only the CPU knows at once.
  [[nodiscard]] bool run(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const;
  /// Compiles what run would need.
  void prepare(const LoopNest& nest, bool aliased, Device device) const;
  /// The text that run would use on a GPU.
  runtime::KernelSource source(const LoopNest& nest, bool aliased) const;

 private:
  struct Variant;
  struct Variants;
  struct ScalarSlot {
    ScalarUse use;
    DType dtype;
  };

  const cpu::TileProgram& tiles() const;
  Variant& variant(const LoopNest& nest, bool aliased) const;
  Variant& add_variant(const ClassKey& key) const;
  Variant* find_variant(const ClassKey& key) const noexcept;
  bool has_key() const noexcept;  // else every nest runs as the generic class
  runtime::KernelSource text(const KernelClass& c) const;
  void write_scalars(std::uint64_t* words, const Scalar* scalars) const noexcept;
  std::uint32_t fault_code() const;
  bool run_tiles(const LoopNest& nest, const Scalar* scalars) const;
  void launch(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const;
  void* load(Variant& v, runtime::GpuBackend& device, std::size_t index) const;

  const Kernel& kernel_;
  const KernelTraits traits_;
  std::vector<ScalarSlot> scalars_;
  mutable std::atomic<std::uint32_t> fault_code_{0};  // 0: not made yet
  mutable std::mutex mutex_;                          // for adding a tile program or a variant
  mutable std::atomic<const cpu::TileProgram*> tiles_{nullptr};
  mutable std::atomic<const Variants*> variants_;
  mutable std::vector<std::unique_ptr<const Variants>> retired_;  // readers may still look at them
};

}  // namespace sinter::inline v1::jit
