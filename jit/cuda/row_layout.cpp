#include "row_layout.hpp"

#include <fmt/format.h>

#include "../plan/row_cache.hpp"
#include "expression.hpp"

namespace sinter::inline v1::jit::cuda {

RowLayout::RowLayout(const Kernel& kernel_, const KernelTraits& traits, const KernelClass& class_)
    : kernel(kernel_),
      c(class_),
      scheme(c.rows),
      passes(kernel, !scheme.kept),
      params(kernel.name + "_params"),
      index(c.wide ? "unsigned long long" : "unsigned"),
      offset(c.wide ? "long long" : "int"),
      faults(traits.faults),
      functions(passes, params, c.wide),
      row_ndim(c.ndim - c.reduced),
      side(scheme.across ? scheme.block / scheme.team : 1),
      team(scheme.team > 0 ? fmt::format("{}", scheme.team)
           : scheme.kept   ? "blockDim.x"
                           : fmt::format("{}", scheme.block)) {
  const RowCache row_cache(traits, c);
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const bool output = k < kernel.outputs.size();
    const KernelTraits::Access& a = traits.operands[k];
    const std::size_t number = output ? k : k - kernel.outputs.size();
    operands.push_back({fmt::format("{}{}", output ? 'y' : 'x', number), std::string(storage_type(a.dtype)), number,
                        output, a.memory, a.array, a.per_row, c.patterns[k], row_cache.place(k)});
  }
}

bool RowLayout::is_for_writing(const RowOperand& a) const noexcept {
  if (a.output) return true;
  const bool read_once = a.is_loaded() && !is_kept(a) && passes.reads(a.number) == 1;
  return read_once && passes.writes_elements && passes.passes.back().inputs[a.number];
}

bool RowLayout::leaves(const RowOperand& a, std::size_t pass) const {
  if (!a.row_cache || !reads(a, pass)) return false;
  for (std::size_t earlier = 0; earlier < pass; ++earlier)
    if (reads(a, earlier)) return false;
  return true;
}

std::string RowLayout::rows() const { return scheme.across ? fmt::format("[{}]", c.lanes) : ""; }

std::string RowLayout::fault_arguments() const {
  return fmt::format("{}{}", faults.division ? ", fault" : "", faults.position ? ", outside" : "");
}

std::string RowLayout::row_step(const RowOperand& a) const { return fmt::format("p.{}_row{}", a.name, row_ndim - 1); }

}  // namespace sinter::inline v1::jit::cuda
