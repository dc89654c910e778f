// Kernels of expressions that are text.
#pragma once
#include <vector>

#include <sinter/dsl/export.hpp>
#include <sinter/dsl/parse.hpp>

namespace sinter::inline v1::detail {

/// A number of the dtype's category: 1, 2, true ... Throws Error for a complex one.
NamedOperand number_operand(const ArgumentType& type, bool other);

/// The expression as a kernel whose parameters are arguments of these types: tensors of any extents, named as the
/// shapes name them, and numbers. The options' inputs, sizes and numbers follow from these. Throws what the expression
/// throws, and Error for a number that the kernel cannot take.
jit::Export exported_text(const ParsedExpression& expression, std::vector<ArgumentType> types, ExportOptions options);

}  // namespace sinter::inline v1::detail
