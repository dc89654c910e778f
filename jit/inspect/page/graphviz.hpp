// Graphviz, if it is installed.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit::page {

/// The output of `dot -Tsvg`, from <svg to </svg>. Empty if Graphviz is missing, fails or takes more than some seconds,
/// and in a process with elevated privileges, which must not run other programs.
std::string graphviz_svg(std::string_view text);

}  // namespace sinter::inline v1::jit::page
