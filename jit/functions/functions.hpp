// Functions that have been defined, as passes and dialects see them.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/jit/device_function.hpp>
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

struct DeviceFunction {
  FunctionId id{};
  FunctionSource source;
  std::string symbol;  // its name in generated text: no other function's
  /// For each parameter, the function that computes its derivative.
  std::vector<std::optional<FunctionId>> derivatives;
  /// Of a derivative: its parameter g, in which it is linear.
  std::optional<std::size_t> gradient_parameter = {};
};

/// Throws Error for an id of no function.
const DeviceFunction& function_of(FunctionId id);
/// The function that a node of Op::call calls.
inline const DeviceFunction& called_function(const Node& n) { return function_of(FunctionId{n.attribute}); }
/// The name of a node's operation, or of the function that it calls.
std::string_view operation_name(const Node& n);

/// "float", "long long".
std::string_view c_type(DType dtype);
/// The definition in C, C++ and CUDA C++, with these words before it: "static inline".
std::string definition(const DeviceFunction& function, std::string_view qualifiers);
/// Those of all functions that some nodes call.
std::string definitions(const std::set<FunctionId>& called, std::string_view qualifiers);
/// Definitions for CUDA and HIP, where kernels include no header: without the names that C's headers give to types and
/// to numbers that are not finite.
std::string without_header_names(std::string_view definitions);

}  // namespace sinter::inline v1::jit
