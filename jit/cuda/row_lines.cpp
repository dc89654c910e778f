#include "row_lines.hpp"

namespace sinter::inline v1::jit::cuda {

void RowLines::for_lanes(int lanes, const std::string& statement) {
  if (lanes == 1) return line("{{ const int l = 0; {} }}", statement);
  unroll();
  line("for (int l = 0; l < {}; ++l) {}", lanes, statement);
}

void RowLines::for_rows(bool guarded, const std::string& statement_of_row) {
  const bool across = layout_.scheme.across;
  const std::string l = across ? "[l]" : "";
  std::string statement = guarded && layout_.may_be_outside() ? "if (here) " : "";
  statement += statement_of_row;
  for (std::size_t at = 0; (at = statement.find("{}", at)) != std::string::npos;) statement.replace(at, 2, l);
  if (across)
    for_lanes(layout_.c.lanes, statement);
  else
    line("{}", statement);
}

}  // namespace sinter::inline v1::jit::cuda
