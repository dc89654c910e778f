// Functions that exported C takes where it uses them.
#include <runtime/fork.hpp>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "../cuda/prelude.hpp"
#include "../functions/words.hpp"
#include "c_expression.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view export_helpers;
}

namespace sinter::inline v1::jit::exporting {
namespace {

struct Helper {
  std::string name, text;
};

/// Replaces the placeholders T, S, U and F: words, or S and F at the end of a word.
std::string written_for(std::string_view text, std::string_view type) {
  struct Names {
    std::string_view type, short_name, unsigned_type, suffix;
  };
  static const std::unordered_map<std::string_view, Names> known = {
      {"b8", {"bool", "b8", "", ""}},
      {"i32", {"int32_t", "i32", "uint32_t", ""}},
      {"i64", {"int64_t", "i64", "uint64_t", ""}},
      {"f32", {"float", "f32", "uint32_t", "f"}},
      {"f64", {"double", "f64", "uint64_t", ""}},
      {"any", {"", "", "", ""}},
  };
  const Names& names = known.at(type);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = i + word_length(text.substr(i));
    if (end == i) {
      out += text[i++];
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    const bool is_library = word.size() > 1 && std::islower(static_cast<unsigned char>(word[0])) &&
                            word.ends_with('F') && word.find('_') == std::string_view::npos;
    if (word == "T")
      out += names.type;
    else if (word == "U")
      out += names.unsigned_type;
    else if (const std::size_t place = word.find("_S"); place != std::string_view::npos && type != "any")
      out.append(word.substr(0, place + 1)).append(names.short_name).append(word.substr(place + 2));
    else if (is_library)
      out.append(word.substr(0, word.size() - 1)).append(names.suffix);
    else
      out += word;
    i = end;
  }
  return out;
}

/// The name that a chunk defines: in its definition's first line, the last one that begins with sinter_ before a
/// parenthesis.
std::string defined_name(std::string_view text) {
  std::size_t line = 0;
  while (!text.substr(line).starts_with("static") && !text.substr(line).starts_with("#define"))
    line = text.find('\n', line) + 1;
  const std::string_view first = text.substr(line, text.find('\n', line) - line);
  const std::string_view name = first.substr(first.rfind("sinter_", first.find('(')));
  return std::string(name.substr(0, word_length(name)));
}

std::vector<Helper> split(std::string_view text) {
  std::vector<Helper> found;
  for (std::size_t at = text.find("\n@ "); at != std::string_view::npos;) {
    const std::size_t next = text.find("\n@ ", at + 1), line = text.find('\n', at + 1);
    std::string_view types = text.substr(at + 3, line - at - 3);
    std::string_view chunk = text.substr(line + 1, next == std::string_view::npos ? next : next - line - 1);
    while (chunk.ends_with('\n')) chunk.remove_suffix(1);
    while (!types.empty()) {
      const std::size_t end = std::min(types.find(' '), types.size());
      std::string written = written_for(chunk, types.substr(0, end));
      found.push_back({defined_name(written), written});
      types.remove_prefix(std::min(end + 1, types.size()));
    }
    at = next;
  }
  return found;
}

const std::vector<Helper>& all_helpers() {
  static constinit runtime::NoDestructor<const std::vector<Helper>> known;
  return known.get([] { return new std::vector(split(embedded::export_helpers)); });
}

}  // namespace

bool is_helper(std::string_view name) {
  return std::ranges::find(all_helpers(), name, &Helper::name) != all_helpers().end();
}

std::string helpers_for(std::string_view text) {
  const std::vector<Helper>& helpers = all_helpers();
  std::vector<bool> needed(helpers.size());
  std::vector<std::string_view> open{text};
  while (!open.empty()) {
    const std::string_view look = open.back();
    open.pop_back();
    for (const std::string_view word : cuda::identifiers(look))
      for (std::size_t i = 0; i < helpers.size(); ++i)
        if (!needed[i] && helpers[i].name == word) needed[i] = true, open.push_back(helpers[i].text);
  }
  std::string out;
  for (std::size_t i = 0; i < helpers.size(); ++i)
    if (needed[i]) out.append(helpers[i].text).append("\n\n");
  return out;
}

}  // namespace sinter::inline v1::jit::exporting
