#include "context.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>
#include "../fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// Whether the error destroys the context; its cause may be a kernel before the failing call.
bool is_late(driver::CUresult result) {
  using namespace driver;
  switch (result) {
    case error_ecc_uncorrectable:
    case error_nvlink_uncorrectable:
    case error_contained:
    case error_illegal_address:
    case error_launch_timeout:
    case error_assert:
    case error_hardware_stack_error:
    case error_illegal_instruction:
    case error_misaligned_address:
    case error_invalid_address_space:
    case error_invalid_pc:
    case error_launch_failed:
    case error_tensor_memory_leak: return true;
    default: return false;
  }
}

}  // namespace

CudaContext::CudaContext(int index)
    : driver_(driver::opened().functions), process_(driver::opened().process), index_(index) {
  check_process();
  check("cuDeviceGet", driver_.cuDeviceGet(&device_, index));
  char text[256] = "";
  check("cuDeviceGetName", driver_.cuDeviceGetName(text, sizeof text, device_));
  name_ = text;
  check("cuDevicePrimaryCtxRetain", driver_.cuDevicePrimaryCtxRetain(&handle_, device_));
}

CudaContext::~CudaContext() { driver_.cuDevicePrimaryCtxRelease(device_); }

int CudaContext::attribute(int which) const {
  int value = 0;
  return driver_.cuDeviceGetAttribute(&value, which, device_) == driver::success ? value : 0;
}

void CudaContext::forget(const std::string& kernel) const noexcept try {
  const ForkSafeLock lock(naming_, std::nothrow);
  const std::string* last = &kernel;
  if (last_.load(std::memory_order_acquire) != last) return;
  std::string name = kernel;
  last_.compare_exchange_strong(last, nullptr);
  unloaded_ = std::move(name);
} catch (...) {  // out of memory: the name is lost
  last_ = nullptr;
}

std::string CudaContext::last_launched() const {
  const ForkSafeLock lock(naming_);
  if (const std::string* last = last_.load(std::memory_order_acquire)) return *last;
  return unloaded_.empty() ? "none" : unloaded_;
}

std::string CudaContext::failure(const char* call, driver::CUresult result, std::string_view detail) const {
  std::string message =
      fmt::format("CUDA error: {} on cuda:{}{} failed with {}", call, index_,
                  name_.empty() ? "" : fmt::format(" ({})", name_), driver::describe(driver_, result));
  auto out = std::back_inserter(message);
  if (!detail.empty()) fmt::format_to(out, "; {}", detail);
  if (is_late(result)) {
    fmt::format_to(
        out,
        ". CUDA reports this asynchronously: an earlier kernel may be the cause (the last one launched here was {}; "
        "run with CUDA_LAUNCH_BLOCKING=1 to find it). The device's context is lost: this process cannot use the device "
        "any more",
        last_launched());
  }
  if (result >= driver::first_capture_error && result <= driver::last_capture_error)
    message +=
        ". A stream captures a CUDA graph, during which this call is not allowed: make it before the capture begins, "
        "or "
        "begin the capture with CU_STREAM_CAPTURE_MODE_THREAD_LOCAL if another thread captures";
  if (result == driver::error_not_initialized && is_of_parent())
    fmt::format_to(out,
                   ". This process was forked after CUDA had been initialized: use CUDA only in the child, or exec");
  return message;
}

void CudaContext::fail(const char* call, driver::CUresult result, std::string_view detail) const {
  if (result == driver::error_out_of_memory) throw OutOfMemory(failure(call, result, detail));
  throw CudaError(failure(call, result, detail));
}

ContextGuard::ContextGuard(const CudaContext& context) : driver_(context.driver()) {
  context.check_process();
  driver::CUcontext now = nullptr;
  context.check("cuCtxGetCurrent", driver_.cuCtxGetCurrent(&now));
  if (now == context.handle()) [[likely]]
    return;
  if (now) {
    context.check("cuCtxPushCurrent", driver_.cuCtxPushCurrent(context.handle()));
    pushed_ = true;
  } else {
    context.check("cuCtxSetCurrent", driver_.cuCtxSetCurrent(context.handle()));
  }
}

ContextGuard::~ContextGuard() {
  driver::CUcontext popped = nullptr;
  if (pushed_) driver_.cuCtxPopCurrent(&popped);
}

}  // namespace sinter::inline v1::runtime
