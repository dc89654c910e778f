#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "model.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

/// Words of C and C++, and what generated functions call their own parameters.
constexpr auto taken = std::to_array<std::string_view>(
    {"alignas",   "alignof",  "and",       "and_eq",  "asm",       "auto",     "bitand",       "bitor",
     "bool",      "break",    "case",      "catch",   "char",      "class",    "compl",        "concept",
     "const",     "continue", "default",   "delete",  "do",        "double",   "dynamic_cast", "else",
     "enum",      "explicit", "export",    "extern",  "false",     "float",    "for",          "friend",
     "goto",      "if",       "inline",    "int",     "int16_t",   "int32_t",  "int64_t",      "int8_t",
     "long",      "mutable",  "namespace", "new",     "noexcept",  "not",      "not_eq",       "nullptr",
     "operator",  "or",       "or_eq",     "private", "protected", "public",   "register",     "requires",
     "restrict",  "return",   "short",     "signed",  "sizeof",    "size_t",   "static",       "struct",
     "switch",    "template", "this",      "throw",   "true",      "try",      "typedef",      "typeid",
     "typename",  "uint16_t", "uint32_t",  "uint8_t", "union",     "unsigned", "using",        "virtual",
     "void",      "volatile", "wchar_t",   "while",   "xor",       "xor_eq",   "linux",        "stream",
     "workspace", "fault",    "unix",      "NULL",    "INFINITY",  "NAN",      "errno",        "workspace_bytes"});

}  // namespace

void check_name(const std::string& name, const std::string& what) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const bool is_word =
      !name.empty() && name.size() <= 63 && std::isalpha(static_cast<unsigned char>(name[0])) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)); });
  if (!is_word || name.find("__") != std::string::npos)
    throw Error(
        fmt::format("{} {} is no name in C: it takes a letter, then letters, digits and single underscores, 63 "
                    "at most",
                    what, runtime::quote(name)));
  if (std::ranges::find(taken, name) != taken.end() || name.starts_with("sinter_"))
    throw Error(fmt::format("{} {} is taken by C, C++ or the exported functions: choose another name", what,
                            runtime::quote(name)));
}

}  // namespace sinter::inline v1::jit::exporting
