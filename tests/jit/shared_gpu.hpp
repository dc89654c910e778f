// A GPU whose shared memory per block is set by the test; everything else is passed on to another GPU.
#pragma once
#include <jit/run/executable.hpp>
#include <sinter/runtime/backend.hpp>

namespace sinter::testing {

/// Receives the kernels for GPU `index` during its lifetime and passes them on.
class SharedGpu final : public runtime::GpuBackend {
 public:
  explicit SharedGpu(std::int64_t shared_per_block, int index = 0)
      : gpu_(runtime::gpu(index)), index_(index), shared_(shared_per_block) {
    jit::use_gpu(index_, this);
  }
  ~SharedGpu() override { jit::use_gpu(index_, nullptr); }

  /// The shared memory that the last launch requested.
  unsigned asked_for = 0;

  std::int64_t shared_per_block() const noexcept override { return shared_; }
  void launch(const runtime::Launch& launch) override {
    asked_for = launch.shared;
    gpu_.launch(launch);
  }

  Device device() const noexcept override { return gpu_.device(); }
  std::string name() const override { return gpu_.name(); }
  MemoryInfo memory() const override { return gpu_.memory(); }
  runtime::Streams* streams() noexcept override { return gpu_.streams(); }
  void* allocate(std::size_t bytes, runtime::StreamImpl* s) override { return gpu_.allocate(bytes, s); }
  void deallocate(void* data, std::size_t bytes, runtime::StreamImpl* s, runtime::Fence fence) noexcept override {
    gpu_.deallocate(data, bytes, s, std::move(fence));
  }
  void upload(void* to, const void* from, std::size_t bytes) override { gpu_.upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { gpu_.download(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t n, Backend& source) override { gpu_.copy(to, from, n, source); }
  void multiply(const runtime::MatrixProduct& product) override { gpu_.multiply(product); }
  void synchronize() override { gpu_.synchronize(); }
  int architecture() const noexcept override { return gpu_.architecture(); }
  int multiprocessors() const noexcept override { return gpu_.multiprocessors(); }
  double bandwidth() const noexcept override { return gpu_.bandwidth(); }
  std::string binary_tag() const override { return gpu_.binary_tag(); }
  std::string compile(const runtime::KernelSource& source) override { return gpu_.compile(source); }
  runtime::KernelHandle load(const std::string& binary, const std::string& name) override {
    return gpu_.load(binary, name);
  }
  std::uint64_t fault_word() override { return gpu_.fault_word(); }
  void raise_fault() const override { gpu_.raise_fault(); }
  std::int64_t max_blocks() const noexcept override { return gpu_.max_blocks(); }

 private:
  runtime::GpuBackend& gpu_;
  const int index_;
  const std::int64_t shared_;
};

}  // namespace sinter::testing
