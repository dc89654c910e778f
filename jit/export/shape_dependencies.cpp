#include "shape_dependencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include <runtime/text.hpp>
#include <sinter/jit/export.hpp>
#include <sinter/runtime/error.hpp>
#include "../plan/plan.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

class Finder {
 public:
  Finder(const Recorded& from, std::string_view name) : from_(from), graph_(from.graph), name_(name) {}

  ShapeDependencies find() {
    for (const Node& n : graph_.nodes()) {
      if (n.op == Op::load) load(n);
      if (n.op == Op::eq) classes(n);
      if (n.op == Op::array) add_once(found_.arrays, leaf_of(n));
    }
    for (const Node& n : graph_.nodes()) {
      if (takes_classes(n) && !is_extent(graph_.operands(n)[1]))
        refuse(
            "it uses a class count that is not the extent of any tensor. Evaluate the classes to a tensor, and export "
            "the rest");
      if (n.op == Op::iota && !is_known(leaf_of(n))) own_iota(leaf_of(n));
    }
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(fmt::format("{} cannot be exported: {}", runtime::quote(name_), why));
  }
  static std::uint32_t leaf_of(const Node& n) { return static_cast<std::uint32_t>(n.attribute); }
  static bool takes_classes(const Node& n) { return n.op == Op::class_index; }
  static void add_once(std::vector<std::uint32_t>& to, std::uint32_t leaf) {
    if (std::ranges::find(to, leaf) == to.end()) to.push_back(leaf);
  }
  const runtime::TensorImpl& tensor(std::uint32_t leaf) const { return *from_.leaves[leaf]; }
  bool is_known(std::uint32_t leaf) const {
    return std::ranges::find(found_.leaves, leaf, &IotaLeaf::leaf) != found_.leaves.end();
  }
  bool is_extent(Operand o) const {
    return graph_[o].op == Op::scalar && found_.scalars.contains(scalar_use(graph_[o]).number);
  }

  void own_iota(std::uint32_t leaf) {
    const runtime::TensorImpl& t = tensor(leaf);
    if (!t.contiguous || t.first != 0)
      refuse(
          "it takes a view of elements' positions (a slice or a transpose of random numbers or of arange). Evaluate it "
          "to a tensor first, and export the rest");
    found_.leaves.push_back({leaf});
  }

  /// Whether ids are of each class: the number of classes is the extent of their positions.
  void classes(const Node& n) {
    const Node& class_of = before_cast(graph_.operands(n)[0]);
    const Node& position = before_cast(graph_.operands(n)[1]);
    if (!takes_classes(class_of) || position.op != Op::iota) return;
    const std::uint32_t leaf = leaf_of(position);
    const Shape& shape = tensor(leaf).shape;
    const auto is_long = [](std::int64_t extent) { return extent != 1; };
    const auto axis = static_cast<int>(std::ranges::find_if(shape, is_long) - shape.begin());
    if (std::ranges::count_if(shape, is_long) == 1) set_scalar(graph_.operands(class_of)[1], {leaf, axis, axis + 1});
  }
  const Node& before_cast(Operand o) const {
    const Node& n = graph_[o];
    return n.op == Op::cast ? graph_[graph_.operands(n)[0]] : n;
  }

  void set_scalar(Operand o, LeafExtents extents) {
    if (graph_[o].op == Op::scalar) found_.scalars.insert_or_assign(scalar_use(graph_[o]).number, extents);
  }

  std::int64_t value(Operand o) const {
    const Node& n = graph_[o];
    return static_cast<std::int64_t>(n.op == Op::scalar ? from_.scalars[scalar_use(n).number].bits : n.attribute);
  }

  /// An element of an array, at position * stride for one axis and the positions of the others.
  void load(const Node& n) {
    const std::uint32_t array = leaf_of(graph_[graph_.operands(n)[0]]);
    Operand offset = graph_.operands(n)[1];
    std::optional<std::uint32_t> others;
    if (graph_[offset].op == Op::add && graph_[graph_.operands(graph_[offset])[1]].op == Op::iota) {
      others = leaf_of(graph_[graph_.operands(graph_[offset])[1]]);
      offset = graph_.operands(graph_[offset])[0];
    }
    if (graph_[offset].op != Op::axis_offset)
      refuse(
          "it gathers with offsets that do not come from an index along a single axis (weights of classes). Gather "
          "them first");
    const auto operands = graph_.operands(graph_[offset]);
    const int axis = others ? add_others(array, *others, value(operands[1])) : 0;
    const int ndim = tensor(array).ndim();
    set_scalar(operands[1], {array, axis, std::min(axis + 1, ndim)});
    set_scalar(operands[2], {array, std::min(axis + 1, ndim), ndim});
  }

  /// The axis that indices run along; the others are equal in the array and in the leaf of positions.
  int add_others(std::uint32_t array, std::uint32_t leaf, std::int64_t extent) {
    const Shape &x = tensor(array).shape, &other = tensor(leaf).shape;
    const int dropped = x.ndim() - other.ndim();
    IotaLeaf positions{leaf, array};
    int axis = dropped > 0 ? 0 : -1;
    for (int d = 0; d < other.ndim() && axis < 0; ++d)
      if (other[d] == 1 && x[d] == extent) axis = d;
    for (int d = 0; d < other.ndim(); ++d) {
      const int of_array = d + dropped;
      const bool is_along = dropped == 0 && d == axis;
      positions.axes.push_back(is_along || x[of_array] == 1 ? -1 : of_array);
      if (is_along) continue;
      if (other[d] != x[of_array])
        refuse(fmt::format(
            "a gather's index has the extent {} along axis {}, where what it reads from has {}. Export it with equal "
            "ones, or with a slice of that as its input",
            other[d], d, x[of_array]));
      if (x[of_array] != 1) found_.equal.push_back({leaf, d, array, of_array});
    }
    if (!is_known(leaf)) found_.leaves.push_back(std::move(positions));
    return std::max(axis, 0);
  }

  const Recorded& from_;
  const Graph& graph_;
  std::string_view name_;
  ShapeDependencies found_;
};

}  // namespace

ShapeDependencies find_shape_dependencies(const Recorded& expression, std::string_view name) {
  return Finder(expression, name).find();
}

}  // namespace sinter::inline v1::jit::exporting

namespace sinter::inline v1::jit {

std::vector<std::uint32_t> nameable_numbers(const Export& kernel) {
  const exporting::ShapeDependencies dependencies =
      exporting::find_shape_dependencies(kernel.expression, kernel.options.name);
  std::set<std::uint32_t> found;
  for (const Node& n : kernel.expression.graph.nodes())
    if (n.op == Op::scalar && !dependencies.scalars.contains(scalar_use(n).number)) found.insert(scalar_use(n).number);
  return {found.begin(), found.end()};
}

}  // namespace sinter::inline v1::jit
