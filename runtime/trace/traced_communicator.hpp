// A communicator whose calls are traced.
#pragma once
#include <memory>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// Returns the communicator itself if tracing is off.
std::unique_ptr<Communicator> traced(std::unique_ptr<Communicator> communicator);

}  // namespace sinter::inline v1::runtime
