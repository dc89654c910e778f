#include "row_vectors.hpp"

namespace sinter::inline v1::jit::cuda {

void RowVectors::coordinates(RowLines& out, int lanes) const {
  if (c_.reduced == 1) return;
  out.line("const {} e = c{};", layout_.index, counts_vectors(lanes) ? fmt::format(" * {}", lanes) : "");
  std::string rest = "e";
  for (int d = c_.reduced - 1; d >= 1; --d) {
    out.line("const {0} d{1} = sinter::{2}({3}, p.divide{1});", layout_.index, d, c_.wide ? "wide_divide" : "divide",
             rest);
    out.line("const {0} c{1} = static_cast<{0}>({2} - d{1} * p.extent{1});", layout_.offset, d, rest);
    rest = fmt::format("d{}", d);
  }
  out.line("const {0} c0 = static_cast<{0}>({1});", layout_.offset, rest);
}

std::string RowVectors::type(const RowOperand& a, int lanes) const {
  return fmt::format("sinter::Lanes<{}, {}>", a.memory ? std::string_view(a.type) : "long long", lanes);
}

std::string RowVectors::offset(const RowOperand& a, int lanes) const {
  const bool along = a.pattern == Pattern::Linear && !c_.rows.across;
  if (c_.reduced == 1) {
    const std::string e = counts_vectors(lanes) ? fmt::format("c * {}", lanes) : "c";
    return along ? e : fmt::format("static_cast<{}>({}) * p.{}_stride0", layout_.offset, e, a.name);
  }
  std::string out;
  for (int d = 0; d < reduced_strides(c_, a.pattern); ++d)
    out += fmt::format("{}c{} * p.{}_stride{}", d ? " + " : "", d, a.name, d);
  return along ? fmt::format("{}c{}", out.empty() ? "" : out + " + ", c_.reduced - 1) : out;
}

/// As an element of an array of vectors: else NVRTC may not see that the address is aligned, and takes it apart.
std::string RowVectors::at(const RowOperand& a, int lanes) const {
  const bool counts = !c_.rows.across && c_.reduced == 1;
  return fmt::format("reinterpret_cast<{}{}*>({})[{}]", a.output ? "" : "const ", type(a, lanes), a.name,
                     counts ? "c" : fmt::format("({}) / {}", offset(a, lanes), lanes));
}

std::string RowVectors::fetched(const RowOperand& a, int lanes) const {
  const std::string place = offset(a, lanes), lanes_type = type(a, lanes);
  const bool linear = a.pattern == Pattern::Linear;
  if (a.memory && linear && lanes > 1) return at(a, lanes);
  if (lanes == 1)
    return fmt::format("{}{{{}{}}}", lanes_type, a.name,
                       a.memory ? fmt::format("[{}]", place) : fmt::format(" + {}", place));
  const std::string step = linear           ? "1"
                           : c_.rows.across ? layout_.row_step(a)
                                            : fmt::format("p.{}_stride{}", a.name, c_.reduced - 1);
  return fmt::format("sinter::{}<{}>({} + {}, {})", a.memory ? "strided_lanes" : "position_lanes", lanes_type, a.name,
                     place, step);
}

std::string RowVectors::cached(const RowOperand& a, int lanes) const {
  const std::string part = *a.row_cache == 0 ? "row_cache" : fmt::format("row_cache + {} * p.row_cache", *a.row_cache);
  return fmt::format("sinter::cached<{}>({})[c]", type(a, lanes), part);
}

}  // namespace sinter::inline v1::jit::cuda
