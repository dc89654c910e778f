// Graphviz, where it is installed.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit::page {

/// What `dot -Tsvg` draws, from <svg to </svg>. Empty where there is no Graphviz, where it fails or takes more than
/// some seconds, and in a process that has more rights than whoever started it, which runs no programs of others.
std::string graphviz_svg(std::string_view text);

/// In quotes, as Graphviz reads a string.
std::string quoted(std::string_view text);

}  // namespace sinter::inline v1::jit::page
