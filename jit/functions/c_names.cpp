#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "c_names.hpp"

namespace sinter::inline v1::jit {
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
                                                        "CLOCKS_PER_SEC",
                                                        "co_await",
                                                        "co_return",
                                                        "co_yield",
                                                        "compl",
                                                        "complex",
                                                        "concept",
                                                        "const",
                                                        "const_cast",
                                                        "consteval",
                                                        "constexpr",
                                                        "constinit",
                                                        "continue",
                                                        "DECIMAL_DIG",
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
                                                        "FILENAME_MAX",
                                                        "float",
                                                        "FOPEN_MAX",
                                                        "for",
                                                        "friend",
                                                        "goto",
                                                        "HUGE_VAL",
                                                        "I",
                                                        "i386",
                                                        "if",
                                                        "imaginary",
                                                        "INFINITY",
                                                        "inline",
                                                        "int",
                                                        "int16_t",
                                                        "int32_t",
                                                        "int64_t",
                                                        "int8_t",
                                                        "L_tmpnam",
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
                                                        "noreturn",
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
                                                        "TMP_MAX",
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
                                                        "WEOF",
                                                        "while",
                                                        "workspace",
                                                        "workspace_bytes",
                                                        "xor",
                                                        "xor_eq"});

/// Whether the name begins as macros of the C library's headers do, which programs include before the exported one.
bool is_like_a_macro(std::string_view name) {
  constexpr std::string_view beginnings[] = {
      "ATOMIC_", "CHAR_",  "DBL_",     "EXIT_",    "FE_",     "FLT_",   "FP_",   "HUGE_",  "INT8_", "INT16_",
      "INT32_",  "INT64_", "INT_",     "INTMAX_",  "INTPTR_", "LC_",    "LDBL_", "LLONG_", "LONG_", "M_",
      "MATH_",   "MB_",    "PTHREAD_", "PTRDIFF_", "RTLD_",   "SCHAR_", "SEEK_", "SHRT_",  "SIG_",  "TIME_",
      "UCHAR_",  "UINT",   "ULLONG_",  "ULONG_",   "USHRT_",  "WCHAR_", "WINT_"};
  const auto begins = [&](std::string_view macro) { return name.starts_with(macro); };
  if (std::ranges::any_of(beginnings, begins)) return true;
  const auto goes_on = [&](std::string_view word, auto as) {  // EDOM, SIGINT, PRId64
    return begins(word) && name.size() > word.size() && as(name[word.size()]);
  };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_format = [](char c) { return (c >= 'a' && c <= 'z') || c == 'X'; };
  return goes_on("E", [&](char c) { return is_upper(c) || (c >= '0' && c <= '9'); }) || goes_on("SIG", is_upper) ||
         goes_on("PRI", is_format) || goes_on("SCN", is_format);
}

}  // namespace

void check_name(const std::string& name, const std::string& what) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const bool is_word =
      !name.empty() && name.size() <= 63 && std::isalpha(static_cast<unsigned char>(name[0])) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)); });
  if (!is_word || name.find("__") != std::string::npos)
    throw Error(fmt::format(
        "{} {} is not a valid name: use a letter followed by letters, digits and single underscores, at most "
        "63 characters",
        what, runtime::quote(name)));
  if (is_like_a_macro(name))
    throw Error(fmt::format(
        "{} {} could collide with a macro of the C library, such as SIGINT, EDOM and M_PI: choose another name", what,
        runtime::quote(name)));
  if (std::ranges::find(taken, name) != taken.end() || name.starts_with("sinter_"))
    throw Error(fmt::format("{} {} is reserved by C, C++ or exported libraries: choose another name", what,
                            runtime::quote(name)));
}

}  // namespace sinter::inline v1::jit
