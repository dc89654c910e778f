#include "sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit::exporting {
namespace {

constexpr std::int64_t first_example = 11, first_example_stride = std::int64_t{1} << 20;

/// Which axes have one size: sets of axes, by union and find.
class Axes {
 public:
  int add() {
    parents_.push_back(static_cast<int>(parents_.size()));
    return parents_.back();
  }
  int find(int axis) {
    while (parents_[static_cast<std::size_t>(axis)] != axis) axis = parents_[static_cast<std::size_t>(axis)];
    return axis;
  }
  void join(int a, int b) {
    a = find(a), b = find(b);
    parents_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<int> parents_;
};

constexpr int one = -1;            // an extent of 1, which is no size
using Symbols = std::vector<int>;  // of a value's axes, outermost first

Symbols broadcast(const Symbols& a, const Symbols& b, Axes& axes) {
  Symbols out = a.size() < b.size() ? b : a;
  const Symbols& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    int& to = out[out.size() - 1 - i];
    const int from = other[other.size() - 1 - i];
    if (to != one && from != one) axes.join(to, from);
    if (to == one) to = from;
  }
  return out;
}

Symbols reduce(const Symbols& a, ReduceAxes along) {
  Symbols out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t from_end = a.size() - 1 - i;
    const bool reduced = from_end < 8 && (along.axes >> from_end & 1);
    if (!reduced)
      out.push_back(a[i]);
    else if (along.keeps)
      out.push_back(one);
  }
  return out;
}

/// Joins the axes that operations of the graph iterate over together.
void join_axes(const Graph& graph, const std::vector<Symbols>& leaves, Axes& axes) {
  std::vector<Symbols> values;
  for (const Node& n : graph.nodes()) {
    Symbols value;
    if (is_element_leaf(n.op)) value = leaves[n.attribute];
    for (const Operand o : graph.operands(n)) value = broadcast(value, values[static_cast<std::size_t>(o.node)], axes);
    if (is_reduction(n.op) && info(n.op).reduction == Reduction::Reduces)
      value = reduce(value, ReduceAxes::of(n.attribute));
    values.push_back(std::move(value));
  }
}

bool is_number(const std::string& name) { return !name.empty() && std::ranges::all_of(name, runtime::is_digit); }

std::string axis_name(std::span<const std::vector<std::string>> names, std::size_t leaf, std::size_t axis) {
  return leaf < names.size() && axis < names[leaf].size() ? names[leaf][axis] : std::string();
}

}  // namespace

Sizes::Sizes(const Graph& recorded, std::span<const Shape> leaves, std::span<const std::vector<std::string>> names,
             std::span<const EqualAxes> equal) {
  Axes axes;
  std::vector<Symbols> symbols;
  std::map<std::string, std::pair<int, std::int64_t>> named;  // their axis and extent
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Symbols& of = symbols.emplace_back();
    for (int a = 0; a < leaves[i].ndim(); ++a) {
      of.push_back(leaves[i][a] == 1 ? one : axes.add());
      const std::string name = axis_name(names, i, static_cast<std::size_t>(a));
      if (name.empty()) continue;
      if (of.back() == one)
        throw Error(
            fmt::format("size {} names axis {} of input {}, which has the extent 1 and is broadcast: give the "
                        "input an extent that is not 1 where the exported kernel is to take a size",
                        name, a, i));
      if (is_number(name) && name != fmt::format("{}", leaves[i][a]))
        throw Error(fmt::format("axis {} of input {} is to stay {}, but its extent is {}", a, i, name, leaves[i][a]));
      const auto [known, is_new] = named.try_emplace(name, of.back(), leaves[i][a]);
      if (!is_new && known->second.second != leaves[i][a])
        throw Error(fmt::format("size {} is {} in one input and {} in input {}: one name is one size", name,
                                known->second.second, leaves[i][a], i));
      axes.join(known->second.first, of.back());
    }
  }
  join_axes(recorded, symbols, axes);
  const auto symbol = [&](std::uint32_t leaf, int axis) { return symbols[leaf][static_cast<std::size_t>(axis)]; };
  for (const EqualAxes& e : equal) axes.join(symbol(e.leaf, e.axis), symbol(e.other, e.other_axis));
  std::map<int, std::string> name_of;
  for (const auto& [name, of] : named) {
    const auto [known, is_new] = name_of.try_emplace(axes.find(of.first), name);
    if (!is_new)
      throw Error(
          fmt::format("sizes {} and {} name axes that the expression iterates over together: give them one name",
                      known->second, name));
  }
  std::map<int, Extent> extents;  // by axis
  std::set<std::int64_t> fixed;
  for (const auto& [axis, name] : name_of)
    if (is_number(name)) fixed.insert(extents.emplace(axis, std::stoll(name)).first->second.factor());
  for (const Symbols& of : symbols) {
    SymbolicShape& shape = shapes_.emplace_back();
    for (const int axis : of) {
      if (axis == one) {
        shape.push_back(1);
        continue;
      }
      const int set = axes.find(axis);
      const auto [known, is_new] = extents.try_emplace(set, Extent::symbol(static_cast<int>(names_.size())));
      if (is_new) names_.push_back(name_of.contains(set) ? name_of[set] : std::string());
      shape.push_back(known->second);
    }
  }
  sizes_ = names_.size();
  int chosen = 0;
  for (std::string& name : names_)
    while (name.empty()) {
      const std::string candidate = fmt::format("s{}", chosen++);
      if (!named.contains(candidate)) name = candidate;
    }
  for (std::int64_t next = first_example; examples_.size() < sizes_; ++next)
    if (!fixed.contains(next)) examples_.push_back(next);
}

Extent Sizes::stride(std::string name) {
  const auto number = static_cast<int>(names_.size());
  names_.push_back(std::move(name));
  examples_.push_back(first_example_stride + number);
  return Extent::symbol(number);
}

std::string Sizes::text(const Extent& extent, const std::string& prefix) const {
  std::string out;
  if (extent.is_number() || extent.factor() != 1) out = fmt::format("{}", extent.factor());
  for (const int id : extent.symbols())
    out += (out.empty() ? "" : " * ") + prefix + names_[static_cast<std::size_t>(id)];
  return out;
}

std::int64_t Sizes::example(const Extent& extent) const {
  Extent product = extent.factor();
  for (const int id : extent.symbols()) product *= examples_[static_cast<std::size_t>(id)];
  return product.factor();
}

Shape Sizes::example(const SymbolicShape& shape) const {
  Shape out;
  for (const Extent& e : shape) out.push_back(example(e));
  return out;
}

LoopNest Sizes::example(const SymbolicNest& nest) const {
  LoopNest out{.ndim = nest.ndim, .contiguous = nest.contiguous, .outputs = nest.outputs, .reduced = nest.reduced};
  out.operands.resize(nest.operands.size());
  for (std::size_t k = 0; k < nest.operands.size(); ++k)
    out.operands[k].data = nest.operands[k].data, out.operands[k].first = nest.operands[k].first;
  out.numel = example(nest.numel);
  Extent step = 1;  // of a contiguous operand
  for (int d = nest.ndim - 1; d >= 0; step *= nest.extents[d--]) {
    out.extents[d] = example(nest.extents[d]);
    for (std::size_t k = 0; k < nest.operands.size(); ++k) {
      const Extent& stride = nest.operands[k].strides[d];
      const std::int64_t number = example(stride);
      out.operands[k].strides[d] = number + (number == example(step) && !(stride == step));
    }
  }
  return out;
}

Extent Sizes::of_example(std::int64_t number) const {
  const auto found = std::ranges::find(examples_, number);
  return found == examples_.end() ? Extent(number) : Extent::symbol(static_cast<int>(found - examples_.begin()));
}

SymbolicShape Sizes::of_example(const Shape& shape) const {
  SymbolicShape out;
  for (const std::int64_t extent : shape) out.push_back(of_example(extent));
  return out;
}

}  // namespace sinter::inline v1::jit::exporting
