#include "cuda_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <sinter/runtime/error.hpp>

#include "../pool.hpp"
#include "../retired_kernels.hpp"
#include "../waits.hpp"
#include "arithmetic_units.hpp"
#include "captures.hpp"
#include "context.hpp"
#include "cublas_products.hpp"
#include "cuda_memory.hpp"
#include "cuda_streams.hpp"
#include "fault_word.hpp"
#include "nvrtc.hpp"
#include "peers.hpp"
#include "staging.hpp"
#include "stream_watch.hpp"

namespace sinter::inline v1::runtime {
namespace {

using driver::CUdeviceptr;
using driver::CUresult;

constexpr int oldest_architecture = 70;   // the first with __grid_constant__ parameters
constexpr int oldest_with_bfloat16 = 80;  // the first with bfloat16 in cuBLAS

/// Whether the binary is at fault, so that another one may load: not if the device is out of memory, a graph is being
/// captured or the context is lost.
bool is_of_the_binary(CUresult result) noexcept {
  using namespace driver;
  constexpr CUresult all[] = {error_invalid_value,    error_invalid_image,      error_no_binary_for_gpu,
                              error_invalid_ptx,      error_unsupported_ptx,    error_invalid_source,
                              error_symbol_not_found, error_symbol_init_failed, error_not_found};
  return std::ranges::find(all, result) != std::end(all);
}

/// The object that KernelHandle::handle points to.
struct CudaModule : std::enable_shared_from_this<CudaModule> {
  CudaModule(const CudaContext& c, std::string n) : context(c), name(std::move(n)) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() {
    context.forget(name);
    if (module) try {
        const ContextGuard current(context);
        const RelaxedCaptureMode in_any_capture(context.driver());
        context.driver().cuModuleUnload(module);
      } catch (...) {  // the driver is already gone
      }
  }

  const CudaContext& context;
  const std::string name;
  driver::CUmodule module = nullptr;
  driver::CUfunction function = nullptr;
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
    shared_per_block_ = context_.attribute(driver::attribute_shared_per_block);
    clock_ = 1e3 * context_.attribute(driver::attribute_clock);
    const double clock = 1e3 * context_.attribute(driver::attribute_memory_clock);
    bandwidth_ = 2 * clock * context_.attribute(driver::attribute_memory_bus_width) / 8;  // on both clock edges
  }
  ~CudaGpu() override;

  Device device() const noexcept override { return device_; }
  std::string name() const override { return context_.name(); }
  MemoryInfo memory() const override { return memory_.memory(); }
  Streams* streams() noexcept override { return &streams_; }
  MemoryStats memory_stats() const override { return pool_.stats(); }
  void reset_peak() noexcept override { pool_.reset_peak(); }
  std::size_t trim() override;
  void* allocate(std::size_t bytes, StreamImpl* stream) override { return pool_.allocate(bytes, or_default(stream)); }
  void deallocate(void* data, std::size_t bytes, StreamImpl* stream, Fence fence) noexcept override {
    pool_.deallocate(data, bytes, or_default(stream), std::move(fence));
  }
  MemorySource* pinned_memory() override { return &pinned_; }
  void upload(void* device, const void* host, std::size_t bytes) override;
  void upload_pinned(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes, Backend& source) override;
  DType product_dtype(DType dtype) const noexcept override {
    return dtype == DType::BFloat16 && architecture_ < oldest_with_bfloat16 ? DType::Float32 : dtype;
  }
  void multiply(const MatrixProduct& product) override;
  void synchronize() override;

  int architecture() const noexcept override { return architecture_; }
  int multiprocessors() const noexcept override { return multiprocessors_; }
  double bandwidth() const noexcept override { return bandwidth_; }
  double arithmetic_rate(DType dtype) const noexcept override {
    return 2 * clock_ * multiprocessors_ * units_per_multiprocessor(architecture_, dtype);
  }
  std::int64_t shared_per_block() const noexcept override { return shared_per_block_; }
  std::string binary_tag() const override { return nvrtc_tag(architecture_); }
  std::string compile(const KernelSource& source) override {
    refuse_in_capture(source.name, "compiled");
    return nvrtc_compile(source, nvrtc_target(architecture_));
  }
  KernelHandle load(const std::string& binary, const std::string& name) override;
  std::uint64_t fault_word() override { return fault_word_.address(context_); }
  void raise_fault() const override { fault_word_.raise(device_); }
  void launch(const Launch& launch) override;

 private:
  StreamImpl* or_default(StreamImpl* stream) noexcept { return stream ? stream : &streams_.standard(); }
  driver::CUstream stream() noexcept { return cuda_stream(streams_.current()); }
  void refuse_in_capture(const std::string& kernel, const char* what);
  template <class F>
  CUresult with_room(F call);
  CUresult load_module(driver::CUmodule& module, const std::string& binary, std::string& log);
  void* workspace_for(std::size_t bytes, StreamImpl& stream, Capture* capture);
  void release(const std::vector<std::shared_ptr<Capture>>& captures) noexcept;
  CUresult allow_shared(driver::CUfunction function);
  [[noreturn]] void load_failed(const char* call, CUresult result, const std::string& detail) const;
  [[noreturn]] void launch_failed(const Launch& launch, CUresult result) const;

  Device device_;
  CudaContext context_;
  const driver::Driver& d_ = context_.driver();
  CudaStreams stream_calls_{context_};
  Streams streams_{device_, stream_calls_};
  CudaMemory memory_{context_, streams_};
  PinnedMemory pinned_{context_};
  Pool pool_{memory_, device_, Pool::Memory::Device, std::numeric_limits<std::size_t>::max()};
  Staging staging_{d_};
  Peers peers_{context_};
  FaultWord fault_word_{d_};
  cublas::Products products_;
  int architecture_ = 0;
  int multiprocessors_ = 0;
  int shared_per_block_ = 0;
  double bandwidth_ = 0;
  double clock_ = 0;  // of the multiprocessors, in Hz
  Captures captures_{context_};
  const std::shared_ptr<RetiredKernels> retired_ = std::make_shared<RetiredKernels>(streams_);
};

CudaGpu::~CudaGpu() {
  try {
    const ContextGuard current(context_);
    streams_.synchronize();
    staging_.clear();
    fault_word_.clear();
    products_.close();
    release(captures_.take_all());
  } catch (...) {  // the driver is already gone
  }
  retired_->close();
}

void CudaGpu::upload(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextGuard current(context_);
  if (streams_.is_capturing(streams_.current()))  // the graph would read whatever the staging memory holds at launch
    throw CudaError(
        fmt::format("CUDA error: {} bytes of host memory cannot be uploaded to cuda:{} while its stream captures "
                    "a graph. Upload them before the capture begins, or from a pinned tensor (x.pin_memory()), which "
                    "the graph reads each time it is launched",
                    bytes, context_.index()));
  context_.check("cuMemcpyHtoDAsync",
                 staging_.upload(device_address(device), static_cast<const std::byte*>(host), bytes, stream()),
                 [&] { return fmt::format("{} bytes from the host", bytes); });
}

void CudaGpu::upload_pinned(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextGuard current(context_);
  context_.check("cuMemcpyHtoDAsync", d_.cuMemcpyHtoDAsync(device_address(device), host, bytes, stream()),
                 [&] { return fmt::format("{} bytes from pinned memory", bytes); });
}

void CudaGpu::download(void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextGuard current(context_);
  watch(d_, stream());
  context_.check("cuMemcpyDtoHAsync", d_.cuMemcpyDtoHAsync(host, device_address(device), bytes, stream()),
                 [&] { return fmt::format("{} bytes to the host", bytes); });
  const WaitSpan wait("wait for the copy");
  context_.check("cuStreamSynchronize", runtime::synchronize(d_, stream()));
  fault_word_.raise(device_);
}

void CudaGpu::copy(void* to, const void* from, std::size_t bytes, Backend& source) {
  if (bytes == 0) return;
  const ContextGuard current(context_);
  if (&source == this)
    return context_.check("cuMemcpyDtoDAsync",
                          d_.cuMemcpyDtoDAsync(device_address(to), device_address(from), bytes, stream()),
                          [&] { return fmt::format("{} bytes within the device", bytes); });
  const auto* peer = dynamic_cast<const CudaGpu*>(&source);
  if (!peer)
    throw DeviceError(fmt::format("cannot copy {} bytes directly from {} to {}: download them", bytes,
                                  to_string(source.device()), to_string(device())));
  peers_.reach(peer->context_);
  context_.check("cuMemcpyPeerAsync",
                 d_.cuMemcpyPeerAsync(device_address(to), context_.handle(), device_address(from),
                                      peer->context_.handle(), bytes, stream()),
                 [&] { return fmt::format("{} bytes from cuda:{}", bytes, peer->context_.index()); });
}

void CudaGpu::multiply(const MatrixProduct& product) {
  const ContextGuard current(context_);
  StreamImpl& used = streams_.current();
  const std::shared_ptr<Capture> capture = used.may_capture ? captures_.of(stream()) : nullptr;
  if (!capture) release(captures_.take_ended());
  const std::shared_ptr<const cublas::ProductPlan> plan =
      capture ? products_.known_plan(product) : products_.plan(product);
  if (!plan)
    throw CudaError(
        fmt::format("CUDA error: a matrix product would have to be planned while the stream of cuda:{} captures a "
                    "graph. Evaluate the expression once before the capture begins",
                    context_.index()));
  void* const workspace = plan->workspace ? workspace_for(plan->workspace, used, capture.get()) : nullptr;
  const auto give_back = [&] {
    if (workspace && !capture) deallocate(workspace, plan->workspace, &used, {});
  };
  try {
    products_.multiply(*plan, product, workspace, stream());
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

/// Each launch of a graph writes to its workspace, which must not be reused meanwhile.
void* CudaGpu::workspace_for(std::size_t bytes, StreamImpl& stream, Capture* capture) {
  if (!capture) return allocate(bytes, &stream);
  if (void* const known = capture->workspace(bytes, stream)) return known;
  void* const data = allocate(bytes, &stream);
  capture->add({data, bytes, &stream});
  return data;
}

/// Frees the workspaces of graphs that are gone.
void CudaGpu::release(const std::vector<std::shared_ptr<Capture>>& captures) noexcept {
  for (const std::shared_ptr<Capture>& c : captures) {
    for (const Capture::Workspace& w : c->workspaces()) deallocate(w.data, w.bytes, w.stream, {});
    retired_->add(c);
  }
}

void CudaGpu::synchronize() {
  streams_.synchronize();
  release(captures_.take_ended());
  retired_->unload_done();
  fault_word_.raise(device_);
}

std::size_t CudaGpu::trim() {
  release(captures_.take_ended());
  retired_->unload_done();
  const std::size_t returned = pool_.trim();
  if (returned) memory_.synchronize();
  return returned;
}

/// Loading a module would make the capture fail, with a less helpful error.
void CudaGpu::refuse_in_capture(const std::string& kernel, const char* what) {
  if (streams_.is_capturing(streams_.current()))
    throw CudaError(fmt::format(
        "CUDA error: kernel {} would have to be {} while the stream of cuda:{} captures a graph. Call sn::prepare(e) "
        "with the expression, or evaluate it once, before the capture begins",
        kernel, what, context_.index()));
}

/// Retries after freeing cached blocks if the device is out of memory. A module takes memory when it is loaded or, with
/// CUDA's lazy loading, when its kernel is first queried or launched.
template <class F>
CUresult CudaGpu::with_room(F call) {
  const CUresult result = call();
  if (result != driver::error_out_of_memory) [[likely]]
    return result;
  pool_.trim();
  memory_.synchronize();
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

/// Allows launches all shared memory that the kernel's variables leave. Set once, since threads launch concurrently.
CUresult CudaGpu::allow_shared(driver::CUfunction function) {
  int variables = 0;
  if (const CUresult result = d_.cuFuncGetAttribute(&variables, driver::function_static_shared, function);
      result != driver::success)
    return result;
  const int rest = shared_per_block_ - variables;
  return rest > 0 ? d_.cuFuncSetAttribute(function, driver::function_max_dynamic_shared, rest) : driver::success;
}

void CudaGpu::load_failed(const char* call, CUresult result, const std::string& detail) const {
  if (is_of_the_binary(result)) throw BinaryRefused(context_.failure(call, result, detail));
  context_.fail(call, result, detail);
}

KernelHandle CudaGpu::load(const std::string& binary, const std::string& name) {
  refuse_in_capture(name, "loaded");
  const ContextGuard current(context_);
  release(captures_.take_ended());
  retired_->unload_done();
  const auto kernel = std::make_shared<CudaModule>(context_, name);
  std::string log;
  CUresult result = with_room([&] { return load_module(kernel->module, binary, log); });
  if (result != driver::success)
    load_failed("cuModuleLoadDataEx", result,
                fmt::format("kernel {}{}{}", name, log.empty() ? "" : ", the driver's log: ", log));
  const char* call = "cuModuleGetFunction";
  result = with_room([&] { return d_.cuModuleGetFunction(&kernel->function, kernel->module, name.c_str()); });
  if (result == driver::success) {
    call = "cuFuncSetAttribute";
    result = with_room([&] { return allow_shared(kernel->function); });
  }
  if (result != driver::success) load_failed(call, result, "kernel " + name);
  return retired_->share(kernel);
}

void CudaGpu::launch(const Launch& launch) {
  auto& kernel = *static_cast<CudaModule*>(launch.kernel);
  const ContextGuard current(context_);
  if (streams_.current().may_capture.load(std::memory_order_relaxed)) [[unlikely]]
    if (const std::shared_ptr<Capture> capture = captures_.of(stream())) capture->keep(kernel.shared_from_this());
  std::size_t bytes = launch.words.size_bytes();
  void* extra[] = {driver::launch_buffer, const_cast<std::uint64_t*>(launch.words.data()), driver::launch_buffer_size,
                   &bytes, driver::launch_end};
  const CUresult result = with_room([&] {
    return d_.cuLaunchKernel(kernel.function, launch.grid, 1, 1, launch.block, 1, 1, launch.shared, stream(), nullptr,
                             extra);
  });
  if (result != driver::success) [[unlikely]]
    launch_failed(launch, result);
  context_.launched(kernel.name);
}

void CudaGpu::launch_failed(const Launch& launch, CUresult result) const {
  const auto& kernel = *static_cast<const CudaModule*>(launch.kernel);
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
