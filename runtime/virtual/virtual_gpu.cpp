#include "virtual_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>
#include <string_view>
#include <utility>
#include <vector>
#include "../fork.hpp"

#include "../cpu/host_memory.hpp"
#include "../cpu/host_product.hpp"
#include "../environment.hpp"
#include "../retired_kernels.hpp"
#include "arena.hpp"
#include "copy_check.hpp"
#include "happens_before.hpp"
#include "kernel.hpp"
#include "kernel_compiler.hpp"
#include "late_work.hpp"
#include "launcher.hpp"
#include "memory_check.hpp"
#include "signals.hpp"
#include "virtual_streams.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime {
namespace vgpu {
namespace {

constexpr double default_limit_s = 10;

double limit_from_environment() {
  const char* value = trusted_getenv("SINTER_VIRTUAL_TIMEOUT");
  if (!value || !*value) return default_limit_s;
  const std::string_view text(value);
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc{} && end == text.data() + text.size() && seconds >= 0 && seconds < 1e9) return seconds;
  throw Error(cannot_read("SINTER_VIRTUAL_TIMEOUT", text,
                          "the seconds of processor time that one block of a kernel may take on a virtual GPU, such as "
                          "10 or 0.5 (0: no limit)"));
}

/// Errors to be thrown at the next wait. Thread-safe.
class LateErrors {
 public:
  void add(std::string message) {
    const ForkSafeLock lock(mutex_);
    if (message_.empty()) message_ = std::move(message);
  }
  void raise() {
    const ForkSafeLock lock(mutex_);
    if (!message_.empty()) throw CudaError(std::exchange(message_, {}));
  }

 private:
  std::mutex mutex_;
  std::string message_;  // the first one
};

class VirtualGpu final : public GpuBackend {
 public:
  explicit VirtualGpu(int index) : device_(index), arena_(index), limit_s_(limit_from_environment()) {
    install_signal_handlers();
    if (is_strict()) HappensBefore::instance();  // created here, without locks held: its creation waits for forks
  }

  ~VirtualGpu() override { retired_->close(); }

  Device device() const noexcept override { return device_; }
  std::string name() const override { return fmt::format("Virtual GPU {}", arena_.device()); }
  MemoryInfo memory() const override { return {arena_bytes - arena_.in_use(), arena_bytes}; }
  int architecture() const noexcept override { return 90; }
  int multiprocessors() const noexcept override { return 4; }
  std::int64_t shared_per_block() const noexcept override { return max_shared; }
  std::string binary_tag() const override { return kernel_tag(); }

  Streams* streams() noexcept override { return &streams_; }
  MemoryStats memory_stats() const override { return arena_.stats(); }
  void reset_peak() noexcept override { arena_.reset_peak(); }
  void* allocate(std::size_t bytes, StreamImpl*) override { return arena_.allocate(bytes); }
  void deallocate(void* data, std::size_t, StreamImpl* stream, Fence fence) noexcept override {
    const StreamImpl& home = stream ? *stream : streams_.standard();
    if (is_strict()) check_release(data, home, fence);
    is_late() ? release_late(data, StreamName(home), fence) : arena_.deallocate(data);
  }
  MemorySource* pinned_memory() override { return &host_; }

  void upload(void* to, const void* host, std::size_t bytes) override {
    check("upload to", to, bytes);
    auto turn = in_order("a copy from the host to");
    if (turn) turn->write(arena_, to, bytes);
    if (!is_late()) return copy_now(memory_of(to), host, bytes);
    const auto* const first = static_cast<const std::byte*>(host);
    issue([this, to, taken = std::vector<std::byte>(first, first + bytes)] {  // `host` may be reused at once
      check("upload to", to, taken.size());
      copy_now(memory_of(to), taken.data(), taken.size());
    });
  }
  void upload_pinned(void* to, const void* host, std::size_t bytes) override {
    if (!is_late()) return upload(to, host, bytes);
    check("upload to", to, bytes);
    issue([=, this] {
      check("upload to", to, bytes);
      copy_now(memory_of(to), host, bytes);
    });
  }
  void download(void* host, const void* from, std::size_t bytes) override {
    check("download from", from, bytes);
    if (auto turn = in_order("a copy to the host from")) turn->read(arena_, from, bytes);
    issue([=, this] {
      if (is_late()) check("download from", from, bytes);  // it may have been released by now
      copy_now(host, memory_of(from), bytes);
    });
    streams_.synchronize(streams_.current());
    raise_fault();
  }
  void copy(void* to, const void* from, std::size_t bytes, Backend& source) override {
    auto* other = dynamic_cast<VirtualGpu*>(&source);
    if (!other)
      throw CudaError(
          fmt::format("CUDA error: invalid argument (CUDA_ERROR_INVALID_VALUE): copy to {} from {}: a "
                      "virtual GPU copies only from virtual GPUs.",
                      name(), source.name()));
    check("copy to", to, bytes);
    other->check("copy from", from, bytes);
    check_apart(to, from, bytes);
    auto turn = in_order("a copy within GPUs to");
    if (turn) turn->copy(arena_, to, other->arena_, from, bytes);
    issue([=, this] {
      if (is_late()) check("copy to", to, bytes), other->check("copy from", from, bytes);
      copy_now(memory_of(to), memory_of(from), bytes);
    });
  }
  /// Like a library's kernel, but on the host.
  void multiply(const MatrixProduct& p) override {
    const auto turn = in_order("a matrix product on");
    const auto check_lines = [&](const Matrix& m, std::int64_t rows, std::int64_t columns, bool writes) {
      const std::int64_t lines = m.transposed ? columns : rows, length = m.transposed ? rows : columns;
      const auto size = static_cast<std::int64_t>(size_of(p.dtype));
      for (std::int64_t i = 0; i < (m.step == 0 ? 1 : p.batch) * lines; ++i) {
        const void* const line = m.data + size * (i / lines * m.step + i % lines * m.leading);
        const auto bytes = static_cast<std::size_t>(size * length);
        check(writes ? "write a matrix to" : "read a matrix from", line, bytes);
        if (turn) writes ? turn->write(arena_, line, bytes) : turn->read(arena_, line, bytes);
      }
    };
    check_lines(p.a, p.rows, p.inner, false);
    check_lines(p.b, p.inner, p.columns, false);
    if (p.addend.data) check_lines(p.addend, p.rows, p.columns, false);
    check_lines(p.c, p.rows, p.columns, true);
    MatrixProduct here = p;
    for (Matrix* m : {&here.a, &here.b, &here.c, &here.addend})
      if (m->data) m->data = static_cast<std::byte*>(memory_of(m->data));
    issue([here] { multiply_on_host(here); });
  }
  void synchronize() override {
    streams_.synchronize();
    retired_->unload_done();
    raise_fault();
  }

  std::string compile(const KernelSource& source) override { return compile_kernel(source); }
  KernelHandle load(const std::string& binary, const std::string& kernel) override {
    retired_->unload_done();
    return retired_->share(load_kernel(binary, kernel));
  }
  std::uint64_t fault_word() override {
    if (!fault_word_.load(std::memory_order_acquire)) [[unlikely]]
      make_fault_word();
    return reinterpret_cast<std::uint64_t>(fault_word_.load(std::memory_order_relaxed));
  }
  void raise_fault() const override {
    late_errors_.raise();
    void* const address = fault_word_.load(std::memory_order_acquire);
    if (!address) return;
    std::atomic_ref word(*static_cast<std::uint32_t*>(memory_of(address)));
    if (const std::uint32_t code = word.exchange(0)) throw_fault(code, to_string(device_));
  }
  std::int64_t max_blocks() const noexcept override { return 4; }  // each costs time, and one runs after another
  void launch(const Launch& launch) override {
    if (!is_late()) return run_launch(launch, streams_.current(), arena_, limit_s_);
    issue([this, launch, words = std::vector<std::uint64_t>(launch.words.begin(), launch.words.end())] {
      Launch again = launch;
      again.words = words;
      run_launch(again, streams_.standard(), arena_, limit_s_);
    });
  }

 private:
  static void copy_now(void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
  }
  /// Does work on the current stream, at once or late; a later wait throws the errors of late work.
  template <class F>
  void issue(F work) {
    if (!is_late()) return work();
    LateWork::instance().issue(StreamName(streams_.current()), [this, work = std::move(work)] {
      try {
        work();
      } catch (const std::exception& e) {
        late_errors_.add(e.what());
      }
    });
  }
  void release_late(void* data, StreamName stream, const Fence& fence) noexcept try {
    if (fence)
      for (const EventRef& e : *fence) LateWork::instance().wait(stream, VirtualStreams::mark(e->native));
    LateWork::instance().issue(stream, [this, data] { arena_.deallocate(data); });
  } catch (...) {  // out of memory: it is not recorded, and leaked
  }
  void make_fault_word() {
    const std::lock_guard lock(making_fault_word_.get());  // in the strict tier, uploads wait for kernels
    if (fault_word_.load(std::memory_order_relaxed)) return;
    void* const word = arena_.allocate(sizeof(std::uint32_t));
    const std::uint32_t none = 0;
    upload(word, &none, sizeof none);
    stream_calls_.synchronize(streams_.current().native);  // not counted as a wait of the user's
    fault_word_.store(word, std::memory_order_release);
  }
  void check(std::string_view what, const void* data, std::size_t bytes) const {
    if (bytes == 0) return;
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const auto allocation = arena_.find(data);
    if (allocation && bytes <= allocation->data + allocation->bytes - address) return;
    throw CudaError(fmt::format(
        "CUDA error: invalid argument (CUDA_ERROR_INVALID_VALUE): {} {}: {} bytes at {} are not inside one of its "
        "allocations. The address belongs to {}.",
        what, name(), bytes, data, Arena::whose(address)));
  }

  void check_apart(const void* to, const void* from, std::size_t bytes) const {
    const auto a = reinterpret_cast<std::uintptr_t>(to), b = reinterpret_cast<std::uintptr_t>(from);
    if (std::max(a, b) - std::min(a, b) >= bytes) return;
    throw CudaError(fmt::format(
        "CUDA error: invalid argument (CUDA_ERROR_INVALID_VALUE): copy of {} bytes within {} to {} from {}: the ranges "
        "overlap, and a GPU copies in no particular order.",
        bytes, name(), to, from));
  }

  /// A copy on the current stream, in the strict tier.
  std::unique_ptr<CopyCheck> in_order(std::string_view copy) {
    if (!is_strict()) return nullptr;
    return std::make_unique<CopyCheck>(streams_.current(), fmt::format("{} {}", copy, to_string(device_)));
  }

  /// Reports at the next wait, since releasing must not throw.
  void check_release(const void* data, const StreamImpl& stream, const Fence& fence) noexcept try {
    const auto allocation = arena_.find(data);
    if (!allocation) return;
    Clock over = HappensBefore::instance().before_next(StreamName(stream));
    if (fence)
      for (const EventRef& e : *fence) over.merge(VirtualStreams::over(e->native));
    if (const std::string user = HappensBefore::instance().describe(allocation->used_by, over); !user.empty())
      late_errors_.add(fmt::format(
          "CUDA error: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED): {} bytes of cuda:{} (virtual) were "
          "freed on {} while {} may still use them: no event or wait makes the stream wait for it. The memory was {}.",
          allocation->bytes, arena_.device(), runtime::describe(stream), user,
          Arena::whose(reinterpret_cast<std::uintptr_t>(data))));
  } catch (...) {  // out of memory
  }

  Device device_;
  Arena arena_;
  mutable LateErrors late_errors_;  // for the strict tier and for late work
  VirtualStreams stream_calls_{device_.index()};
  Streams streams_{device_, stream_calls_};
  const std::shared_ptr<RetiredKernels> retired_ = std::make_shared<RetiredKernels>(streams_);
  HostMemory host_;
  double limit_s_;
  ForkLocal<std::mutex> making_fault_word_;
  std::atomic<void*> fault_word_{nullptr};  // null until a kernel needs it
};

}  // namespace
}  // namespace vgpu

std::unique_ptr<GpuBackend> make_virtual_gpu(int index) { return std::make_unique<vgpu::VirtualGpu>(index); }

}  // namespace sinter::inline v1::runtime
