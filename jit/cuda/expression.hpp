// Types, operations and numbers as CUDA text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit::cuda {

/// Type of an element in memory; a bool is a byte, nonzero is true.
std::string_view storage_type(DType dtype) noexcept;

/// A type without spaces, so that T(2) is valid.
std::string_view value_type(DType dtype) noexcept;

/// The body of ops.def, or the combine expression of reductions.def, for these operands. Integers wrap.
std::string operation(Op op, DType compute, std::vector<std::string> operands);

/// A literal that has exactly this value: 0x1.8p+1f, -5ll, true.
std::string literal(DType dtype, std::uint64_t bits);

/// The value of a float in decimal, for readers.
std::string decimal(DType dtype, std::uint64_t bits);

}  // namespace sinter::inline v1::jit::cuda
