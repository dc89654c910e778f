// Excerpts of files in messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sinter::inline v1::detail {

/// An excerpt of a file for a message: short and printable.
std::string excerpt(std::string_view text, std::size_t most = 60);

}  // namespace sinter::inline v1::detail
