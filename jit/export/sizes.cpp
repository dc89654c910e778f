#include "sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit::exporting {
namespace {

constexpr std::int64_t primes[] = {11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97};
constexpr std::int64_t first_stride_prime = 101;

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

/// Joins the axes that operations of the graph walk together.
void join_axes(const Graph& graph, const std::vector<Symbols>& leaves, Axes& axes) {
  std::vector<Symbols> values;
  for (const Node& n : graph.nodes()) {
    Symbols value;
    if (n.op == Op::leaf || n.op == Op::index) value = leaves[n.attribute];
    for (const Operand o : graph.operands(n)) value = broadcast(value, values[static_cast<std::size_t>(o.node)], axes);
    if (is_reduction(n.op) && info(n.op).reduction == Reduction::Reduces)
      value = reduce(value, ReduceAxes::of(n.attribute));
    values.push_back(std::move(value));
  }
}

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
      if (std::ranges::all_of(name, runtime::is_digit) && name != fmt::format("{}", leaves[i][a]))
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
      throw Error(fmt::format("sizes {} and {} name axes that the expression walks together: they are one size",
                              known->second, name));
  }
  std::map<int, std::size_t> numbers;
  for (const Symbols& of : symbols) {
    Shape shape;
    for (const int axis : of) {
      if (axis == one) {
        shape.push_back(1);
        continue;
      }
      const auto [known, is_new] = numbers.try_emplace(axes.find(axis), numbers.size());
      if (known->second >= std::size(primes))
        throw Error(fmt::format("an exported kernel has at most {} different sizes", std::size(primes)));
      if (is_new) names_.push_back(name_of.contains(known->first) ? name_of[known->first] : std::string());
      shape.push_back(primes[known->second]);
    }
    shapes_.push_back(shape);
  }
  int chosen = 0;
  for (std::string& name : names_)
    while (name.empty()) {
      const std::string candidate = fmt::format("s{}", chosen++);
      if (!named.contains(candidate)) name = candidate;
    }
}

std::vector<std::string> Sizes::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (!is_fixed(i)) names.push_back(names_[i]);
  return names;
}

std::vector<std::size_t> Sizes::factors(std::int64_t extent) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names_.size(); ++i)
    for (; extent > 1 && extent % primes[i] == 0; extent /= primes[i]) found.push_back(i);
  return found;
}

std::string Sizes::product(std::int64_t extent, const std::string& prefix) const {
  const std::vector<std::size_t> found = factors(extent);
  if (found.empty()) return fmt::format("{}", extent);
  std::string out;
  for (const std::size_t i : found) out += (out.empty() ? "" : " * ") + (prefix.empty() ? names_[i] : text(i, prefix));
  return out;
}

std::int64_t stride_prime(std::size_t i) {
  static const std::vector<std::int64_t> found = [] {
    std::vector<std::int64_t> list;
    for (std::int64_t n = first_stride_prime; list.size() < 512; n += 2) {
      bool is_prime = true;
      for (std::int64_t d = 3; d * d <= n && is_prime; d += 2) is_prime = n % d != 0;
      if (is_prime) list.push_back(n);
    }
    return list;
  }();
  if (i >= found.size()) throw Error("an exported kernel has at most 512 strides");
  return found[i];
}

}  // namespace sinter::inline v1::jit::exporting
