// Parts of files in messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sinter::inline v1::detail {

/// Part of a file as a message shows it: short, and printable.
std::string excerpt(std::string_view text, std::size_t most = 60);

}  // namespace sinter::inline v1::detail
