// Chunks of prelude/*.cuh by the names that they define.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::jit::cuda {

/// The identifiers of a piece of C++, in order: none of comments, numbers, members or the global namespace (`::expf`).
std::vector<std::string_view> identifiers(std::string_view text);

/// The chunks of the prelude that define names used in `text`, and those that they use in turn, in the prelude's order.
std::string prelude_for(std::string_view text);

}  // namespace sinter::inline v1::jit::cuda
