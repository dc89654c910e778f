#include "excerpt.hpp"

#include <fmt/format.h>

namespace sinter::inline v1::detail {

std::string excerpt(std::string_view text, std::size_t most) {
  std::string out;
  for (char c : text.substr(0, most)) {
    const bool plain = c >= ' ' && c <= '~';
    out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > most ? out + "..." : out;
}

}  // namespace sinter::inline v1::detail
