// A GPU that compiles and launches nothing, and records the requests.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing {

class FakeGpu : public runtime::GpuBackend {
 public:
  explicit FakeGpu(std::string tag = "fake") : tag_(std::move(tag)) {}

  std::atomic<int> compiles{0}, loads{0}, launches{0}, compiling{0}, max_compiling{0};
  std::chrono::milliseconds compile_time{0};
  std::function<void()> while_compiling, while_loading, while_launching;
  bool refuses = false;
  std::int64_t shared = 48 << 10;

  int unloads() const { return *unloads_; }
  std::vector<runtime::KernelSource> sources() {
    const std::lock_guard lock(mutex_);
    return sources_;
  }
  struct Seen {
    unsigned grid, block, pointers, shared;
    std::vector<std::uint64_t> words;
  };
  Seen last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  Device device() const noexcept override { return Device(0); }
  std::string name() const override { return "fake"; }
  MemoryInfo memory() const override { return {}; }
  void* allocate(std::size_t, runtime::StreamImpl*) override { return nullptr; }
  void deallocate(void*, std::size_t, runtime::StreamImpl*, runtime::Fence) noexcept override {}
  void upload(void*, const void*, std::size_t) override {}
  void download(void*, const void*, std::size_t) override {}
  void copy(void*, const void*, std::size_t, Backend&) override {}
  void multiply(const runtime::MatrixProduct&) override {}
  void synchronize() override {}
  int architecture() const noexcept override { return 90; }
  int multiprocessors() const noexcept override { return 4; }
  std::int64_t shared_per_block() const noexcept override { return shared; }
  std::string binary_tag() const override { return tag_; }
  std::uint64_t fault_word() override { return 0xFA; }

  std::string compile(const runtime::KernelSource& source) override {
    const int now = ++compiling;
    for (int most = max_compiling; now > most && !max_compiling.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(compile_time);
    if (while_compiling) while_compiling();
    --compiling;
    ++compiles;
    if (refuses) throw CompileError("refused", "the log", source.text);
    const std::lock_guard lock(mutex_);
    sources_.push_back(source);
    return "binary of " + source.name + " for " + tag_;
  }
  runtime::KernelHandle load(const std::string& binary, const std::string& name) override {
    ++loads;
    if (while_loading) while_loading();
    if (binary.find(name) == std::string::npos || binary.find(tag_) == std::string::npos)
      throw runtime::BinaryRefused("a wrong binary");
    return runtime::KernelHandle(std::shared_ptr<void>(new char, [gone = unloads_](void* kernel) {
      delete static_cast<char*>(kernel);
      ++*gone;
    }));
  }
  void launch(const runtime::Launch& l) override {
    ++launches;
    if (while_launching) while_launching();
    const std::lock_guard lock(mutex_);
    last_ = {l.grid, l.block, l.pointers, l.shared, {l.words.begin(), l.words.end()}};
  }

 private:
  std::string tag_;
  const std::shared_ptr<std::atomic<int>> unloads_ = std::make_shared<std::atomic<int>>(0);  // kernels may outlive it
  std::mutex mutex_;
  std::vector<runtime::KernelSource> sources_;
  Seen last_{};
};

}  // namespace sinter::testing
