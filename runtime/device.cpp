#include <sinter/runtime/device.hpp>

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <limits>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/mesh.hpp>

#include "registry.hpp"
#include "text.hpp"

namespace sinter::inline v1 {
namespace {

constexpr int max_index = std::numeric_limits<std::int16_t>::max();

constinit thread_local int current = 0;

/// N of "cuda:N", or -1. N is decimal, without sign, blanks or leading zeros.
int parse_index(std::string_view digits) noexcept {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  const bool plain = digits.size() == 1 || !digits.starts_with('0');
  return whole && plain && index <= max_index ? index : -1;
}

}  // namespace

int current_device() noexcept { return current; }

std::int16_t Device::checked(std::int64_t gpu) {
  if (gpu >= 0 && gpu <= max_index) return static_cast<std::int16_t>(gpu);
  throw DeviceError(fmt::format("{} is not a valid GPU index: expected 0 to {}", gpu, max_index));
}

Device::Device(std::string_view name) {
  constexpr std::string_view prefix = "cuda:";
  if (name == "cpu" || name == "cpu:0") return;
  kind_ = DeviceKind::Cuda;
  if (name == "cuda") return;
  const int index = name.starts_with(prefix) ? parse_index(name.substr(prefix.size())) : -1;
  if (index < 0)
    throw DeviceError(
        fmt::format("{} is not a device: expected \"cpu\", \"cuda\" (the first GPU) or \"cuda:N\" with N "
                    "from 0 to {}",
                    runtime::quote(name), max_index));
  index_ = static_cast<std::int16_t>(index);
}

std::string to_string(const Device& device) {
  if (device.is_mesh()) return to_string(Mesh::of(device));
  return device.is_cpu() ? "cpu" : fmt::format("cuda:{}", device.index());
}

bool cuda_is_available() noexcept { return device_count() > 0; }

int device_count() noexcept {
  try {
    return runtime::gpu_count();
  } catch (...) {
    return 0;
  }
}

void set_device(int index) {
  runtime::require_gpu(index);
  current = index;
}

std::string device_name(int index) { return runtime::gpu(index).name(); }

void synchronize(Device device) { runtime::backend(device).synchronize(); }

void synchronize() {
  std::exception_ptr first;
  std::string all;
  int failed = 0;
  for (int index = 0, count = device_count(); index < count; ++index) try {
      if (runtime::Backend* started = runtime::started_backend(Device(index))) started->synchronize();
    } catch (const std::exception& e) {  // still wait for the others
      if (!first) first = std::current_exception();
      all += (failed++ ? "\n" : "") + std::string(e.what());
    }
  if (failed == 1) std::rethrow_exception(first);
  if (failed) throw Error(all);
}

Device try_gpu(int index) noexcept {
  if (index < 0 || index >= device_count()) return Device();
  return Device(index);
}

std::vector<Device> try_all_gpus() {
  std::vector<Device> all;
  for (int index = 0, count = device_count(); index < count; ++index) all.emplace_back(index);
  if (all.empty()) all.emplace_back();
  return all;
}

MemoryInfo memory_info(Device device) { return runtime::backend(device).memory(); }

Capability compute_capability(int index) {
  const int architecture = runtime::gpu(index).architecture();
  return {architecture / 10, architecture % 10};
}

}  // namespace sinter::inline v1
