// Statements of a reducing kernel's entry.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "row_layout.hpp"

namespace sinter::inline v1::jit::cuda {

/// Text that grows by lines, which are indented as blocks open and close.
class RowLines {
 public:
  explicit RowLines(const RowLayout& layout) : layout_(layout) {}

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    out_ += indent_;
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
    out_ += '\n';
  }
  void open() { indent_ += "  "; }
  void close() {
    indent_.resize(indent_.size() - 2);
    line("}}");
  }
  void unroll() { out_ += "#pragma unroll\n"; }
  void no_unroll() { out_ += "#pragma unroll 1\n"; }
  /// A statement for each lane l.
  void for_lanes(int lanes, const std::string& statement);
  /// A statement for the thread's row, or for each of its rows, where {} is [l]; `guarded`: if there is a row.
  void for_rows(bool guarded, const std::string& statement);
  std::string take() { return std::move(out_); }

 private:
  const RowLayout& layout_;
  std::string out_, indent_;
};

}  // namespace sinter::inline v1::jit::cuda
