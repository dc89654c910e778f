// Collectives among the GPUs of one or several processes, by NCCL.
#pragma once
#include <memory>

#include "collective.hpp"
#include "nccl_library.hpp"

namespace sinter::inline v1::runtime {

/// Over the ranks of several processes. Collective. Throws DeviceError, Error.
std::unique_ptr<Communicator> make_nccl(const RankTable& world, const nccl::Library& library);

}  // namespace sinter::inline v1::runtime
