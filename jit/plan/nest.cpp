#include "nest.hpp"

#include "nest_builder.hpp"

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

void make_nest(LoopNest& nest, std::span<TensorImpl* const> operands, int outputs,
               std::span<const std::uint32_t> arrays) {
  nests::make_nest(nest, operands, outputs, arrays);
}

void make_row_nest(LoopNest& nest, std::span<TensorImpl* const> operands, const Kernel& kernel, const Shape& domain) {
  nests::make_row_nest(nest, operands, kernel, domain);
}

void make_nest(SymbolicNest& nest, std::span<SymbolicTensor* const> operands, int outputs,
               std::span<const std::uint32_t> arrays) {
  nests::make_nest(nest, operands, outputs, arrays);
}

void make_row_nest(SymbolicNest& nest, std::span<SymbolicTensor* const> operands, const Kernel& kernel,
                   const SymbolicShape& domain) {
  nests::make_row_nest(nest, operands, kernel, domain);
}

}  // namespace sinter::inline v1::jit
