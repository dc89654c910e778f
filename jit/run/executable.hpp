// One kernel of a plan, ready to run: its program for the CPU, and its variants for GPUs.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit {

/// For tests and benchmarks: makes kernels for GPU `index` run on `device`, until it is called with null.
void use_gpu(int index, runtime::GpuBackend* device) noexcept;

/// How a GPU processes the rows of a kernel.
struct RowReport {
  std::int64_t rows = 0, columns = 0;
  std::int64_t launches = 1;
  std::int64_t passes = 1;  // over a row
  bool rereads = false;     // each pass reads the row from memory
  std::string scheme;       // described in words
};

/// Prints a kernel for one class: cuda::source, hip::source.
using PrintSource = std::string(const Kernel&, const KernelTraits&, const KernelClass&);

class Executable {
 public:
  /// Classes that a kernel is compiled for before it falls back to the generic one.
  static constexpr std::size_t max_variants = 8;

  /// Keeps a reference to `kernel`.
  explicit Executable(const Kernel& kernel);
  ~Executable();

  const Kernel& kernel() const noexcept { return kernel_; }

  /// Runs over a nest with at least one element. `aliased`: an input is the same memory as an output, element for
  /// element. Thread-safe, within an EpochGuard. Throws CompileError, CudaError. Returns the faults that it found; a
  /// GPU reports its faults later.
  [[nodiscard]] RunFaults run(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const;
  /// Compiles what run() would need.
  void prepare(const LoopNest& nest, bool aliased, Device device) const;
  /// For a kernel that reduces: how a GPU processes its rows; for the CPU, how a GPU without a row cache would.
  RowReport row_report(const LoopNest& nest, bool aliased, Device device) const;
  /// Whether the CPU's loops of this kernel are compiled.
  bool is_compiled_for_cpu() const noexcept;
  /// The text that run() would use on a GPU for which `print` prints it.
  runtime::KernelSource source(const LoopNest& nest, bool aliased, PrintSource& print) const;

 private:
  struct Variant;
  struct Variants;
  class Workspace;
  struct ScalarSlot {
    ScalarUse use;
    DType dtype;
  };

  /// The CPU's program: rows for a kernel that reduces, tiles for any other.
  struct CpuProgram;
  const CpuProgram& on_cpu() const;
  Variant& variant(const LoopNest& nest, bool aliased) const;
  Variant& add_variant(const ClassKey& key) const;
  Variant* find_variant(const ClassKey& key) const noexcept;
  KernelClass class_of(const LoopNest& nest, bool aliased) const;
  bool has_key() const noexcept;  // else every nest runs in the generic class
  runtime::KernelSource text(const KernelClass& c) const;
  /// Returns the end.
  std::uint64_t* write_scalars(std::uint64_t* words, const Scalar* scalars) const noexcept;
  std::uint32_t fault_code(Fault fault) const;
  RunFaults run_on_cpu(const LoopNest& nest, const Scalar* scalars) const;
  RunFaults traced_on_cpu(const LoopNest& nest, const Scalar* scalars) const;
  void launch(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const;
  void launch_rows(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const;
  void* function(Variant& v, runtime::GpuBackend& gpu, Device device) const;
  void* load(Variant& v, runtime::GpuBackend& device, std::size_t index) const;

  const Kernel& kernel_;
  const KernelTraits traits_;
  std::vector<ScalarSlot> scalars_;
  std::vector<std::size_t> iotas_;
  mutable std::array<std::atomic<std::uint32_t>, all_faults.size()> fault_codes_{};  // 0: not assigned yet
  mutable std::mutex mutex_;  // for adding the CPU's program or a variant
  mutable std::atomic<const CpuProgram*> on_cpu_{nullptr};
  mutable std::atomic<const Variants*> variants_;
  mutable std::vector<std::unique_ptr<const Variants>> retired_;  // readers may still use them
};

}  // namespace sinter::inline v1::jit
