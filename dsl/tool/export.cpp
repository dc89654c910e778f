// sinter export: C source of an expression.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include <jit/plan.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/export.hpp>
#include <sinter/dsl/factory.hpp>
#include "commands.hpp"
#include "operands.hpp"

namespace sinter::tool {
namespace {

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
    for (const NamedTensor& t : tensors_) named.emplace_back(t.name, t.tensor);
    for (const ArgumentType& type : types_)
      if (type.is_number) named.push_back(number_operand(type, type.name == other));
    return parsed(named);
  }

  const std::vector<ArgumentType>& types() const noexcept { return types_; }
  /// Of the leaf; null for one that is no argument.
  const ArgumentType* type_of(const runtime::TensorImpl* leaf) const {
    const auto t = std::ranges::find_if(tensors_, [&](const NamedTensor& n) { return &n.tensor.impl() == leaf; });
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
  std::vector<NamedTensor> tensors_;
  std::map<std::string, std::int64_t> extents_;  // of symbols
  std::int64_t next_ = 2;                        // each another one, none of them 1
};

Parameters read_parameters(const Parsed& given, const ParsedExpression& expression) {
  const std::vector<Argument> arguments = read_arguments(given.all("--arg"));
  check_used(expression, arguments);
  std::vector<ArgumentType> types;
  for (const Argument& a : arguments) {
    if (!a.is_type())
      throw UsageError(
          fmt::format("--arg: an exported kernel takes any elements, so say what {0} is like: '{0}: f32[n]'", a.name));
    types.push_back(std::get<ArgumentType>(a.value));
  }
  return Parameters(std::move(types));
}

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

ExportOptions kernel_options(const Parsed& given, const ParsedExpression& parsed, const Parameters& parameters,
                             const jit::Export& kernel) {
  const jit::Recorded& recorded = kernel.expression;
  ExportOptions options{.name = given.get("--name", "kernel")};
  std::set<std::uint32_t> leaves;
  for (const jit::Node& n : recorded.graph.nodes())
    if (n.op == Op::leaf || n.op == Op::array) leaves.insert(static_cast<std::uint32_t>(n.attribute));
  for (const std::uint32_t leaf : leaves) {
    const ArgumentType* type = parameters.type_of(recorded.leaves[leaf]);
    if (!type)
      throw Error(
          "a kernel takes its arguments as they are, and the text takes a view of one, or of what it computes: make "
          "the "
          "view an argument, with --strided where the array has strides of its own");
    options.inputs.push_back(type->name);
    std::vector<std::string>& sizes = options.sizes.emplace_back();
    for (const SymbolicExtent& e : type->shape) sizes.push_back(e.symbol == "*" ? "" : e.symbol);
  }
  options.numbers = number_names(parsed, parameters, kernel);
  options.strided = given.list("--strided");
  options.in_place = given.has("--in-place");
  return options;
}

std::vector<int> architectures(const std::vector<std::string>& list) {
  std::vector<int> numbers;
  for (const std::string& text : list) {
    const std::string_view digits = std::string_view(text).substr(text.starts_with("sm_") ? 3 : 0);
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
      throw UsageError(
          fmt::format("--arch: {} is no architecture: 90 is compute capability 9.0", runtime::quote(text)));
    numbers.push_back(number);
  }
  return numbers;
}

LibraryOptions library_options(const Parsed& given) {
  LibraryOptions library{.name = given.get("--name", "kernel"), .prefix = given.get("--prefix")};
  const std::vector<std::string> archs = given.list("--arch"), extra = given.list("--extra");
  if (given.has("--arch"))
    library.architectures = archs == std::vector<std::string>{"none"} ? std::vector<int>() : architectures(archs);
  library.ptx = given.get("--ptx") != "off";
  const std::string format = given.get("--format", "source");
  library.format = format == "header"   ? ExportFormat::Header
                   : format == "fatbin" ? ExportFormat::Fatbin
                                        : ExportFormat::Source;
  library.dlpack = given.has("--dlpack");
  const auto wants = [&](std::string_view file) { return std::ranges::find(extra, file) != extra.end(); };
  library.cuda_source = wants("cu");
  library.manifest = wants("json");
  library.cpp_wrapper = wants("hpp");
  library.ptx_files = wants("ptx");
  library.dot = wants("dot");
  return library;
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

int export_kernels(const Parsed& given) {
  const LibraryOptions library = library_options(given);
  const ParsedExpression parsed(given.operands[0]);
  const Parameters parameters = read_parameters(given, parsed);
  jit::Export kernel = exported(with_examples(parsed, parameters));
  kernel.options = kernel_options(given, parsed, parameters, kernel);
  const Exported files = jit::export_library({kernel}, library);
  const std::string folder = given.get("--output", ".");
  files.write(folder);
  for (const auto& [name, text] : files.files) fmt::print("{}\n", (std::filesystem::path(folder) / name).string());
  return 0;
}

}  // namespace sinter::tool
