#include "row_params.hpp"

#include <fmt/format.h>

namespace sinter::inline v1::jit::cuda {

std::string row_params(const RowLayout& layout) {
  const KernelClass& c = layout.c;
  std::string out = fmt::format("struct {} {{\n", layout.params);
  const auto add = [&]<class... A>(fmt::format_string<A...> format, A&&... arguments) {
    out += "  " + fmt::format(format, std::forward<A>(arguments)...) + ";\n";
  };
  if (layout.faults.any()) add("unsigned* fault");
  for (const RowOperand& a : layout.operands) {
    if (a.memory)
      add("{}{}* {}", a.output ? "" : "const ", a.type, a.name);
    else
      out += fmt::format("  void* {};  // computed\n", a.name);
  }
  if (c.rows.split)
    for (int s = 0; s < layout.stages(); ++s) add("sinter::Part{0}* parts{0}", s);
  add("long long items, rows");
  add("alignas(8) {} columns", layout.index);
  if (c.rows.split) {
    add("long long splits");
    add("alignas(8) {} part", layout.index);
    add("long long spread, pass");
  }
  if (c.rows.row_cache) add("alignas(8) unsigned row_cache");
  for (int d = layout.row_ndim - 1; d >= 1; --d)
    add("unsigned long long row_extent{0};\n  alignas(8) sinter::WideDivider row_divide{0}", d);
  for (int d = c.reduced - 1; d >= 1; --d)
    add("alignas(8) {0} extent{1};\n  alignas(8) sinter::{2} divide{1}", layout.index, d,
        c.wide ? "WideDivider" : "Divider");
  for (const RowOperand& a : layout.operands) {
    for (int d = 0; d < layout.row_ndim; ++d) add("long long {}_row{}", a.name, d);
    for (int d = 0; d < reduced_strides(c, a.pattern); ++d) add("alignas(8) {} {}_stride{}", layout.offset, a.name, d);
  }
  int scalars = 0;
  for (const Node& n : layout.kernel.graph.nodes())
    if (n.op == Op::scalar) add("alignas(8) {} s{}", info(n.dtype).cuda_name, scalars++);
  for (const RowOperand& a : layout.operands)
    if (!a.memory) add("long long {}_first", a.name);
  if (layout.faults.division) add("alignas(8) unsigned fault_code");
  if (layout.faults.position) add("alignas(8) unsigned outside_code");
  return out + "};\n";
}

}  // namespace sinter::inline v1::jit::cuda
