// Exporting kernels of expressions written as text.
#pragma once
#include <vector>

#include <sinter/dsl/export.hpp>
#include <sinter/dsl/parse.hpp>

namespace sinter::inline v1::detail {

/// A number of the dtype's category: 1, 1.5 or false. Throws Error for a complex one.
NamedOperand number_operand(const ArgumentType& type);

/// The expression as a kernel whose parameters have these types: numbers, and tensors of any extents, with the names
/// that their shapes give. Extents that are numbers in the signature stay fixed. The options' inputs, sizes and numbers
/// are set accordingly. Throws what the expression throws, and Error for a number that cannot be a parameter, such as
/// one that the expression uses only with other numbers.
jit::Export exported_text(const ParsedExpression& expression, std::vector<ArgumentType> types, ExportOptions options);

}  // namespace sinter::inline v1::detail
