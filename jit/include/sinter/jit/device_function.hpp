// Functions written in C that kernels call for each element: Op::call.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1::jit {

/// A function of numbers: float, double, int (int32), long long (int64) or bool.
struct FunctionSource {
  struct Parameter {
    std::string name;
    DType dtype;
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };

  std::string name;
  DType result = DType::Float32;
  std::vector<Parameter> parameters;
  std::string body;  // statements of C99, which may call functions of <math.h>
  /// Empty, or for each parameter the body of a function that returns the derivative with respect to it, times g. The
  /// function has the same parameters, and those of g, the gradient of the result, and r, the result. An empty body:
  /// there is no derivative.
  std::vector<std::string> derivatives;
};

inline constexpr std::size_t max_function_parameters = 6;

/// A hash of a function's source, so that it is the same in every process. Even, so that as a node's attribute it is
/// never weak_result.
enum class FunctionId : std::uint64_t {};

/// Makes a function callable until the process ends. Equal sources have equal ids. Throws Error for a name that C, C++
/// or an operation has, for parameters of other dtypes, and for a body that is not the inside of one function; what
/// else is wrong with a body is found by the compiler, at the first evaluation that calls it.
FunctionId define_function(FunctionSource source);

/// The source of a function that has been defined. Throws Error for an id of none.
const FunctionSource& source_of(FunctionId id);
/// The function of this name that was defined last.
std::optional<FunctionId> function_named(std::string_view name);

}  // namespace sinter::inline v1::jit
