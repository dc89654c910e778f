// The interface to a device, with one Backend per device; jit/ and dsl/ access devices only through it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/matrix_product.hpp>
#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

class MemorySource;

/// Memory of one device. All functions throw the exceptions of error.hpp. Work goes to the calling thread's current
/// stream of the device; order.hpp keeps streams in order.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const noexcept = 0;
  virtual std::string name() const = 0;
  virtual MemoryInfo memory() const = 0;

  /// Null on a device without streams, whose work is done when a call returns.
  virtual Streams* streams() noexcept { return nullptr; }

  virtual MemoryStats memory_stats() const { return {}; }
  virtual void reset_peak() noexcept {}
  /// Frees cached memory and waits until the device has it back. Returns the number of bytes.
  virtual std::size_t trim() { return 0; }
  /// At least `bytes` (> 0) bytes, aligned to 256, for work on `stream`; null: the default one. Throws OutOfMemory, and
  /// CudaError if the driver would have to be called while the stream captures a graph.
  virtual void* allocate(std::size_t bytes, StreamImpl* stream = nullptr) = 0;
  /// Frees memory from allocate, with the same bytes and stream. That stream's work may still use it, and so may the
  /// work that the fence waits for.
  virtual void deallocate(void* data, std::size_t bytes, StreamImpl* stream = nullptr, Fence fence = {}) noexcept = 0;

  /// Copy from and to host memory. upload may return before the device has the bytes, but `host` may be reused at once.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// From pinned memory, which must not change until the copy is done.
  virtual void upload_pinned(void* device, const void* host, std::size_t bytes) { upload(device, host, bytes); }
  /// Waits for the device: `host` holds the bytes on return.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Copies within this device, or from `source`, another device of the same kind. The ranges must not overlap, since a
  /// GPU copies in no particular order. The copy is not ordered after the source's work.
  virtual void copy(void* to, const void* from, std::size_t bytes, Backend& source) = 0;
  /// The dtype to convert matrices to if the device's BLAS does not support `dtype`.
  virtual DType product_dtype(DType dtype) const noexcept { return dtype; }
  /// A matrix product of a dtype that needs no such conversion. Asynchronous if the device is. Throws DeviceError if
  /// the device has no BLAS, ShapeError for extents that the BLAS does not support, CudaError.
  virtual void multiply(const MatrixProduct& product) = 0;
  /// Waits for all streams.
  virtual void synchronize() = 0;
};

/// One kernel's source: CUDA, whose entry is `extern "C" __global__ void name(const __grid_constant__ Params p)`, or
/// C++ for the CPU's loops.
struct KernelSource {
  std::string name;
  std::string text;
};

/// A kernel loaded on one device, shared by its copies. When the last copy is destroyed, no launch may follow; the
/// kernel is unloaded when work issued before is done and no CUDA graph holds it.
class KernelHandle {
 public:
  KernelHandle() = default;
  explicit KernelHandle(std::shared_ptr<void> kernel) noexcept : kernel_(std::move(kernel)) {}
  /// For Launch::function.
  void* handle() const noexcept { return kernel_.get(); }

 private:
  std::shared_ptr<void> kernel_;
};

/// One launch. `words` is the kernel's parameter struct of 8-byte words. The first `pointers` of them are pointers to
/// device memory, outputs first (null for an operand without memory).
struct Launch {
  void* kernel = nullptr;  // KernelHandle::handle of one that lives at least until the call returns
  unsigned grid = 1;       // blocks
  unsigned block = 1;      // threads
  unsigned shared = 0;     // bytes of dynamic shared memory
  std::span<const std::uint64_t> words;
  unsigned pointers = 0;
};

/// The device rejects the binary itself: recompiling may give one that it accepts.
class BinaryRefused : public CudaError {
 public:
  using CudaError::CudaError;
};

/// Blocks of one launch, at most; threads loop over what is left. Far more than run at once: a block that ends makes
/// room for the next one, while loops of equal numbers of iterations wait for the slowest.
inline constexpr std::int64_t max_blocks_of_launch = std::int64_t{1} << 20;

/// What compiles kernels and loads them: a GPU, or the CPU for its compiled loops.
class KernelTarget {
 public:
  virtual ~KernelTarget() = default;
  /// Unique among the objects of this process.
  std::uint64_t serial() const noexcept { return serial_; }
  /// Identifies compatible binaries: targets with equal tags, in this or another process, run each other's binaries.
  /// Includes everything that a binary depends on besides the source: architecture, compiler, flags. Computing the tag
  /// loads no compiler, and it may change once one is loaded.
  virtual std::string binary_tag() const = 0;
  /// Compiles source to a binary for load(). Thread-safe. Throws CompileError, and DeviceError if there is no compiler.
  virtual std::string compile(const KernelSource& source) = 0;
  /// The ending of a file with such source.
  virtual const char* source_suffix() const noexcept { return ".cu"; }
  /// Throws BinaryRefused, and OutOfMemory or CudaError if the binary is not at fault.
  virtual KernelHandle load(const std::string& binary, const std::string& name) = 0;

 private:
  static std::uint64_t next_serial() noexcept;

  const std::uint64_t serial_ = next_serial();
};

/// A device that runs kernels from CUDA source.
class GpuBackend : public Backend, public KernelTarget {
 public:
  /// Page-locked host memory, for all GPUs.
  virtual MemorySource* pinned_memory() { return nullptr; }
  /// The architecture to compile for, as 10 * major + minor: 90.
  virtual int architecture() const noexcept = 0;
  virtual int multiprocessors() const noexcept = 0;
  /// Peak memory bandwidth of the device in bytes per second, from memory clock and bus width; 0 if these are unknown.
  virtual double bandwidth() const noexcept { return 0; }
  /// Peak arithmetic rate for a dtype in operations per second, a multiply-add counted as two: multiprocessors x units
  /// of the architecture x 2 x clock. 0 if one of these is unknown, as for integers.
  virtual double arithmetic_rate(DType /*dtype*/) const noexcept { return 0; }
  /// Maximum bytes of shared memory per block, static and dynamic together.
  virtual std::int64_t shared_per_block() const noexcept { return 48 << 10; }
  /// Device address of a 32-bit fault word. A kernel stores a fault code there if it is 0; synchronizing with the
  /// device (synchronize, download) resets it to 0 and throws the fault. Throws OutOfMemory.
  virtual std::uint64_t fault_word() = 0;
  /// Throws the fault in the word, if any. Call it after waiting for work in any other way.
  virtual void raise_fault() const {}
  virtual std::int64_t max_blocks() const noexcept { return max_blocks_of_launch; }
  /// Asynchronous if the device is. Throws CudaError, OutOfMemory.
  virtual void launch(const Launch& launch) = 0;
};

/// The backend of a device. Throws DeviceError ("CUDA error: invalid device ordinal", then the existing devices).
Backend& backend(Device device);
GpuBackend& gpu(int index);

}  // namespace sinter::inline v1::runtime
