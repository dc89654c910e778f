// What an expression's names stand for: files, numbers, and types alone.
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
  std::variant<ArgumentType, std::string, bool, std::int64_t, double> value;  // the string is the name of a file

  bool is_type() const noexcept { return value.index() == 0; }
};

/// Throws UsageError, ParseError for a signature.
std::vector<Argument> read_arguments(const std::vector<std::string>& texts);

/// Throws Error for an argument that the expression does not name. What has no argument its evaluation tells.
void check_used(const ParsedExpression& expression, const std::vector<Argument>& arguments);

/// `n=1000`: a symbol of signatures. Throws UsageError.
std::map<std::string, std::int64_t> read_sizes(const std::vector<std::string>& texts);

struct NamedTensor {
  std::string name;
  AnyTensor tensor;
};
struct Operands {
  std::vector<NamedOperand> named;
  std::vector<NamedTensor> tensors;  // those of them that are tensors

  void add(const std::string& name, AnyTensor tensor);
};

enum class Fill { None, Random };
/// Reads the files; makes tensors of types, whose symbols have these sizes. Throws what reading throws, Error for a
/// symbol without a size and a size without a symbol, OutOfMemory.
Operands make_operands(const std::vector<Argument>& arguments, const std::map<std::string, std::int64_t>& sizes,
                       Fill fill, Device device);

}  // namespace sinter::tool
