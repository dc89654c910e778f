// Outputs of kernels that take the place of temporaries.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "plan_shapes.hpp"

namespace sinter::inline v1::jit {

/// By output: the temporary whose memory it may use.
using ReusedTemporaries = boost::container::small_vector<std::optional<std::uint32_t>, 4>;

/// For each output of a kernel, a temporary of its dtype and shape that this kernel is the last to read, element for
/// element, and that no other output takes.
ReusedTemporaries reused_temporaries(const Plan& plan, const PlanShapes& shapes, std::size_t kernel);

}  // namespace sinter::inline v1::jit
