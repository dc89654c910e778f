// One GPU's context, and its error messages.
#pragma once
#include <atomic>
#include <concepts>
#include <mutex>
#include <string>
#include <string_view>

#include "../fork.hpp"
#include "driver.hpp"

namespace sinter::inline v1::runtime {

/// The primary context of a GPU, shared with users of the CUDA runtime in this process.
class CudaContext {
 public:
  /// Throws CudaError.
  explicit CudaContext(int index);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext();

  const driver::Driver& driver() const noexcept { return driver_; }
  int index() const noexcept { return index_; }
  const std::string& name() const noexcept { return name_; }
  driver::CUdevice device() const noexcept { return device_; }
  driver::CUcontext handle() const noexcept { return handle_; }
  /// 0 for an attribute that the driver does not know.
  int attribute(int which) const;

  /// Throws CudaError, or OutOfMemory, with `detail`, unless the call succeeded.
  void check(const char* call, driver::CUresult result, std::string_view detail = {}) const {
    if (result != driver::success) [[unlikely]]
      fail(call, result, detail);
  }
  /// `detail` returns it.
  template <std::invocable Detail>
  void check(const char* call, driver::CUresult result, Detail detail) const {
    if (result != driver::success) [[unlikely]]
      fail(call, result, detail());
  }
  /// The message that fail() throws.
  std::string failure(const char* call, driver::CUresult result, std::string_view detail) const;
  /// Whether this is the child of a fork of the process that initialized the driver. The driver must not even be called
  /// then: it might wait for a thread that does not exist here.
  bool is_of_parent() const noexcept { return process_ != generation(); }
  void check_process() const {
    if (is_of_parent()) [[unlikely]]
      fail("the first call after a fork", driver::error_not_initialized, {});
  }
  [[noreturn]] void fail(const char* call, driver::CUresult result, std::string_view detail) const;
  /// Kernel errors appear in later calls; their messages name the last kernel launched.
  void launched(const std::string& kernel) const noexcept { last_.store(&kernel, std::memory_order_release); }
  /// Must be called before the name of a kernel that is no longer launched is freed: errors can still name it.
  void forget(const std::string& kernel) const noexcept;

 private:
  std::string last_launched() const;

  const driver::Driver& driver_;
  unsigned process_;  // the generation() that initialized the driver
  int index_;
  driver::CUdevice device_ = 0;
  std::string name_;
  driver::CUcontext handle_ = nullptr;
  mutable std::atomic<const std::string*> last_{nullptr};
  mutable std::mutex naming_;     // held while the last kernel's name is read or freed
  mutable std::string unloaded_;  // the last kernel's name, if it was unloaded
};

/// Makes a context the thread's current one for a scope. If another context was current, it is restored; otherwise this
/// one stays current.
class ContextGuard {
 public:
  explicit ContextGuard(const CudaContext& context);
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ~ContextGuard();

 private:
  const driver::Driver& driver_;
  bool pushed_ = false;
};

}  // namespace sinter::inline v1::runtime
