#include "text.hpp"

#include <fmt/format.h>

namespace sinter::inline v1::runtime {

std::string format_bytes(std::size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::string_view units = "KMGTPE";
  for (value /= 1024; value >= 1024 && units.size() > 1; value /= 1024) units.remove_prefix(1);
  return fmt::format("{:.2f} {}iB", value, units.front());
}

std::string quote(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    else
      out += c;
  }
  return out + (text.size() > most ? "...\"" : "\"");
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view cut = "...";
  if (text.size() <= most) return std::string(text);
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  const std::size_t kept = most - cut.size();
  std::size_t begin = kept - kept / 2, end = text.size() - kept / 2;
  while (begin > 0 && inside_character(begin)) --begin;
  while (end < text.size() && inside_character(end)) ++end;
  return fmt::format("{}{}{}", text.substr(0, begin), cut, text.substr(end));
}

std::string floating(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace sinter::inline v1::runtime
