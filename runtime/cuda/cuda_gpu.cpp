#include "cuda_gpu.hpp"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <limits>
#include <mutex>
#include <vector>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>

#include "../pool.hpp"
#include "context.hpp"
#include "nvrtc.hpp"
#include "staging.hpp"

namespace sinter::inline v1::runtime {
namespace {

using driver::CUdeviceptr;
using driver::CUresult;

constexpr int oldest_architecture = 70;  // that takes __grid_constant__ parameters

CUdeviceptr address(const void* data) noexcept { return reinterpret_cast<CUdeviceptr>(data); }

/// What Function::handle points to.
struct LoadedKernel {
  driver::CUfunction function;
  std::string name;
};

/// Memory in the order of the context's stream, where the driver knows how.
class DeviceMemory final : public MemorySource {
 public:
  explicit DeviceMemory(const CudaContext& context)
      : context_(context),
        in_order_(context.driver().cuMemAllocAsync && context.driver().cuMemFreeAsync &&
                  context.attribute(driver::attribute_memory_pools)) {}

  void* acquire(std::size_t bytes) override {
    const Current current(context_);
    const driver::Driver& d = context_.driver();
    CUdeviceptr data = 0;
    const CUresult result = in_order_ ? d.cuMemAllocAsync(&data, bytes, context_.stream()) : d.cuMemAlloc(&data, bytes);
    if (result == driver::error_out_of_memory) return nullptr;
    context_.check(in_order_ ? "cuMemAllocAsync" : "cuMemAlloc", result, fmt::format("{} bytes", bytes));
    return reinterpret_cast<void*>(data);
  }

  void release(void* data, std::size_t) noexcept override try {
    const Current current(context_);
    const driver::Driver& d = context_.driver();
    // A failure has no one to tell: the device is lost, or the process is about to end.
    if (in_order_)
      d.cuMemFreeAsync(address(data), context_.stream());
    else
      d.cuMemFree(address(data));  // waits for the device itself
  } catch (...) {
  }

  void settle() override {
    const Current current(context_);
    context_.check("cuStreamSynchronize", context_.driver().cuStreamSynchronize(context_.stream()));
  }

  MemoryInfo memory() const override {
    const Current current(context_);
    MemoryInfo info{0, 0};
    context_.check("cuMemGetInfo", context_.driver().cuMemGetInfo(&info.free, &info.total));
    return info;
  }

 private:
  const CudaContext& context_;
  bool in_order_;
};

/// An event on a context's stream.
class Event {
 public:
  explicit Event(const CudaContext& context) : driver_(context.driver()) {
    const Current current(context);
    context.check("cuEventCreate", driver_.cuEventCreate(&event_, driver::event_disable_timing));
    if (const CUresult result = driver_.cuEventRecord(event_, context.stream()); result != driver::success) {
      driver_.cuEventDestroy(event_);
      context.fail("cuEventRecord", result, {});
    }
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { driver_.cuEventDestroy(event_); }

  /// Work issued to `context` from now on waits for the event.
  void holds(const CudaContext& context) const {
    const Current current(context);
    context.check("cuStreamWaitEvent", driver_.cuStreamWaitEvent(context.stream(), event_, 0));
  }

 private:
  const driver::Driver& driver_;
  driver::CUevent event_ = nullptr;
};

/// The word that kernels report in: host memory that the device reaches, so that looking costs no copy. With unified
/// addresses, which every driver on 64 bits has, both sides use one address.
class FaultWord {
 public:
  explicit FaultWord(const driver::Driver& d) : d_(d) {}

  std::uint64_t address(const CudaContext& context) {
    if (!word_.load(std::memory_order_acquire)) [[unlikely]]
      allocate(context);
    return reinterpret_cast<std::uint64_t>(word_.load(std::memory_order_relaxed));
  }
  /// To be called when the device has been waited for.
  void raise(Device device) const {
    std::uint32_t* const word = word_.load(std::memory_order_acquire);
    if (!word) return;
    if (const std::uint32_t code = std::atomic_ref(*word).exchange(0)) throw_fault(code, to_string(device));
  }
  void clear() noexcept {
    if (std::uint32_t* const word = word_.exchange(nullptr)) d_.cuMemFreeHost(word);
  }

 private:
  void allocate(const CudaContext& context) {
    const std::lock_guard lock(mutex_);
    if (word_.load(std::memory_order_relaxed)) return;
    const Current current(context);
    void* word = nullptr;
    context.check("cuMemHostAlloc", d_.cuMemHostAlloc(&word, sizeof(std::uint32_t), driver::host_memory_mapped),
                  "the word that kernels report faults in");
    *static_cast<std::uint32_t*>(word) = 0;
    word_.store(static_cast<std::uint32_t*>(word), std::memory_order_release);
  }

  const driver::Driver& d_;
  std::mutex mutex_;
  std::atomic<std::uint32_t*> word_{nullptr};
};

class CudaGpu final : public GpuBackend {
 public:
  explicit CudaGpu(int index) : device_(index), context_(index) {
    architecture_ = 10 * context_.attribute(driver::attribute_capability_major) +
                    context_.attribute(driver::attribute_capability_minor);
    if (architecture_ < oldest_architecture)
      throw DeviceError(fmt::format("cuda:{} ({}) has compute capability {}.{}: Sinter's kernels need {}.{} or newer",
                                    index, context_.name(), architecture_ / 10, architecture_ % 10,
                                    oldest_architecture / 10, oldest_architecture % 10));
    multiprocessors_ = context_.attribute(driver::attribute_multiprocessors);
  }
  ~CudaGpu() override;

  Device device() const noexcept override { return device_; }
  std::string name() const override { return context_.name(); }
  MemoryInfo memory() const override { return memory_.memory(); }
  void* allocate(std::size_t bytes) override { return pool_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { pool_.deallocate(data, bytes); }
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes, Backend& source) override;
  void synchronize() override;

  int architecture() const noexcept override { return architecture_; }
  int multiprocessors() const noexcept override { return multiprocessors_; }
  std::string binary_tag() const override { return nvrtc_tag(architecture_); }
  std::string compile(const KernelSource& source) override {
    return nvrtc_compile(source, nvrtc_target(architecture_));
  }
  Function load(const std::string& binary, const std::string& name) override;
  std::uint64_t fault_word() override { return fault_word_.address(context_); }
  int resident_blocks(Function function, int threads) override;
  void launch(const Launch& launch) override;

 private:
  template <class F>
  CUresult with_room(F call);
  CUresult load_module(driver::CUmodule& module, const std::string& binary, std::string& log);
  CUresult allow_shared(driver::CUfunction function);
  [[noreturn]] void launch_failed(const Launch& launch, CUresult result) const;

  Device device_;
  CudaContext context_;
  const driver::Driver& d_ = context_.driver();
  DeviceMemory memory_{context_};
  Pool pool_{memory_, device_, Pool::Memory::Device, std::numeric_limits<std::size_t>::max()};
  Staging staging_{d_, context_.stream()};
  FaultWord fault_word_{d_};
  int architecture_ = 0;
  int multiprocessors_ = 0;
  std::mutex loading_;
  std::vector<driver::CUmodule> modules_;
  std::deque<LoadedKernel> kernels_;  // whose addresses stay
};

CudaGpu::~CudaGpu() {
  try {
    const Current current(context_);
    d_.cuStreamSynchronize(context_.stream());
    staging_.clear();
    fault_word_.clear();
    for (const driver::CUmodule module : modules_) d_.cuModuleUnload(module);
  } catch (...) {  // the driver has gone already
  }
}

void CudaGpu::upload(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  const Current current(context_);
  context_.check("cuMemcpyHtoDAsync", staging_.upload(address(device), static_cast<const std::byte*>(host), bytes),
                 fmt::format("{} bytes from the host", bytes));
}

void CudaGpu::download(void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  const Current current(context_);
  context_.check("cuMemcpyDtoHAsync", d_.cuMemcpyDtoHAsync(host, address(device), bytes, context_.stream()),
                 fmt::format("{} bytes to the host", bytes));
  context_.check("cuStreamSynchronize", d_.cuStreamSynchronize(context_.stream()));
  fault_word_.raise(device_);
}

void CudaGpu::copy(void* to, const void* from, std::size_t bytes, Backend& source) {
  if (bytes == 0) return;
  if (&source == this) {
    const Current current(context_);
    return context_.check("cuMemcpyDtoDAsync",
                          d_.cuMemcpyDtoDAsync(address(to), address(from), bytes, context_.stream()),
                          fmt::format("{} bytes within the device", bytes));
  }
  const auto* peer = dynamic_cast<const CudaGpu*>(&source);
  if (!peer)
    throw DeviceError(fmt::format("cannot copy {} bytes from {} to {} within one kind of device: download them first",
                                  bytes, to_string(source.device()), to_string(device())));
  // The copy waits for what was issued to the source; what is issued there later, such as reuse, waits for the copy.
  Event(peer->context_).holds(context_);
  {
    const Current current(context_);
    context_.check("cuMemcpyPeerAsync",
                   d_.cuMemcpyPeerAsync(address(to), context_.handle(), address(from), peer->context_.handle(), bytes,
                                        context_.stream()),
                   fmt::format("{} bytes from cuda:{}", bytes, peer->context_.index()));
  }
  Event(context_).holds(peer->context_);
}

void CudaGpu::synchronize() {
  const Current current(context_);
  context_.check("cuStreamSynchronize", d_.cuStreamSynchronize(context_.stream()));
  fault_word_.raise(device_);
}

/// Calls again when memory was lacking, which cached blocks may hold. A module takes some when it is loaded, or, as
/// CUDA loads lazily, when its kernel is first asked for or launched.
template <class F>
CUresult CudaGpu::with_room(F call) {
  const CUresult result = call();
  if (result != driver::error_out_of_memory) [[likely]]
    return result;
  pool_.trim();
  memory_.settle();
  return call();
}

CUresult CudaGpu::load_module(driver::CUmodule& module, const std::string& binary, std::string& log) {
  log.assign(4096, '\0');
  int options[] = {driver::jit_error_log, driver::jit_error_log_size};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const CUresult result = d_.cuModuleLoadDataEx(&module, binary.c_str(), 2, options, values);
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  return result;
}

/// Lets launches have all the shared memory that the kernel's variables leave: set once, since threads launch together.
CUresult CudaGpu::allow_shared(driver::CUfunction function) {
  int variables = 0;
  if (const CUresult result = d_.cuFuncGetAttribute(&variables, driver::function_static_shared, function);
      result != driver::success)
    return result;
  const int rest = context_.attribute(driver::attribute_shared_per_block) - variables;
  return rest > 0 ? d_.cuFuncSetAttribute(function, driver::function_max_dynamic_shared, rest) : driver::success;
}

Function CudaGpu::load(const std::string& binary, const std::string& name) {
  const Current current(context_);
  driver::CUmodule module = nullptr;
  std::string log;
  CUresult result = with_room([&] { return load_module(module, binary, log); });
  context_.check("cuModuleLoadDataEx", result,
                 fmt::format("kernel {}{}{}", name, log.empty() ? "" : ", the driver's log: ", log));
  driver::CUfunction function = nullptr;
  const char* call = "cuModuleGetFunction";
  result = with_room([&] { return d_.cuModuleGetFunction(&function, module, name.c_str()); });
  if (result == driver::success) {
    call = "cuFuncSetAttribute";
    result = with_room([&] { return allow_shared(function); });
  }
  if (result != driver::success) {
    d_.cuModuleUnload(module);
    context_.fail(call, result, "kernel " + name);
  }
  const std::lock_guard lock(loading_);
  modules_.push_back(module);
  return {&kernels_.emplace_back(LoadedKernel{function, name})};
}

int CudaGpu::resident_blocks(Function function, int threads) {
  const auto& kernel = *static_cast<const LoadedKernel*>(function.handle);
  const Current current(context_);
  int blocks = 0;
  context_.check("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                 d_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, threads, 0),
                 "kernel " + kernel.name);
  return blocks;
}

void CudaGpu::launch(const Launch& launch) {
  const auto& kernel = *static_cast<const LoadedKernel*>(launch.function.handle);
  const Current current(context_);
  std::size_t bytes = launch.words.size_bytes();
  void* extra[] = {driver::launch_buffer, const_cast<std::uint64_t*>(launch.words.data()), driver::launch_buffer_size,
                   &bytes, driver::launch_end};
  const CUresult result = with_room([&] {
    return d_.cuLaunchKernel(kernel.function, launch.grid, 1, 1, launch.block, 1, 1, launch.shared, context_.stream(),
                             nullptr, extra);
  });
  if (result != driver::success) [[unlikely]]
    launch_failed(launch, result);
  context_.launched(kernel.name);
}

void CudaGpu::launch_failed(const Launch& launch, CUresult result) const {
  const auto& kernel = *static_cast<const LoadedKernel*>(launch.function.handle);
  context_.fail("cuLaunchKernel", result,
                fmt::format("kernel {}, {} blocks of {} threads, {} bytes of shared memory, {} bytes of parameters",
                            kernel.name, launch.grid, launch.block, launch.shared, launch.words.size_bytes()));
}

}  // namespace

int cuda_gpu_count() noexcept {
  try {
    return driver::opened().problem.empty() ? driver::opened().devices : 0;
  } catch (...) {
    return 0;
  }
}

std::string cuda_unavailable_reason() { return driver::opened().problem; }

std::unique_ptr<GpuBackend> make_cuda_gpu(int index) { return std::make_unique<CudaGpu>(index); }

}  // namespace sinter::inline v1::runtime
