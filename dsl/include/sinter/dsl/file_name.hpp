// The file-name argument of functions on files.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace sinter::inline v1::detail {

/// The name of a file, from a string or a std::filesystem::path. It does not include <filesystem>, which takes a
/// quarter of a second to compile.
struct FileName {
  std::string text;

  template <class P>
    requires requires(const P& path) { std::string_view(path.native()); }
  FileName(const P& path) : text(path.native()) {}
  template <std::convertible_to<std::string_view> S>
  FileName(const S& path) : text(std::string_view(path)) {}
};

}  // namespace sinter::inline v1::detail
