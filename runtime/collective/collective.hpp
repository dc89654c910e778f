// The communicators that there are, for mesh.cpp to choose from.
#pragma once
#include <memory>
#include <vector>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// Positions of one process, of any devices: through the memory of the host, or from device to device where they are of
/// one kind. Combines on the host, in the order of positions.
std::unique_ptr<Communicator> make_loopback(std::vector<Device> devices);

/// Real GPUs of this process, each once. Null where NCCL is not installed.
std::unique_ptr<Communicator> make_nccl(const std::vector<Device>& devices);

/// Of the processes that mpirun started.
struct World {
  int rank = 0;              // of this process
  std::vector<Device> all;   // process after process, as each names them
  int first = 0, local = 1;  // the positions of this process
};
/// Starts MPI where mpirun started this process; else this process's devices alone. Collective. Throws DeviceError.
const World& world();

/// Over the positions of world(): MPI for CPUs and virtual GPUs, through the host; NCCL for real GPUs, started by MPI.
std::unique_ptr<Communicator> make_world_communicator(const World& world);

}  // namespace sinter::inline v1::runtime
