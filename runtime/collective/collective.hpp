// The available communicators, from which mesh.cpp chooses.
#pragma once
#include <memory>
#include <vector>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// For ranks of one process, on any devices: through host memory, or from device to device if they are of one kind.
/// Reduces on the host, in rank order.
std::unique_ptr<Communicator> make_loopback(std::vector<Device> devices);

/// For real GPUs of this process, each used once. Null if NCCL is not installed.
std::unique_ptr<Communicator> make_nccl(const std::vector<Device>& devices);

/// The processes that mpirun started.
struct RankTable {
  int process = 0;           // number of this process
  std::vector<Device> all;   // process by process, with each process's own names
  int first = 0, local = 1;  // ranks of this process
};
/// Starts MPI if mpirun started this process; otherwise the world is this process alone. Collective. Throws
/// DeviceError.
const RankTable& world();

/// Over the ranks of world(): MPI through host memory for CPUs and virtual GPUs, NCCL started by MPI for real GPUs.
std::unique_ptr<Communicator> make_world_communicator(const RankTable& world);

}  // namespace sinter::inline v1::runtime
