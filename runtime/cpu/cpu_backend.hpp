// The CPU as a device.
#pragma once
#include <memory>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace sinter::inline v1::runtime
