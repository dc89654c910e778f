// The processes that mpirun started, and their devices.
#include <fmt/format.h>

#include <algorithm>

#include <sinter/runtime/error.hpp>
#include "../fork.hpp"
#include "../log.hpp"
#include "../registry.hpp"
#include "collective.hpp"
#include "mpi_communicator.hpp"
#include "nccl_communicator.hpp"
#include "processes.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// A device as a number to send to other processes.
std::int64_t code_of(Device device) { return device.is_cpu() ? -1 : device.index(); }
Device device_of(std::int64_t code) { return code < 0 ? Device() : Device(code); }

/// The devices of all processes, in process order. Each process sends as many numbers as the largest device count.
RankTable joined(Processes& processes, std::vector<Device> own) {
  const std::lock_guard lock(processes.mutex());
  const Call setup{.kind = CallKind::Setup};
  processes.agree(setup, [] {});
  const std::int64_t count = static_cast<std::int64_t>(own.size());
  const std::vector<std::int64_t> counts = processes.gather(setup, {&count, 1});
  std::vector<std::int64_t> codes(static_cast<std::size_t>(std::ranges::max(counts)), -1);
  std::ranges::transform(own, codes.begin(), code_of);
  const std::vector<std::int64_t> all = processes.gather(setup, codes);
  RankTable world{.process = processes.process(), .all = {}, .first = 0, .local = static_cast<int>(count)};
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (static_cast<int>(r) == world.process) world.first = static_cast<int>(world.all.size());
    for (std::int64_t i = 0; i < counts[r]; ++i)
      world.all.push_back(device_of(all[r * codes.size() + static_cast<std::size_t>(i)]));
  }
  return world;
}

/// The minimum over all processes. Collective.
std::int64_t least(std::int64_t own) {
  Processes& processes = Processes::get();
  const std::lock_guard lock(processes.mutex());
  const Call setup{.kind = CallKind::Setup};
  processes.agree(setup, [] {});
  return std::ranges::min(processes.gather(setup, {&own, 1}));
}

RankTable find_world() {
  std::vector<Device> own = try_all_gpus();
  if (launched_processes() > 1) {
    Processes& processes = Processes::get();
    processes.check_usable();
    if (processes.size() > 1) return joined(processes, std::move(own));
    throw DeviceError(
        fmt::format("mpirun started {} processes, but {} ({}) knows only this one: mpirun belongs to another MPI "
                    "installation. Use the mpirun of this library, or set SINTER_MPI to the library of that mpirun",
                    launched_processes(), mpi::library().version, mpi::library().path));
  }
  const int local = static_cast<int>(own.size());
  return {.process = 0, .all = std::move(own), .first = 0, .local = local};
}

}  // namespace

const RankTable& world() {
  static constinit NoDestructor<const RankTable> found;
  return found.get([] { return new RankTable(find_world()); });
}

std::unique_ptr<Communicator> make_world_communicator(const RankTable& world) {
  const std::span<const Device> own(world.all.begin() + world.first, static_cast<std::size_t>(world.local));
  const bool real = std::ranges::all_of(own, &Device::is_cuda) && !gpus_are_virtual();
  const nccl::Library* const library = real ? nccl::library() : nullptr;
  if (world.local == static_cast<int>(world.all.size())) {
    std::unique_ptr<Communicator> direct = library ? make_nccl(world.all) : nullptr;
    return direct ? std::move(direct) : make_loopback(world.all);
  }
  switch (least(real ? library ? 2 : 1 : 0)) {
    case 2: return make_nccl(world, *library);
    case 1:
      notice(
          "GPUs of several processes communicate through MPI and host memory, since some processes did not find NCCL: "
          "pip install nvidia-nccl-cu12, or set SINTER_NCCL to its file");
      return make_mpi(world);
    default: return make_mpi(world);
  }
}

}  // namespace sinter::inline v1::runtime
