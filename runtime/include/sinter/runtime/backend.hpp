// What a device must be able to do. One Backend per device; jit/ and dsl/ see nothing else of it.
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

/// Memory of one device. All functions throw what their failure is called in error.hpp. Work goes to the calling
/// thread's current stream of the device; order.hpp keeps streams in order.
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
  /// Returns cached memory; waits until the device has it. Gives the number of bytes.
  virtual std::size_t trim() { return 0; }
  /// At least `bytes` (> 0) bytes, aligned to 256, for the work of `stream`; null: the default one. Throws OutOfMemory,
  /// and CudaError while the stream captures a graph and the driver would have to be asked.
  virtual void* allocate(std::size_t bytes, StreamImpl* stream = nullptr) = 0;
  /// Returns what allocate gave for these bytes and this stream. Work of that stream may still use it, and what the
  /// fence waits for.
  virtual void deallocate(void* data, std::size_t bytes, StreamImpl* stream = nullptr, Fence fence = {}) noexcept = 0;

  /// From and to host memory. upload may return before the device has the bytes, but `host` may be reused at once.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// From pinned memory, which must stay as it is until the copy is done.
  virtual void upload_pinned(void* device, const void* host, std::size_t bytes) { upload(device, host, bytes); }
  /// Waits for the device: `host` holds the bytes on return.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Within this device, or from `source`, another device of the same kind. The ranges do not overlap: a GPU copies in
  /// no particular order. Nothing orders the copy with the source's work.
  virtual void copy(void* to, const void* from, std::size_t bytes, Backend& source) = 0;
  /// The dtype that matrices are to have where the device's BLAS does not multiply those of `dtype`.
  virtual DType multiplied_as(DType dtype) const noexcept { return dtype; }
  /// Of a dtype that is multiplied as itself. Asynchronous where the device is. Throws DeviceError where there is no
  /// BLAS for the device, ShapeError for extents that it does not take, CudaError.
  virtual void multiply(const MatrixProduct& product) = 0;
  /// Waits for all streams.
  virtual void synchronize() = 0;
};

/// One kernel's CUDA text. The entry is `extern "C" __global__ void name(const __grid_constant__ Params p)`.
struct KernelSource {
  std::string name;
  std::string text;
};

/// A kernel loaded on one device, shared by its copies. Where the last one is gone, nobody may launch it any more, and
/// it is unloaded as soon as the work that was issued by then is done and no CUDA graph holds it.
class Function {
 public:
  Function() = default;
  explicit Function(std::shared_ptr<void> kernel) noexcept : kernel_(std::move(kernel)) {}
  /// What Launch takes.
  void* handle() const noexcept { return kernel_.get(); }

 private:
  std::shared_ptr<void> kernel_;
};

/// One launch. `words` is the kernel's parameter struct: 8-byte words, of which the first `pointers` are pointers to
/// device memory, outputs first (a word may be null where the operand has no memory).
struct Launch {
  void* function = nullptr;  // Function::handle, of one that lives as long as the call
  unsigned grid = 1;         // blocks
  unsigned block = 1;        // threads
  unsigned shared = 0;       // bytes of dynamic shared memory
  std::span<const std::uint64_t> words;
  unsigned pointers = 0;
};

/// A binary that a device does not take, though nothing else failed: compiled once more, it may be another.
class BinaryRefused : public CudaError {
 public:
  using CudaError::CudaError;
};

/// A device that runs CUDA text.
class GpuBackend : public Backend {
 public:
  /// Another number for each object of this process.
  std::uint64_t serial() const noexcept { return serial_; }
  /// Page-locked memory of the host, for all GPUs.
  virtual MemorySource* pinned_memory() { return nullptr; }
  /// The architecture to compile for, as 10 * major + minor: 90.
  virtual int architecture() const noexcept = 0;
  virtual int multiprocessors() const noexcept = 0;
  /// Bytes a second that pass between the device and its memory at most, by the memory's clock and the width of its
  /// bus; 0 where these are not known.
  virtual double bandwidth() const noexcept { return 0; }
  /// Operations on elements of a dtype that its multiprocessors do in a second at most, a multiply-add as two:
  /// multiprocessors x units of the architecture x 2 x clock. 0 where one of these is not known, as for integers.
  virtual double arithmetic_rate(DType /*dtype*/) const noexcept { return 0; }
  /// Bytes of shared memory that a block may have, its variables and what a launch asks for together.
  virtual std::int64_t shared_per_block() const noexcept { return 48 << 10; }
  /// Distinguishes binaries: two backends with equal tags run each other's binaries, of this process or of another.
  /// Names all that a binary depends on beside the text: architecture, compiler, flags. Finding it loads no compiler,
  /// and it may change when one is loaded.
  virtual std::string binary_tag() const = 0;
  /// Text to something that load() accepts. Thread-safe. Throws CompileError, and DeviceError where there is no
  /// compiler.
  virtual std::string compile(const KernelSource& source) = 0;
  /// Throws BinaryRefused, and OutOfMemory or CudaError where the binary is not at fault.
  virtual Function load(const std::string& binary, const std::string& name) = 0;
  /// Device address of a 32-bit word for fault codes. A kernel sets it where it is 0; waiting for the device
  /// (synchronize, download) sets it to 0 again and throws the fault. Throws OutOfMemory.
  virtual std::uint64_t fault_word() = 0;
  /// To be called by whoever waited for work otherwise: throws the fault that is in the word.
  virtual void raise_fault() const {}
  /// How many blocks of so many threads one multiprocessor runs at once. Throws CudaError.
  virtual int resident_blocks(const Function& function, int threads) = 0;
  /// Asynchronous where the device is. Throws CudaError, OutOfMemory.
  virtual void launch(const Launch& launch) = 0;

 private:
  static std::uint64_t next_serial() noexcept;

  const std::uint64_t serial_ = next_serial();
};

/// The backend of a device. Throws DeviceError ("CUDA error: invalid device ordinal", then what there is).
Backend& backend(Device device);
GpuBackend& gpu(int index);

}  // namespace sinter::inline v1::runtime
