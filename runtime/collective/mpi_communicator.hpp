// Positions of several processes, by MPI, through the memory of the host.
#pragma once
#include <memory>

#include "collective.hpp"

namespace sinter::inline v1::runtime {

/// Collective. Throws DeviceError, Error.
std::unique_ptr<Communicator> make_mpi(const World& world);

/// For tests: elements that one operation of MPI takes at most, 2^26 at first. The same in every process.
void set_mpi_part(std::int64_t elements) noexcept;

}  // namespace sinter::inline v1::runtime
