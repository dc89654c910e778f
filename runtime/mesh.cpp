#include <sinter/runtime/mesh.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/error.hpp>
#include "collective/collective.hpp"
#include "fork.hpp"
#include "registry.hpp"
#include "trace/traced_communicator.hpp"

namespace sinter::inline v1 {

struct Mesh::State {
  int number = 0;
  bool is_world = false;
  runtime::RankTable ranks;
  mutable runtime::NoDestructor<runtime::Communicator> communicator;
};

struct MeshAccess {
  using State = Mesh::State;
  static Device device(int number) noexcept {
    Device d;
    d.kind_ = DeviceKind::Mesh;
    d.index_ = static_cast<std::int16_t>(number);
    return d;
  }

  /// All meshes ever made: few, and identified by number for the life of the process. Mesh::of takes no lock.
  static constexpr std::size_t max_meshes = INT16_MAX + 1;
  static constinit std::array<std::atomic<const State*>, max_meshes> table;

  static const State* find_or_make(runtime::RankTable ranks, bool is_world) {
    static constinit std::mutex adding;
    const runtime::ForkSafeLock lock(adding);
    std::size_t number = 0;
    for (; number < max_meshes; ++number) {
      const State* const s = table[number].load(std::memory_order_relaxed);
      if (!s) break;
      if (s->is_world == is_world && s->ranks.all == ranks.all) return s;
    }
    if (number == max_meshes) throw Error(fmt::format("a process has at most {} different meshes", max_meshes));
    auto* const made = new State;
    made->number = static_cast<int>(number);
    made->is_world = is_world;
    made->ranks = std::move(ranks);
    table[number].store(made, std::memory_order_release);
    return made;
  }
};
constinit std::array<std::atomic<const Mesh::State*>, MeshAccess::max_meshes> MeshAccess::table{};

namespace {

runtime::RankTable of_this_process(std::vector<Device> devices) {
  if (devices.empty()) throw DeviceError("a mesh needs at least one device: Mesh({sn::Device(0), sn::Device(1)})");
  for (const Device d : devices) {
    if (d.is_mesh()) throw DeviceError(fmt::format("{} is a mesh: a mesh consists of CPUs and GPUs", to_string(d)));
    if (d.is_cuda()) runtime::require_gpu(d.index());
  }
  const int count = static_cast<int>(devices.size());
  return {.process = 0, .all = std::move(devices), .first = 0, .local = count};
}

/// NCCL requires real GPUs, each used once.
bool may_use_nccl(const std::vector<Device>& devices) {
  if (devices.size() < 2 || runtime::gpus_are_virtual()) return false;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!devices[i].is_cuda() || std::ranges::count(devices, devices[i]) != 1) return false;
  return true;
}

std::unique_ptr<runtime::Communicator> make_communicator(const runtime::RankTable& ranks, bool is_world) {
  if (is_world) return runtime::traced(runtime::make_world_communicator(ranks));
  if (may_use_nccl(ranks.all))
    if (auto nccl = runtime::make_nccl(ranks.all)) return runtime::traced(std::move(nccl));
  return runtime::traced(runtime::make_loopback(ranks.all));
}

}  // namespace

Mesh::Mesh() : Mesh(try_all_gpus()) {}
Mesh::Mesh(std::vector<Device> devices)
    : state_(MeshAccess::find_or_make(of_this_process(std::move(devices)), false)) {}

Mesh Mesh::world() {
  const runtime::RankTable& world = runtime::world();
  return Mesh(Known(), MeshAccess::find_or_make(world, world.local != std::ssize(world.all)));
}

Mesh Mesh::of(Device device) {
  if (!device.is_mesh()) throw DeviceError(fmt::format("{} is not a mesh but a single device", to_string(device)));
  return Mesh(Known(), MeshAccess::table[static_cast<std::size_t>(device.index())].load(std::memory_order_acquire));
}

int Mesh::size() const noexcept { return static_cast<int>(state_->ranks.all.size()); }
int Mesh::first_local_rank() const noexcept { return state_->ranks.first; }
int Mesh::local_size() const noexcept { return state_->ranks.local; }

Device Mesh::device(int rank) const {
  if (rank < 0 || rank >= size())
    throw IndexError(
        fmt::format("rank {} of {} does not exist: its ranks are 0 to {}", rank, to_string(*this), size() - 1));
  return state_->ranks.all[static_cast<std::size_t>(rank)];
}

std::int64_t Mesh::first_row(std::int64_t rows, int rank) const noexcept {
  const std::int64_t each = rows / size() + (rows % size() != 0);
  return each == 0 || rank > rows / each ? rows : each * rank;
}
std::int64_t Mesh::rows(std::int64_t rows, int rank) const noexcept {
  return first_row(rows, rank + 1) - first_row(rows, rank);
}

runtime::Communicator& Mesh::communicator() const {
  return state_->communicator.get([&] { return make_communicator(state_->ranks, state_->is_world).release(); });
}

Mesh::operator Device() const noexcept { return MeshAccess::device(state_->number); }

std::string to_string(const Mesh& mesh) {
  constexpr int named = 8;
  std::vector<std::string> names;
  for (int i = 0; i < std::min(mesh.size(), named); ++i) names.push_back(to_string(mesh.device(i)));
  if (mesh.size() > named) names.push_back(fmt::format("... {} in total", mesh.size()));
  return fmt::format("mesh({})", fmt::join(names, ", "));
}

}  // namespace sinter::inline v1
