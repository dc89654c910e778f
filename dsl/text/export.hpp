// Kernels of expressions that are text.
#pragma once
#include <vector>

#include <sinter/dsl/export.hpp>
#include <sinter/dsl/parse.hpp>

namespace sinter::inline v1::detail {

/// A number of the dtype's category: 1, 1.5 or false. Throws Error for a complex one.
NamedOperand number_operand(const ArgumentType& type);

/// The expression as a kernel whose parameters are arguments of these types: tensors of any extents, named as the
/// shapes name them, and numbers. Extents that the signature holds as numbers stay as they are. The options' inputs,
/// sizes and numbers follow from these. Throws what the expression throws, and Error for a number that the kernel
/// cannot take, as one that the expression computes with other numbers alone.
jit::Export exported_text(const ParsedExpression& expression, std::vector<ArgumentType> types, ExportOptions options);

}  // namespace sinter::inline v1::detail
