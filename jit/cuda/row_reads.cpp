#include "row_reads.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::cuda {

void RowReads::batch(std::size_t pass) const {
  const auto reads = [&](const RowOperand& a) { return layout_.reads_here(a, pass) && a.memory; };
  const auto finds = [&](const RowOperand& a) { return layout_.finds(a, pass); };
  const auto leaves = [&](const RowOperand& a) { return layout_.leaves(a, pass); };
  const auto others = [&](const RowOperand& a) { return reads(a) && !finds(a); };
  const auto from_memory = [&](const RowOperand& a) {
    out_.line("{}_in[k] = {};", a.name, vectors_.fetched(a, c_.lanes));
  };
  const auto from_row_cache = [&](const RowOperand& a) {
    out_.line("{}_in[k] = {};", a.name, vectors_.cached(a, c_.lanes));
  };
  const auto to_row_cache = [&](const RowOperand& a) {
    out_.line("{} = {}_in[k];", vectors_.cached(a, c_.lanes), a.name);
  };
  for (const RowOperand& a : layout_.operands)
    if (reads(a)) out_.line("{} {}_in[{}];", vectors_.type(a, c_.lanes), a.name, layout_.scheme.steps);
  each_of_batch("", others, from_memory);
  each_of_batch("p.row_cache", finds, from_row_cache);
  each_of_batch("!p.row_cache", finds, from_memory);
  each_of_batch("p.row_cache", leaves, to_row_cache);
}

/// Under a condition, where one is given, a statement for each vector of the batch and each of the wanted operands.
template <class P, class F>
void RowReads::each_of_batch(std::string_view condition, P is_wanted, F statement) const {
  if (std::ranges::none_of(layout_.operands, is_wanted)) return;
  if (!condition.empty()) out_.line("if ({}) {{", condition), out_.open();
  out_.unroll();
  out_.line("for (int k = 0; k < {}; ++k) {{", layout_.scheme.steps);
  out_.open();
  out_.line("const {} c = base + k * {};", layout_.index, layout_.team);
  vectors_.coordinates(out_, c_.lanes);
  for (const RowOperand& a : layout_.operands)
    if (is_wanted(a)) statement(a);
  out_.close();
  if (!condition.empty()) out_.close();
}

void RowReads::vector(std::size_t pass, int lanes, bool at_hand, bool may_be_outside) const {
  vectors_.coordinates(out_, lanes);
  for (const RowOperand& a : layout_.operands) {
    if (!layout_.reads_here(a, pass) || (a.memory && at_hand)) continue;
    const std::string value = vectors_.fetched(a, lanes), type = vectors_.type(a, lanes);
    const std::string name = a.name + (a.memory ? "_in" : "_at");
    if (layout_.finds(a, pass)) {
      out_.line("{} {};", type, name);
      out_.line("if (p.row_cache) {} = {};", name, vectors_.cached(a, lanes));
      out_.line("if (!p.row_cache) {} = {};", name, value);
    } else if (may_be_outside && a.memory) {
      out_.line("const {0} {1} = inside ? {2} : {0}{{}};", type, name, value);
    } else {
      out_.line("const {} {} = {};", type, name, value);
    }
    if (layout_.leaves(a, pass)) out_.line("if (p.row_cache) {} = {};", vectors_.cached(a, lanes), name);
  }
}

}  // namespace sinter::inline v1::jit::cuda
