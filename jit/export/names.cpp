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
constexpr auto taken = std::to_array<std::string_view>({"alignas",
                                                        "alignof",
                                                        "and",
                                                        "and_eq",
                                                        "asm",
                                                        "auto",
                                                        "bitand",
                                                        "bitor",
                                                        "bool",
                                                        "break",
                                                        "BUFSIZ",
                                                        "case",
                                                        "catch",
                                                        "char",
                                                        "char16_t",
                                                        "char32_t",
                                                        "char8_t",
                                                        "class",
                                                        "co_await",
                                                        "co_return",
                                                        "co_yield",
                                                        "compl",
                                                        "concept",
                                                        "const",
                                                        "const_cast",
                                                        "consteval",
                                                        "constexpr",
                                                        "constinit",
                                                        "continue",
                                                        "decltype",
                                                        "default",
                                                        "delete",
                                                        "do",
                                                        "double",
                                                        "dynamic_cast",
                                                        "else",
                                                        "enum",
                                                        "EOF",
                                                        "errno",
                                                        "explicit",
                                                        "export",
                                                        "extern",
                                                        "false",
                                                        "fault",
                                                        "float",
                                                        "for",
                                                        "friend",
                                                        "goto",
                                                        "HUGE_VAL",
                                                        "i386",
                                                        "if",
                                                        "INFINITY",
                                                        "inline",
                                                        "int",
                                                        "int16_t",
                                                        "int32_t",
                                                        "int64_t",
                                                        "int8_t",
                                                        "linux",
                                                        "long",
                                                        "math_errhandling",
                                                        "memset",
                                                        "MB_CUR_MAX",
                                                        "mutable",
                                                        "namespace",
                                                        "NAN",
                                                        "new",
                                                        "noexcept",
                                                        "not",
                                                        "not_eq",
                                                        "NULL",
                                                        "nullptr",
                                                        "operator",
                                                        "or",
                                                        "or_eq",
                                                        "private",
                                                        "protected",
                                                        "public",
                                                        "RAND_MAX",
                                                        "register",
                                                        "reinterpret_cast",
                                                        "requires",
                                                        "restrict",
                                                        "return",
                                                        "short",
                                                        "signed",
                                                        "SIZE_MAX",
                                                        "size_t",
                                                        "sizeof",
                                                        "static",
                                                        "static_assert",
                                                        "static_cast",
                                                        "stderr",
                                                        "stdin",
                                                        "stdout",
                                                        "stream",
                                                        "struct",
                                                        "switch",
                                                        "template",
                                                        "this",
                                                        "thread_local",
                                                        "throw",
                                                        "true",
                                                        "try",
                                                        "typedef",
                                                        "typeid",
                                                        "typename",
                                                        "typeof",
                                                        "uint16_t",
                                                        "uint32_t",
                                                        "uint8_t",
                                                        "union",
                                                        "unix",
                                                        "unsigned",
                                                        "using",
                                                        "virtual",
                                                        "void",
                                                        "volatile",
                                                        "wchar_t",
                                                        "while",
                                                        "workspace",
                                                        "workspace_bytes",
                                                        "xor",
                                                        "xor_eq"});

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
  // Macros of the C library's headers that the source includes, by what they begin with.
  constexpr std::string_view macros[] = {"INT8_",   "INT16_", "INT32_", "INT64_",  "INT_",  "INTMAX_",
                                         "INTPTR_", "UINT",   "FP_",    "M_",      "RTLD_", "PTHREAD_",
                                         "SEEK_",   "EXIT_",  "HUGE_",  "PTRDIFF_"};
  const auto begins = [&](std::string_view macro) { return name.starts_with(macro); };
  if (std::ranges::find(taken, name) != taken.end() || name.starts_with("sinter_") ||
      std::ranges::any_of(macros, begins))
    throw Error(fmt::format("{} {} is taken by C, C++ or the exported functions: choose another name", what,
                            runtime::quote(name)));
}

}  // namespace sinter::inline v1::jit::exporting
