// Types and literals as C99.
#pragma once
#include <string>
#include <string_view>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// C types of array parameters (uint16_t for a half, the type of the parts for a complex number), of elements in memory
/// and of values in computations; and the dtype's short name.
std::string_view memory_type(DType dtype) noexcept;
std::string_view element_type(DType dtype) noexcept;
std::string_view value_type(DType dtype) noexcept;
std::string_view short_name(DType dtype) noexcept;

/// Required alignment in bytes on the CPU; on a GPU it is the element's size.
std::size_t cpu_alignment(DType dtype) noexcept;

/// An expression that has exactly this value.
std::string c_literal(DType dtype, std::uint64_t bits);

/// A C expression that converts as the executors do.
std::string c_conversion(DType from, DType to, const std::string& value);

/// A scalar of the expression as a kernel uses it, in C: a parameter that is converted, or its value.
std::string c_scalar(const Model& model, const Node& scalar);

/// Whether exported C has a helper function of this name.
bool is_helper(std::string_view name);
/// The helper functions that `text` uses, and those that they use in turn.
std::string helpers_for(std::string_view text);

}  // namespace sinter::inline v1::jit::exporting
