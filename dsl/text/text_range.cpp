#include "text_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sinter::inline v1::detail {
namespace {

constexpr std::size_t width = 96;  // of a displayed line
constexpr std::size_t longest_compared = 64;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

/// Optimal string alignment: the Damerau-Levenshtein distance without edits inside a transposition.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string with_caret(std::string_view text, TextRange place) {
  if (place.at == no_range.at) return {};
  const std::size_t at = std::min(place.at, text.size());
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t end = std::min(text.find('\n', at), text.size());
  const bool cut_before = at - begin > width / 2;
  if (cut_before) begin = at - width / 2;
  const bool cut_after = end - begin > width;
  if (cut_after) end = begin + width;
  while (begin < at && continues_character(text[begin])) ++begin;
  while (cut_after && end > at && continues_character(text[end])) --end;
  std::string line(text.substr(begin, end - begin));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  const std::size_t marks = columns(text.substr(at, std::clamp<std::size_t>(place.length, 1, end > at ? end - at : 1)));
  return fmt::format("\n  {}{}{}\n  {:{}}{:^>{}}", cut_before ? "..." : "", line, cut_after ? "..." : "", "",
                     at - begin + (cut_before ? 3 : 0), "", std::max<std::size_t>(marks, 1));
}

void throw_at(std::string_view text, TextRange place, const std::string& what) {
  throw ParseError(what + with_caret(text, place), place.at);
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> names) {
  if (name.size() > longest_compared) return {};
  std::string_view best;
  const auto alike = [&](std::string_view candidate) {
    return std::ranges::mismatch(name, candidate).in1 - name.begin();
  };
  std::size_t fewest = std::max<std::size_t>(1, name.size() / 3);
  for (const std::string_view candidate : names) {
    const std::size_t edits = distance(name, candidate);
    if (edits >= candidate.size()) continue;
    if (edits > fewest || (edits == fewest && !best.empty() && alike(candidate) <= alike(best))) continue;
    fewest = edits;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view best = nearest(name, names);
  return best.empty() ? std::string() : fmt::format("; did you mean '{}'?", best);
}

}  // namespace sinter::inline v1::detail
