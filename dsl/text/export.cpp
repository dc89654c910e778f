#include "export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include <jit/plan/plan.hpp>

namespace sinter::inline v1::detail {
namespace {

struct Stand {
  std::string name;
  AnyTensor tensor;
};

/// The signature's arguments as operands without memory worth speaking of: extents are examples.
class Parameters {
 public:
  explicit Parameters(std::vector<ArgumentType> types) : types_(std::move(types)) {
    for (const ArgumentType& type : types_)
      if (!type.is_number) tensors_.push_back({type.name, stand_in(type)});
  }

  /// The expression of them, where the number `other` is another one.
  Lazy<AnyType> expression(const ParsedExpression& parsed, std::string_view other = "") const {
    std::vector<NamedOperand> named;
    for (const Stand& t : tensors_) named.emplace_back(t.name, t.tensor);
    for (const ArgumentType& type : types_)
      if (type.is_number) named.push_back(number_operand(type, type.name == other));
    return parsed(named);
  }

  const std::vector<ArgumentType>& types() const noexcept { return types_; }
  /// Of the leaf; null for one that is no argument.
  const ArgumentType* type_of(const runtime::TensorImpl* leaf) const {
    const auto t = std::ranges::find_if(tensors_, [&](const Stand& n) { return &n.tensor.impl() == leaf; });
    return t == tensors_.end() ? nullptr : &*std::ranges::find(types_, t->name, &ArgumentType::name);
  }
  /// "n = 2, m = 3".
  std::string examples() const {
    std::vector<std::string> parts;
    for (const auto& [symbol, extent] : extents_) parts.push_back(fmt::format("{} = {}", symbol, extent));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  AnyTensor stand_in(const ArgumentType& type) {
    Shape shape, strides;
    for (const SymbolicExtent& e : type.shape) {
      if (e.symbol.empty())
        shape.push_back(e.extent);
      else if (e.symbol == "*")
        shape.push_back(next_++);
      else if (const auto [at, fresh] = extents_.try_emplace(e.symbol, next_); shape.push_back(at->second), fresh)
        ++next_;
      strides.push_back(0);
    }
    check_shape(shape, size_of(type.dtype));
    const runtime::TensorRef one = runtime::empty({}, type.dtype, cpu);
    return AnyTensor(runtime::view(*one, shape, strides));
  }

  std::vector<ArgumentType> types_;
  std::vector<Stand> tensors_;
  std::map<std::string, std::int64_t> extents_;  // of symbols
  std::int64_t next_ = 2;                        // each another one, none of them 1
};

/// Which of the expression's numbers, in the order in which options.numbers names them, are which arguments: those
/// that change with the argument.
std::vector<std::string> number_names(const ParsedExpression& parsed, const Parameters& parameters,
                                      const jit::Export& kernel) {
  const jit::Recorded& recorded = kernel.expression;
  const std::vector<std::uint32_t> used = jit::nameable_numbers(kernel);
  std::vector<std::string> names(used.size());
  for (const ArgumentType& type : parameters.types()) {
    if (!type.is_number) continue;
    const jit::Recorded changed(parameters.expression(parsed, type.name).node());
    const bool is_same_graph = changed.scalars.size() == recorded.scalars.size();
    std::size_t i = 0;
    bool found = false;
    for (const std::uint32_t number : used) {
      if (is_same_graph && changed.scalars[number].bits != recorded.scalars[number].bits)
        names[i] = type.name, found = true;
      ++i;
    }
    if (!found)
      throw Error(
          fmt::format("the kernel cannot take the number '{}' as a parameter: the expression uses it up before "
                      "there is a kernel. Write the number itself in its place",
                      to_string(type)));
  }
  return names;
}

ExportOptions with_names(ExportOptions options, const ParsedExpression& parsed, const Parameters& parameters,
                         const jit::Export& kernel) {
  const jit::Recorded& recorded = kernel.expression;
  std::set<std::uint32_t> leaves;
  for (const jit::Node& n : recorded.graph.nodes())
    if (n.op == Op::leaf || n.op == Op::array) leaves.insert(static_cast<std::uint32_t>(n.attribute));
  for (const std::uint32_t leaf : leaves) {
    const ArgumentType* type = parameters.type_of(recorded.leaves[leaf]);
    if (!type)
      throw Error(
          "a kernel takes its arguments as they are, and the text takes a view of one, or of what it computes: make "
          "the view an argument, one of the strided ones where the array has strides of its own");
    options.inputs.push_back(type->name);
    std::vector<std::string>& sizes = options.sizes.emplace_back();
    for (const SymbolicExtent& extent : type->shape) sizes.push_back(extent.symbol == "*" ? "" : extent.symbol);
  }
  options.numbers = number_names(parsed, parameters, kernel);
  return options;
}

Lazy<AnyType> with_examples(const ParsedExpression& parsed, const Parameters& parameters) {
  try {
    return parameters.expression(parsed);
  } catch (const ShapeError& e) {
    const std::string examples = parameters.examples();
    if (examples.empty()) throw;
    throw ShapeError(
        fmt::format("{}\nHere sizes have example numbers: {}. Sizes that the expression walks together need one name",
                    e.what(), examples));
  }
}

}  // namespace

NamedOperand number_operand(const ArgumentType& type, bool other) {
  switch (category(type.dtype)) {
    case Category::Bool: return {type.name, other};
    case Category::Int: return {type.name, std::int64_t{other ? 2 : 1}};
    case Category::Float: return {type.name, other ? 2.5 : 1.5};
    case Category::Complex: break;
  }
  throw Error(
      fmt::format("the argument '{}' is a complex number: make it a tensor, {}[1]", to_string(type), to_string(type)));
}

jit::Export exported_text(const ParsedExpression& expression, std::vector<ArgumentType> types, ExportOptions options) {
  const Parameters parameters(std::move(types));
  jit::Export kernel = exported(with_examples(expression, parameters));
  kernel.options = with_names(std::move(options), expression, parameters, kernel);
  return kernel;
}

}  // namespace sinter::inline v1::detail
