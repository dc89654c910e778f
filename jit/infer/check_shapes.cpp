#include "check_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <runtime/different_devices.hpp>
#include <sinter/runtime/error.hpp>
#include "../functions/functions.hpp"
#include "product_shape.hpp"
#include "shapes.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;

/// What is inferred about a node's value; a scalar has no device and no shape.
struct Inferred {
  std::optional<Device> device;
  Shape shape;
  bool is_scalar = true;
  bool is_array = false;  // an array of indirect loads: its shape does not broadcast with others
};

std::string describe(DType dtype, const Inferred& k) {
  if (k.is_scalar) return fmt::format("{} scalar", name(dtype));
  return fmt::format("{} {} on {}", name(dtype), to_string(k.shape), to_string(*k.device));
}

/// Propagates devices and shapes through a graph, up to the first operation with incompatible operands.
class Inference {
 public:
  Inference(const Graph& graph, Leaves leaves, bool checks_products = true)
      : graph_(graph), leaves_(leaves), checks_products_(checks_products), known_(graph.nodes().size()) {}

  /// Calls meet(known, operand) for every operand of every node. Returns the first node for which it returns false, or
  /// the first product of matrices whose shapes do not match.
  template <class Meet>
  const Node* first_failure(Meet meet) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Node& n = graph_.nodes()[i];
      if (is_element_leaf(n.op)) {
        const TensorImpl& t = *leaves_[n.attribute];
        known_[i] = {t.device, t.shape, false};
      } else if (n.op == Op::array) {
        const TensorImpl& t = *leaves_[n.attribute];
        known_[i] = {t.device, t.shape, false, true};
      }
      for (const Operand o : graph_.operands(n)) {
        const Inferred& operand = known_[static_cast<std::size_t>(o.node)];
        if (operand.is_scalar) continue;
        if (known_[i].is_scalar) known_[i] = {operand.device, Shape(), false};
        const bool meets_none = operand.is_array || n.op == Op::matmul;
        if (!meet(known_[i], meets_none ? Inferred{operand.device, Shape(), false} : operand)) return &n;
      }
      if (info(n.op).reduction == Reduction::Reduces)
        known_[i].shape = reduced_shape(known_[i].shape, ReduceAxes::of(n.attribute));
      if (n.op == Op::matmul) {
        const std::optional<Shape> shape =
            product_shape(operand(n, 0).shape, operand(n, 1).shape, Transposed::of(n.attribute));
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
    return fmt::format("in {}({}), where{}", operation_name(n), call, lines);
  }

  const Inferred& operator[](Operand o) const { return known_[static_cast<std::size_t>(o.node)]; }
  const Inferred& operand(const Node& n, std::size_t i) const { return (*this)[graph_.operands(n)[i]]; }

 private:
  /// Skips conversions that promotion inserted, which users have not written.
  std::string describe_value(Operand o) const {
    while (graph_[o].op == Op::cast) o = graph_.operands(graph_[o])[0];
    return describe(graph_[o].dtype, (*this)[o]);
  }

  const Graph& graph_;
  Leaves leaves_;
  bool checks_products_;
  std::vector<Inferred> known_;
};

/// PyTorch's message for two shapes that do not broadcast.
std::string mismatch(const Shape& a, const Shape& b) {
  const int ndim = std::max(a.ndim(), b.ndim());
  for (int axis = ndim - 1; axis >= 0; --axis) {
    const int i = axis - (ndim - a.ndim()), j = axis - (ndim - b.ndim());
    if (i >= 0 && j >= 0 && a[i] != b[j] && a[i] != 1 && b[j] != 1)
      return fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}",
                         a[i], b[j], axis);
  }
  return "The shapes do not broadcast";
}

[[noreturn]] void throw_shapes_differ(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves);
  std::string first;
  const Node* failed = inference.first_failure([&](Inferred& known, const Inferred& operand) {
    Shape merged = known.shape;
    if (broadcast(merged, operand.shape)) return known.shape = merged, true;
    first = mismatch(known.shape, operand.shape);
    return false;
  });
  if (failed && failed->op == Op::matmul) {
    const Transposed transposes = Transposed::of(failed->attribute);
    const Shape a = transposed(inference.operand(*failed, 0).shape, transposes.a),
                b = transposed(inference.operand(*failed, 1).shape, transposes.b);
    throw ShapeError(fmt::format("{}\n  {}\n  {}", product_mismatch(a, b), inference.describe_operation(*failed),
                                 product_advice(a, b)));
  }
  throw ShapeError(
      fmt::format("{}\n  {}\n  Shapes are aligned at the last dimension: extents must be equal, or one of them 1. "
                  "Use reshape, unsqueeze or a slice to make the shapes match",
                  first, failed ? inference.describe_operation(*failed) : ""));
}

}  // namespace

void throw_devices_differ(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves, false);
  Device one, other;
  const auto meet = [&](Inferred& known, const Inferred& operand) {
    if (known.device == operand.device) {
      if (!broadcast(known.shape, operand.shape)) known.shape = operand.shape;
      return true;
    }
    one = *known.device, other = *operand.device;
    return false;
  };
  std::string where = "in evaluate(...), whose expressions must all be on one device";
  if (const Node* failed = inference.first_failure(meet)) {
    where = inference.describe_operation(*failed);
  } else {
    for (const Operand o : recorded.outputs()) {
      const Inferred& k = inference[o];
      if (k.is_scalar) continue;
      const bool is_first = o == recorded.outputs()[0];
      (is_first ? one : other) = *k.device;
      where += fmt::format("\n    {}", describe(recorded[o].dtype, k));
      if (!is_first && one != other) break;
    }
  }
  runtime::throw_different_devices(one, other, where);
}

Shape broadcast_shape(const Graph& recorded, std::span<const std::uint32_t> numbers, Leaves leaves) {
  if (numbers.empty()) return Shape();
  Shape shape = leaves[numbers[0]]->shape;
  for (const std::uint32_t number : numbers.subspan(1)) {
    const Shape& other = leaves[number]->shape;
    if (!(shape == other) && !broadcast(shape, other)) throw_shapes_differ(recorded, leaves);
  }
  return shape;
}

namespace {

/// The shapes of all nodes, checked.
std::vector<Shape> checked_shapes(const Graph& recorded, Leaves leaves) {
  Inference inference(recorded, leaves);
  const Node* failed = inference.first_failure(
      [](Inferred& known, const Inferred& operand) { return broadcast(known.shape, operand.shape); });
  if (failed) throw_shapes_differ(recorded, leaves);
  std::vector<Shape> shapes = shapes_of(recorded, shapes_of_leaves(leaves));
  check_has_elements(recorded, shapes);
  return shapes;
}

}  // namespace

Shape output_shape(const Graph& recorded, Operand output, Leaves leaves) {
  if (depends_on_shapes(recorded)) return checked_shapes(recorded, leaves)[static_cast<std::size_t>(output.node)];
  return broadcast_shape(recorded, leaves_of(recorded, output).elementwise, leaves);
}

void check_shapes(const Graph& recorded, Leaves leaves) { (void)checked_shapes(recorded, leaves); }

}  // namespace sinter::inline v1::jit
