// Collectives among the ranks of several processes, by MPI through host memory.
#pragma once
#include <memory>

#include "collective.hpp"

namespace sinter::inline v1::runtime {

/// Collective. Throws DeviceError, Error.
std::unique_ptr<Communicator> make_mpi(const RankTable& world);

/// For tests: maximum number of elements per MPI operation, initially 2^26. Must be the same in every process.
void set_mpi_part(std::int64_t elements) noexcept;

}  // namespace sinter::inline v1::runtime
