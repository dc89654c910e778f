#include "checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <runtime/different_devices.hpp>
#include <sinter/runtime/error.hpp>
#include "../graph/arguments.hpp"
#include "../graph/shapes.hpp"
#include "../plan/overlap.hpp"
#include "../plan/product.hpp"
#include "evaluator.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;

/// What is known of a node's value: nothing for a scalar.
struct Known {
  std::optional<Device> device;
  Shape shape;
  bool is_scalar = true;
  bool is_array = false;  // read at computed places: its shape meets no other
};

std::string describe(DType dtype, const Known& k) {
  if (k.is_scalar) return fmt::format("{} scalar", name(dtype));
  return fmt::format("{} {} on {}", name(dtype), to_string(k.shape), to_string(*k.device));
}

/// Walks a graph from its leaves and stops where an operation's operands do not go together.
class Inference {
 public:
  Inference(const Graph& graph, Leaves leaves, bool checks_products = true)
      : graph_(graph), leaves_(leaves), checks_products_(checks_products), known_(graph.nodes().size()) {}

  /// Calls meet(known, operand, node) for every operand of every node; false stops and returns that node, as matrices
  /// do that are not to be multiplied.
  template <class Meet>
  const Node* first_failure(Meet meet) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Node& n = graph_.nodes()[i];
      if (n.op == Op::leaf || n.op == Op::index) {
        const TensorImpl& t = *leaves_[n.attribute];
        known_[i] = {t.device, t.shape, false};
      } else if (n.op == Op::array) {
        const TensorImpl& t = *leaves_[n.attribute];
        known_[i] = {t.device, t.shape, false, true};
      }
      for (const Operand o : graph_.operands(n)) {
        const Known& operand = known_[static_cast<std::size_t>(o.node)];
        if (operand.is_scalar) continue;
        if (known_[i].is_scalar) known_[i] = {operand.device, Shape(), false};
        const bool meets_none = operand.is_array || n.op == Op::matmul;
        if (!meet(known_[i], meets_none ? Known{operand.device, Shape(), false} : operand)) return &n;
      }
      if (info(n.op).reduction == Reduction::Reduces)
        known_[i].shape = reduced_shape(known_[i].shape, Along::of(n.attribute));
      if (n.op == Op::matmul) {
        const std::optional<Shape> shape = product_shape(operand(n, 0).shape, operand(n, 1).shape);
        if (!shape && checks_products_) return &n;
        known_[i].shape = shape.value_or(Shape());
      }
    }
    return nullptr;
  }

  /// "add(a, b)" and a line for each operand.
  std::string describe_operation(const Node& n) const {
    std::string call, lines;
    for (char letter = 'a'; const Operand o : graph_.operands(n)) {
      call += fmt::format("{}{}", call.empty() ? "" : ", ", letter);
      lines += fmt::format("\n    {}: {}", letter++, describe_value(o));
    }
    return fmt::format("in {}({}), where{}", name(n.op), call, lines);
  }

  const Known& operator[](Operand o) const { return known_[static_cast<std::size_t>(o.node)]; }
  const Known& operand(const Node& n, std::size_t i) const { return (*this)[graph_.operands(n)[i]]; }

 private:
  /// A conversion that promotion inserted says nothing to the user: what it converts does.
  std::string describe_value(Operand o) const {
    while (graph_[o].op == Op::cast) o = graph_.operands(graph_[o])[0];
    return describe(graph_[o].dtype, (*this)[o]);
  }

  const Graph& graph_;
  Leaves leaves_;
  bool checks_products_;
  std::vector<Known> known_;
};

/// The words of PyTorch for two shapes that do not broadcast.
std::string mismatch(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int i = axis - (rank - a.rank()), j = axis - (rank - b.rank());
    if (i >= 0 && j >= 0 && a[i] != b[j] && a[i] != 1 && b[j] != 1)
      return fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}",
                         a[i], b[j], axis);
  }
  return "The shapes do not broadcast";
}

[[noreturn]] void throw_shapes_differ(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves);
  std::string first;
  const Node* failed = inference.first_failure([&](Known& known, const Known& operand) {
    Shape merged = known.shape;
    if (broadcast(merged, operand.shape)) return known.shape = merged, true;
    first = mismatch(known.shape, operand.shape);
    return false;
  });
  if (failed && failed->op == Op::matmul) {
    const Shape &a = inference.operand(*failed, 0).shape, &b = inference.operand(*failed, 1).shape;
    throw ShapeError(fmt::format("{}\n  {}\n  {}", product_mismatch(a, b), inference.describe_operation(*failed),
                                 product_advice(a, b)));
  }
  throw ShapeError(
      fmt::format("{}\n  {}\n  Shapes broadcast from the last dimension backwards: extents must be equal, or one "
                  "of them 1. Bring them in line with reshape, expand or a slice",
                  first, failed ? inference.describe_operation(*failed) : ""));
}

}  // namespace

void throw_empty_expression() {
  throw Error(
      "this expression holds nothing: it, or a tensor in it, was made empty or was moved from. Assign to it before "
      "it is used, or copy it where it is needed twice");
}

void throw_devices_differ(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves, false);
  Device one, other;
  const auto meet = [&](Known& known, const Known& operand) {
    if (known.device == operand.device) {
      if (!broadcast(known.shape, operand.shape)) known.shape = operand.shape;
      return true;
    }
    one = *known.device, other = *operand.device;
    return false;
  };
  std::string where = "in evaluate(...), whose expressions run together";
  if (const Node* failed = inference.first_failure(meet)) {
    where = inference.describe_operation(*failed);
  } else {
    for (const Operand o : recorded.outputs()) {
      const Known& k = inference[o];
      if (k.is_scalar) continue;
      const bool is_first = o == recorded.outputs()[0];
      (is_first ? one : other) = *k.device;
      where += fmt::format("\n    {}", describe(recorded[o].dtype, k));
      if (!is_first && one != other) break;
    }
  }
  runtime::throw_different_devices(one, other, where);
}

namespace {

/// What these leaves of a graph broadcast to.
Shape broadcast_shape(const Graph& recorded, std::span<const std::uint32_t> numbers, Leaves leaves) {
  if (numbers.empty()) return Shape();
  Shape shape = leaves[numbers[0]]->shape;
  for (const std::uint32_t number : numbers.subspan(1)) {
    const Shape& other = leaves[number]->shape;
    if (!(shape == other) && !broadcast(shape, other)) throw_shapes_differ(recorded, leaves);
  }
  return shape;
}

/// The shapes of all nodes.
std::vector<Shape> checked_shapes(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves);
  const Node* failed =
      inference.first_failure([](Known& known, const Known& operand) { return broadcast(known.shape, operand.shape); });
  if (failed) throw_shapes_differ(recorded, leaves);
  std::vector<Shape> shapes = shapes_of(recorded, shapes_of_leaves(leaves));
  check_has_elements(recorded, shapes);
  return shapes;
}

}  // namespace

Shape output_shape(const Recipe& recipe, std::size_t output, Leaves leaves) {
  if (recipe.reshapes()) return output_shape(recipe.graph(), recipe.graph().outputs()[output], leaves);
  return broadcast_shape(recipe.graph(), recipe.leaves(output), leaves);
}

Shape output_shape(const Graph& recorded, Operand output, Leaves leaves) {
  if (reshapes(recorded)) return checked_shapes(recorded, leaves)[static_cast<std::size_t>(output.node)];
  return broadcast_shape(recorded, leaves_of(recorded, output).walked, leaves);
}

void check_shapes(const Graph& recorded, Leaves leaves) { (void)checked_shapes(recorded, leaves); }

void check_fits(std::int64_t value, DType dtype) {
  if (category(dtype) != Category::Int) return;
  const bool fits = visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (category(dtype_of<T>) == Category::Int) return std::in_range<T>(value);
    return true;
  });
  if (fits) return;
  throw Error(
      fmt::format("the number {0} does not fit {1}, the dtype of the tensor beside it; convert the tensor first, "
                  "with .to<std::int64_t>()",
                  value, name(dtype)));
}

namespace {

void check_operation(const Recipe::LimitedOperation& operation, const Scalar* scalars) {
  std::array<std::optional<double>, max_arity> numbers;
  std::size_t count = 0;
  for (const auto& [scalar, constant] : operation.operands)
    numbers[count++] = scalar ? number_of(scalars[scalar->number].bits, arriving_dtype(scalar->arrives_as)) : constant;
  check_arguments(operation.op, std::span(numbers).first(count));
}

}  // namespace

void check_scalars(const Recipe& recipe, const Scalar* scalars) {
  for (const auto [number, dtype] : recipe.narrow_scalars())
    check_fits(static_cast<std::int64_t>(scalars[number].bits), dtype);
  for (const Recipe::LimitedOperation& operation : recipe.limited_operations()) check_operation(operation, scalars);
}

void check_castable(DType from, const TensorImpl& to) {
  if (can_cast(from, to.dtype)) return;
  throw DtypeError(
      fmt::format("result type {0} can't be cast to the desired output type {1}\n  the output is {2}\n  Convert "
                  "the result first, with .to<...>() or cast<...>(...), or write it to a {0} tensor",
                  name(from), name(to.dtype), runtime::describe(to)));
}

void check_output(const TensorImpl& to, const Shape& shape, Device device) {
  if (to.device != device)
    runtime::throw_different_devices(
        device, to.device,
        fmt::format("the output is {}, while the operands are on {}", runtime::describe(to), to_string(device)),
        fmt::format("Move the operands with .to(\"{}\"), or write to a tensor on {}", to_string(to.device),
                    to_string(device)));
  Shape merged = shape;
  if (!(shape == to.shape) && !(broadcast(merged, to.shape) && merged == to.shape))
    throw ShapeError(
        fmt::format("output with shape {} doesn't match the broadcast shape {}\n  the output is {}\n  A result "
                    "is written to an output of its own shape, or of one that it broadcasts to",
                    to_string(to.shape), to_string(shape), runtime::describe(to)));
  if (runtime::is_index(to))
    throw Error(fmt::format("{} is an index tensor, which has no memory to write to", runtime::describe(to)));
  if (overlaps_itself(to))
    throw Error(
        fmt::format("unsupported operation: more than one element of the written-to tensor refers to a single memory "
                    "location\n  the output is {}, strides {}\n  Write to a contiguous copy of it instead",
                    runtime::describe(to), to_string(to.strides)));
}

void check_apart(std::span<const runtime::TensorRef> outputs) {
  for (std::size_t j = 1; j < outputs.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (outputs[i] && outputs[j] && overlap_as_targets(*outputs[i], *outputs[j]))
        throw Error(
            fmt::format("unsupported operation: two outputs of one evaluation share memory\n  output {} is {}, strides "
                        "{}\n  output {} is {}, strides {}\n  Write to tensors that have no element in common, or "
                        "evaluate one after the other",
                        i, runtime::describe(*outputs[i]), to_string(outputs[i]->strides), j,
                        runtime::describe(*outputs[j]), to_string(outputs[j]->strides)));
}

}  // namespace sinter::inline v1::jit
