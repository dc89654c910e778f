#include "traced_gpu.hpp"

#include <string>
#include <utility>

#include "gpu_spans.hpp"
#include "product_record.hpp"
#include "span.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The object that KernelHandle::handle points to.
struct TracedKernel {
  KernelHandle function;
  std::string name;
};

class TracedGpu final : public GpuBackend {
 public:
  explicit TracedGpu(std::unique_ptr<GpuBackend> gpu) : gpu_(std::move(gpu)), spans_(*gpu_->streams()) {}

  Device device() const noexcept override { return gpu_->device(); }
  std::string name() const override { return gpu_->name(); }
  MemoryInfo memory() const override { return gpu_->memory(); }
  Streams* streams() noexcept override { return gpu_->streams(); }
  MemoryStats memory_stats() const override { return gpu_->memory_stats(); }
  void reset_peak() noexcept override { gpu_->reset_peak(); }
  std::size_t trim() override { return gpu_->trim(); }
  void* allocate(std::size_t bytes, StreamImpl* stream) override { return gpu_->allocate(bytes, stream); }
  void deallocate(void* data, std::size_t bytes, StreamImpl* stream, Fence fence) noexcept override {
    gpu_->deallocate(data, bytes, stream, std::move(fence));
  }
  MemorySource* pinned_memory() override { return gpu_->pinned_memory(); }
  DType product_dtype(DType dtype) const noexcept override { return gpu_->product_dtype(dtype); }
  int architecture() const noexcept override { return gpu_->architecture(); }
  int multiprocessors() const noexcept override { return gpu_->multiprocessors(); }
  double bandwidth() const noexcept override { return gpu_->bandwidth(); }
  double arithmetic_rate(DType dtype) const noexcept override { return gpu_->arithmetic_rate(dtype); }
  std::int64_t shared_per_block() const noexcept override { return gpu_->shared_per_block(); }
  std::string binary_tag() const override { return gpu_->binary_tag(); }
  std::string compile(const KernelSource& source) override { return gpu_->compile(source); }
  std::uint64_t fault_word() override { return gpu_->fault_word(); }
  void raise_fault() const override { gpu_->raise_fault(); }
  std::int64_t max_blocks() const noexcept override { return gpu_->max_blocks(); }

  void upload(void* to, const void* host, std::size_t bytes) override {
    copying("copy to the device", bytes, [&] { gpu_->upload(to, host, bytes); });
  }
  void upload_pinned(void* to, const void* host, std::size_t bytes) override {
    copying("copy to the device, pinned", bytes, [&] { gpu_->upload_pinned(to, host, bytes); });
  }
  void download(void* host, const void* from, std::size_t bytes) override {
    copying("copy to the host", bytes, [&] { gpu_->download(host, from, bytes); });
    spans_.read();
  }
  void copy(void* to, const void* from, std::size_t bytes, Backend& source) override {
    auto* const other = dynamic_cast<TracedGpu*>(&source);
    copying(&source == this ? "copy on the device" : "copy between devices", bytes,
            [&] { gpu_->copy(to, from, bytes, other ? *other->gpu_ : source); });
  }
  void multiply(const MatrixProduct& product) override {
    traced(record_of(product), TraceCategory::Product, [&] { gpu_->multiply(product); });
  }
  void synchronize() override {
    gpu_->synchronize();
    spans_.read();
  }
  KernelHandle load(const std::string& binary, const std::string& name) override {
    const TraceSpan span(TraceCategory::Load, name, {{"bytes", static_cast<std::int64_t>(binary.size())}});
    return KernelHandle(std::make_shared<TracedKernel>(gpu_->load(binary, name), name));
  }
  void launch(const Launch& launch) override;

 private:
  static const TracedKernel& kernel_of(void* handle) noexcept { return *static_cast<const TracedKernel*>(handle); }

  template <class F>
  void copying(const char* what, std::size_t bytes, F f) {
    if (bytes == 0) return f();
    traced({TraceCategory::Copy, what, {{"bytes", static_cast<std::int64_t>(bytes)}}}, TraceCategory::Copy, f);
  }
  /// Traces the work on this thread's track and on its stream's.
  template <class F>
  void traced(TraceRecord work, TraceCategory on_gpu, F f) {
    const TraceSpan span(work);
    work.category = on_gpu;
    const GpuSpan gpu_span(spans_, work);
    f();
  }

  const std::unique_ptr<GpuBackend> gpu_;
  GpuSpans spans_;
};

void TracedGpu::launch(const Launch& launch) {
  const TracedKernel& kernel = kernel_of(launch.kernel);
  Launch own = launch;
  own.kernel = kernel.function.handle();
  traced(
      {TraceCategory::Launch, kernel.name, {{"grid", launch.grid}, {"block", launch.block}, {"shared", launch.shared}}},
      TraceCategory::Kernel, [&] { gpu_->launch(own); });
}

}  // namespace

std::unique_ptr<GpuBackend> make_traced_gpu(std::unique_ptr<GpuBackend> gpu) {
  return std::make_unique<TracedGpu>(std::move(gpu));
}

}  // namespace sinter::inline v1::runtime
