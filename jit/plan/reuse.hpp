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

/// For each output of an elementwise kernel, a temporary of its dtype and shape that this kernel is the last to read,
/// and that no other output takes. None for kernels that reduce: in place, a GPU could not divide a long row among
/// blocks, of which some might read what others have written.
ReusedTemporaries reused_temporaries(const Plan& plan, const PlanShapes& shapes, std::size_t kernel);

}  // namespace sinter::inline v1::jit
