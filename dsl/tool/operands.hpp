// The values of an expression's names: files, numbers, or only types.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <sinter/dsl/parse.hpp>

namespace sinter::tool {

/// An --arg: `NAME=FILE`, `NAME=NUMBER`, or a part of a signature, `NAME: TYPE`.
struct Argument {
  std::string name;
  std::variant<ArgumentType, std::string, bool, std::int64_t, double> value;  // a string is the name of a file

  bool is_type() const noexcept { return value.index() == 0; }
};

/// Throws UsageError, ParseError for a signature.
std::vector<Argument> read_arguments(const std::vector<std::string>& texts);

/// Defines the functions of --function, as define_function.
void define_functions(const std::vector<std::string>& definitions);

/// Throws Error for an argument that the expression does not use. Missing arguments are reported by evaluation.
void check_used(const ParsedExpression& expression, const std::vector<Argument>& arguments);

/// `n=1000`: the value of a signature's symbol. Throws UsageError.
std::map<std::string, std::int64_t> read_sizes(const std::vector<std::string>& texts);

struct NamedTensor {
  std::string name;
  AnyTensor tensor;
};
struct Operands {
  std::vector<NamedOperand> named;
  std::vector<NamedTensor> tensors;  // those that are tensors

  void add(const std::string& name, AnyTensor tensor);
};

enum class Fill { None, Random };
/// Reads the files and makes tensors of the types, whose symbols have these sizes. Throws what reading throws, Error
/// for a symbol without a size or a size without a symbol, OutOfMemory.
Operands make_operands(const std::vector<Argument>& arguments, const std::map<std::string, std::int64_t>& sizes,
                       Fill fill, Device device);

}  // namespace sinter::tool
