#include "prelude.hpp"

#include <runtime/fork.hpp>

#include <algorithm>
#include <cctype>

#include "../functions/words.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view prelude;
}

namespace sinter::inline v1::jit::cuda {
namespace {

/// The name that a line at namespace level defines: what stands before its first `(`, `{`, `;`, `<` or `=`.
std::string_view defined_name(std::string_view line) {
  std::size_t from;
  if (line.starts_with("#define "))
    from = 8;
  else if (line.starts_with("SINTER_DEVICE "))
    from = 14;
  else if (line.starts_with("struct alignas("))
    from = line.rfind(')');
  else if (line.starts_with("struct ") || line.starts_with("using "))
    from = 6;
  else
    return {};
  std::size_t end = from + 1;
  if (line.starts_with("#define "))
    end = line.find(' ', from);
  else
    end = line.find_first_of("({;<=", end);
  while (end > from && !is_word_character(line[end - 1])) --end;
  std::size_t begin = end;
  while (begin > from && is_word_character(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

template <class F>
void for_each_part(std::string_view text, std::string_view separator, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
}

}  // namespace

std::vector<std::string_view> identifiers(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (!is_word_character(text[i])) {
      ++i;
    } else {
      const std::size_t begin = i;
      const bool starts_number = std::isdigit(static_cast<unsigned char>(text[begin]));
      while (i < text.size() && (is_word_character(text[i]) || (text[i] == '.' && starts_number))) ++i;
      const bool global =
          begin > 1 && text.substr(begin - 2, 2) == "::" && (begin == 2 || !is_word_character(text[begin - 3]));
      const bool member = global || (begin > 0 && text[begin - 1] == '.');
      if (!starts_number && !member) found.push_back(text.substr(begin, i - begin));
    }
  }
  return found;
}

Prelude::Prelude(std::span<const Macro> known) : text_(resolve_conditions(embedded::prelude, known)) {
  for_each_part(text_, "\n\n", [&](std::string_view chunk) {
    while (chunk.ends_with('\n')) chunk.remove_suffix(1);
    const int number = static_cast<int>(chunks_.size());
    bool defines = false;
    for_each_part(chunk, "\n", [&](std::string_view line) {
      if (const std::string_view name = defined_name(line); !name.empty()) {
        defined_in_.emplace(name, number);
        defines = true;
      }
    });
    if (defines) chunks_.push_back({chunk, {}});
  });
  for (Chunk& chunk : chunks_)
    for (const std::string_view word : identifiers(chunk.text))
      if (const auto found = defined_in_.find(word); found != defined_in_.end()) chunk.uses.push_back(found->second);
}

std::string Prelude::used_by(std::string_view text) const {
  std::vector<bool> needed(chunks_.size());
  std::vector<int> open;
  const auto need = [&](int chunk) {
    if (!needed[static_cast<std::size_t>(chunk)]) open.push_back(chunk);
    needed[static_cast<std::size_t>(chunk)] = true;
  };
  for (const std::string_view word : identifiers(text))
    if (const auto found = defined_in_.find(word); found != defined_in_.end()) need(found->second);
  while (!open.empty()) {
    const int chunk = open.back();
    open.pop_back();
    for (const int used : chunks_[static_cast<std::size_t>(chunk)].uses) need(used);
  }
  std::string out;
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) out.append(chunks_[i].text).append("\n\n");
  return out;
}

std::string prelude_for(std::string_view text) {
  static constinit runtime::NoDestructor<const Prelude> known;
  static constexpr Macro macros[]{{"__HIP__", false}};
  return known.get([] { return new Prelude(macros); }).used_by(text);
}

}  // namespace sinter::inline v1::jit::cuda
