#include "registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <sinter/runtime/error.hpp>

#include "cpu/cpu_backend.hpp"
#include "cuda/cuda_gpu.hpp"
#include "environment.hpp"
#include "fork.hpp"
#include "trace/span.hpp"
#include "trace/traced_gpu.hpp"
#include "virtual/virtual_gpu.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The CPU's backend, then the GPUs'. Created on first use and never freed: tensors with static storage may outlive
/// everything else.
constinit std::array<std::atomic<Backend*>, 1 + max_gpus> backends{};

constexpr std::size_t slot(Device device) noexcept {
  return device.is_cpu() ? 0 : static_cast<std::size_t>(1 + device.index());
}

/// The value of SINTER_VIRTUAL_GPUS or the driver's number of GPUs, read once.
struct Gpus {
  int count = 0;
  bool are_virtual = false;
  bool are_traced = false;  // all or none, since they copy among themselves
  std::string problem;      // why SINTER_VIRTUAL_GPUS is invalid
};

constexpr std::string_view virtual_gpus_expected =
    "the number of virtual GPUs, 1 to 64 (or leave it unset for real GPUs)";

Gpus find_gpus() {
  Gpus found;
  found.are_traced = traces();
  if (const char* value = trusted_getenv("SINTER_VIRTUAL_GPUS"); value && *value) {
    try {
      found.count = parse_virtual_gpus(value);
      found.are_virtual = true;
    } catch (const DeviceError& e) {
      found.problem = e.what();
      // device_count() and similar functions do not throw.
      report_unreadable("SINTER_VIRTUAL_GPUS", value, virtual_gpus_expected, "there are no GPUs");
    }
  } else {
    found.count = std::min(cuda_gpu_count(), max_gpus);
  }
  return found;
}

const Gpus& gpus() {
  static constinit NoDestructor<const Gpus> found;
  return found.get([] { return new Gpus(find_gpus()); });
}

std::string describe(const Gpus& found) {
  constexpr std::string_view how = "SINTER_VIRTUAL_GPUS=2 in the environment gives two virtual ones";
  if (found.count == 0) return fmt::format("there is no GPU: {}. {}", cuda_unavailable_reason(), how);
  const std::string_view kind = found.are_virtual ? "virtual GPU" : "GPU";
  if (found.count == 1) return fmt::format("there is one {}, cuda:0", kind);
  return fmt::format("there are {} {}s, cuda:0 to cuda:{}", found.count, kind, found.count - 1);
}

std::unique_ptr<Backend> start(Device device) {
  if (device.is_cpu()) return make_cpu_backend();
  require_gpu(device.index());
  auto gpu = gpus().are_virtual ? make_virtual_gpu(device.index()) : make_cuda_gpu(device.index());
  return gpus().are_traced ? make_traced_gpu(std::move(gpu)) : std::move(gpu);
}

Backend& start_once(Device device) {
  static constinit ForkLocal<std::mutex> starting;
  const std::lock_guard lock(starting.get());  // possibly for long: the driver is initialized
  if (Backend* started = started_backend(device)) return *started;
  std::unique_ptr<Backend> fresh = start(device);
  backends[slot(device)].store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

}  // namespace

int parse_virtual_gpus(std::string_view value) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error == std::errc{} && end == value.data() + value.size() && count >= 1 && count <= 64) return count;
  throw DeviceError(cannot_read("SINTER_VIRTUAL_GPUS", value, virtual_gpus_expected));
}

int gpu_count() {
  const Gpus& found = gpus();
  if (!found.problem.empty()) throw DeviceError(found.problem);
  return found.count;
}

bool gpus_are_virtual() { return gpu_count() > 0 && gpus().are_virtual; }

void require_gpu(int index) {
  if (const int count = gpu_count(); index >= 0 && index < count) return;
  throw DeviceError(
      fmt::format("CUDA error: invalid device ordinal: cuda:{} was requested, but {}", index, describe(gpus())));
}

Backend* started_backend(Device device) noexcept {
  if (device.is_mesh()) return nullptr;
  const std::size_t i = slot(device);
  return i < backends.size() ? backends[i].load(std::memory_order_acquire) : nullptr;
}

Backend& backend(Device device) {
  if (device.is_mesh()) [[unlikely]]
    throw DeviceError(
        fmt::format("{} is not a single device, which this operation needs: take a shard with x.shard(i), or gather "
                    "the tensor with "
                    "gather(x, device)",
                    to_string(device)));
  if (Backend* started = started_backend(device)) [[likely]]
    return *started;
  return start_once(device);
}

std::uint64_t KernelTarget::next_serial() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return ++last;
}

GpuBackend& gpu(int index) {
  if (index < 0 || index >= max_gpus) require_gpu(index);
  return static_cast<GpuBackend&>(backend(Device(index)));
}

}  // namespace sinter::inline v1::runtime
