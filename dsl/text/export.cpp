#include "export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <jit/plan/plan.hpp>
#include <runtime/text.hpp>
#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1::detail {
namespace {

std::string shown_type(const ArgumentType& type) { return runtime::shortened(to_string(type)); }

struct ExampleTensor {
  std::string name;
  AnyTensor tensor;
};

constexpr int trials = 7;

/// Gives the number of this name its `value`-th trial value; all others keep their first.
struct Trial {
  std::string_view number;
  int value = 0;
};

/// The signature's arguments as operands without significant memory: extents are examples.
class Parameters {
 public:
  explicit Parameters(std::vector<ArgumentType> types) : types_(std::move(types)) {
    for (const ArgumentType& type : types_)
      for (const SymbolicExtent& e : type.shape)
        if (e.symbol.empty()) written_.insert(e.extent);
    for (const ArgumentType& type : types_)
      if (!type.is_number) tensors_.push_back({type.name, stand_in(type)});
  }

  /// The expression of these operands, with a trial's numbers.
  Lazy<AnyType> expression(const ParsedExpression& parsed, const Trial& trial = {}) const {
    std::vector<NamedOperand> named;
    for (const ExampleTensor& t : tensors_) named.emplace_back(t.name, t.tensor);
    for (const ArgumentType& type : types_)
      if (type.is_number) named.push_back(number(type, trial));
    return parsed(named);
  }
  /// The bits of a number in a trial, in its category.
  std::uint64_t number_bits(const ArgumentType& type, const Trial& trial) const {
    return jit::Recorded(number(type, trial).value.node()).scalars.at(0).bits;
  }

  const std::vector<ArgumentType>& types() const noexcept { return types_; }
  /// The type of a leaf; null if it is not an argument.
  const ArgumentType* type_of(const runtime::TensorImpl* leaf) const {
    const auto t = std::ranges::find_if(tensors_, [&](const ExampleTensor& n) { return &n.tensor.impl() == leaf; });
    return t == tensors_.end() ? nullptr : &*std::ranges::find(types_, t->name, &ArgumentType::name);
  }
  /// "a view of x, which is f32[n, m], with the shape (3, m)".
  std::string describe_view(const runtime::TensorImpl& view) const {
    const auto of = std::ranges::find_if(
        tensors_, [&](const ExampleTensor& t) { return t.tensor.impl().buffer.get() == view.buffer.get(); });
    std::vector<std::string> extents;
    for (const std::int64_t extent : view.shape) extents.push_back(extent_name(extent));
    const std::string shape = fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
    if (of == tensors_.end()) return fmt::format("a tensor of shape {} that is no argument", shape);
    const ArgumentType& type = *std::ranges::find(types_, of->name, &ArgumentType::name);
    return fmt::format("a view of the argument '{}' with the shape {}", shown_type(type), shape);
  }

  /// "n = 2, m = 3".
  std::string examples() const {
    std::vector<std::string> parts;
    for (const auto& [symbol, extent] : extents_) parts.push_back(fmt::format("{} = {}", symbol, extent));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  /// Each number has a distinct value, and other ones in its trials.
  NamedOperand number(const ArgumentType& type, const Trial& trial) const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double floats[trials] = {
        -2.375, 1e300, -1e-300, -0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::int64_t integers[trials] = {-3, 1, 0, 1000003, -4000037, Limits::max(), Limits::min()};
    const int t = type.name == trial.number ? trial.value : 0;
    const auto own = std::ranges::find(types_, type.name, &ArgumentType::name) - types_.begin();
    switch (category(type.dtype)) {
      case Category::Bool: return {type.name, t % 2 != 0};
      case Category::Int: return {type.name, t == 0 ? std::int64_t{7} + 4 * own : integers[t - 1]};
      case Category::Float: return {type.name, t == 0 ? 5.625 + static_cast<double>(own) : floats[t - 1]};
      case Category::Complex: break;
    }
    return number_operand(type);
  }

  /// The symbol whose example this is, or the number.
  std::string extent_name(std::int64_t extent) const {
    const auto symbol = std::ranges::find(extents_, extent, &std::pair<const std::string, std::int64_t>::second);
    return symbol == extents_.end() ? fmt::format("{}", extent) : symbol->first;
  }

  AnyTensor stand_in(const ArgumentType& type) {
    Shape shape, strides;
    for (const SymbolicExtent& e : type.shape) {
      if (e.symbol.empty())
        shape.push_back(e.extent);
      else if (e.symbol == "*")
        shape.push_back(next());
      else if (const auto known = extents_.find(e.symbol); known != extents_.end())
        shape.push_back(known->second);
      else
        shape.push_back(extents_[e.symbol] = next());
      strides.push_back(0);
    }
    check_shape(shape, size_of(type.dtype));
    const runtime::TensorRef one = runtime::empty({}, type.dtype, cpu);
    return AnyTensor(runtime::view(*one, shape, strides));
  }

  /// Each one is new, and neither 1 nor an extent in the signature.
  std::int64_t next() {
    while (written_.contains(next_)) ++next_;
    return next_++;
  }

  std::vector<ArgumentType> types_;
  std::set<std::int64_t> written_;
  std::vector<ExampleTensor> tensors_;
  std::map<std::string, std::int64_t> extents_;  // values of symbols
  std::int64_t next_ = 1000;                     // longer than what texts slice
};

[[noreturn]] void refuse_number(const ArgumentType& type) {
  throw Error(
      fmt::format("the kernel cannot take the number '{}' as a parameter: the expression combines it only with other "
                  "numbers, before the kernel runs. Compute that, for example s * 2, before the call and pass the "
                  "result as another argument, or write the number itself in its place",
                  shown_type(type)));
}

/// The expression with a trial's numbers. A number that causes an error or changes the operations is not a parameter.
jit::Recorded tried(const ParsedExpression& parsed, const Parameters& parameters, const Trial& trial,
                    const ArgumentType& type, const jit::Recorded& recorded) {
  std::optional<jit::Recorded> found;
  try {
    found.emplace(parameters.expression(parsed, trial).node());
  } catch (const Error&) {
    refuse_number(type);
  }
  if (!(found->graph == recorded.graph) || found->scalars.size() != recorded.scalars.size()) refuse_number(type);
  return std::move(*found);
}

/// Which of the expression's numbers, in the order of options.numbers, are arguments: those that equal the argument for
/// all values of all arguments. A number computed from an argument equals it only for some.
std::vector<std::string> number_names(const ParsedExpression& parsed, const Parameters& parameters,
                                      const jit::Export& kernel) {
  const jit::Recorded& recorded = kernel.expression;
  const std::vector<std::uint32_t> used = jit::nameable_numbers(kernel);
  std::vector<std::string> names(recorded.scalars.size());
  std::vector<const ArgumentType*> changes(recorded.scalars.size());
  for (const ArgumentType& type : parameters.types()) {
    if (!type.is_number) continue;
    bool found = false;
    for (int t = 1; t <= trials; ++t) {
      const Trial trial{type.name, t};
      const jit::Recorded other = tried(parsed, parameters, trial, type, recorded);
      for (std::size_t i = 0; i < other.scalars.size(); ++i) {
        const bool is_changed = other.scalars[i].bits != recorded.scalars[i].bits;
        if (is_changed && changes[i] && changes[i] != &type) refuse_number(type);
        if (is_changed) changes[i] = &type;
      }
    }
    for (int t = 0; t <= trials; ++t) {
      const Trial trial{type.name, t};
      const jit::Recorded other = tried(parsed, parameters, trial, type, recorded);
      for (std::size_t i = 0; i < other.scalars.size(); ++i)
        if (changes[i] == &type && other.scalars[i].bits != parameters.number_bits(type, trial)) refuse_number(type);
    }
    for (const std::uint32_t i : used) {
      if (changes[i] != &type) continue;
      if (found)
        throw Error(
            fmt::format("the expression uses the number '{}' in several places, but a kernel takes a separate number "
                        "for each: write it once, as in (z + w) * s, or give each place its own argument",
                        shown_type(type)));
      names[i] = type.name, found = true;
    }
    if (!found) refuse_number(type);
  }
  std::vector<std::string> of_used;
  for (const std::uint32_t i : used) of_used.push_back(names[i]);
  return of_used;
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
          fmt::format("a kernel reads whole arguments, but the text reads {}: declare the view itself as an argument, "
                      "pass the address of its first element, and list it as strided if it is not contiguous",
                      parameters.describe_view(*recorded.leaves[leaf])));
    options.inputs.push_back(type->name);
    std::vector<std::string>& sizes = options.sizes.emplace_back();
    for (const SymbolicExtent& e : type->shape) {
      const bool is_fixed = e.symbol.empty() && e.extent != 1;
      sizes.push_back(is_fixed ? fmt::format("{}", e.extent) : e.symbol == "*" ? "" : e.symbol);
    }
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
    throw ShapeError(fmt::format("{}\nHere sizes have example numbers: {}. Sizes that must be equal need one name",
                                 e.what(), examples));
  }
}

}  // namespace

NamedOperand number_operand(const ArgumentType& type) {
  switch (category(type.dtype)) {
    case Category::Bool: return {type.name, false};
    case Category::Int: return {type.name, std::int64_t{1}};
    case Category::Float: return {type.name, 1.5};
    case Category::Complex: break;
  }
  throw Error(fmt::format("the argument '{}' is a complex number: make it a tensor, {}[1]", shown_type(type),
                          shown_type(type)));
}

jit::Export exported_text(const ParsedExpression& expression, std::vector<ArgumentType> types, ExportOptions options) {
  const runtime::DefaultFloatEnvironment floats;
  const Parameters parameters(std::move(types));
  jit::Export kernel = exported(with_examples(expression, parameters));
  kernel.options = with_names(std::move(options), expression, parameters, kernel);
  return kernel;
}

}  // namespace sinter::inline v1::detail
