#include "preparation.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include <runtime/fork.hpp>
#include <runtime/large_stack.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {
namespace {

/// Shared state of a future for several kernels.
struct Preparation {
  explicit Preparation(std::size_t kernels) : left(kernels) {}
  std::mutex mutex;
  std::size_t left;
  std::exception_ptr error;  // the first
  std::promise<void> ready;
  runtime::ForkHandler fork_handler{*this};

  void before_fork() noexcept {}
  /// The threads are the parent's, so a waiter in the child must not wait forever.
  void after_fork(bool in_child) noexcept {
    if (!in_child || left == 0) return;
    left = 0;
    try {
      ready.set_exception(std::make_exception_ptr(Error(
          "this process was forked while its parent was preparing kernels: prepare them again, or just evaluate")));
    } catch (...) {  // it just ended
    }
  }

  void run(const std::function<void()>& work) noexcept {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    ended(std::move(thrown));
  }
  void ended(std::exception_ptr thrown) noexcept {
    const runtime::ForkSafeLock lock(mutex, std::nothrow);
    if (!error) error = std::move(thrown);
    if (--left > 0) return;
    if (error)
      ready.set_exception(std::move(error));
    else
      ready.set_value();
  }
};

/// Collects what compiles the kernels.
struct Collector final : KernelVisitor {
  void kernel(const Executable& kernel, const LoopNest* nest, bool aliased, Device device) override {
    if (nest)
      compilations.push_back([&kernel, nest = *nest, aliased, device] { kernel.prepare(nest, aliased, device); });
  }

  std::vector<std::function<void()>> compilations;
};

}  // namespace

std::future<void> start_preparing(const std::shared_ptr<const CompiledGraph>& compiled, Call call) {
  Collector collector;
  call.visitor = &collector;
  run(compiled->specialized_for(call.scalars, false), call);
  const auto all = std::make_shared<Preparation>(collector.compilations.size() + 1);
  std::future<void> result = all->ready.get_future();
  for (std::function<void()>& kernel : collector.compilations) {
    try {
      runtime::queue_on_large_stack([all, compiled, work = std::move(kernel)] { all->run(work); });
    } catch (...) {
      all->ended(std::current_exception());
    }
  }
  all->ended(nullptr);
  return result;
}

}  // namespace sinter::inline v1::jit
