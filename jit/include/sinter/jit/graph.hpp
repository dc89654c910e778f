// The graph: plain nodes in topological order. From here on no template is involved.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/ops.hpp>
#include <sinter/jit/program.hpp>

namespace sinter::inline v1::jit {

using NodeId = std::int32_t;

/// A result of a node. Every operation of the table has one; `output` numbers the results of those with several.
struct Operand {
  NodeId node = -1;
  std::uint32_t output = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Node {
  Op op;
  DType dtype;  // of the result
  std::uint16_t arity = 0;
  std::uint32_t first = 0;  // its operands are [first, first + arity) of Graph::operands()
  // leaf, index, array: number of the leaf; scalar: see ScalarUse; constant: the value's bits; a reduction: its Along;
  // a recorded operation: weak_result where all its operands are weak, so that promotion sees it as a C++ scalar still.
  std::uint64_t attribute = 0;
  friend bool operator==(const Node&, const Node&) = default;
};

inline constexpr std::uint64_t weak_result = 1;

/// Which axes of its operand a reduction combines.
struct Along {
  std::uint8_t axes = all_axes;  // bit i: the axis that is i before the last; bits past the rank say nothing
  bool keeps = false;            // combined axes stay, with an extent of 1

  static constexpr std::uint8_t all_axes = 0xFF;
  /// As an attribute, which is no weak_result.
  constexpr std::uint64_t bits() const noexcept { return std::uint64_t{axes} << 8 | std::uint64_t{keeps} << 16; }
  static constexpr Along of(std::uint64_t bits) noexcept {
    return {static_cast<std::uint8_t>(bits >> 8), (bits >> 16 & 1) != 0};
  }
  friend constexpr bool operator==(const Along&, const Along&) = default;
};

/// The shape of a reduction's result.
Shape reduced_shape(const Shape& operand, Along along);

/// Nodes, each after its operands. Operands of an operation have the dtypes that it computes in: conversions are nodes.
class Graph {
 public:
  Operand leaf(DType dtype, std::uint32_t number);
  Operand index(std::uint32_t number);
  Operand array(DType dtype, std::uint32_t number);
  /// The element of an array node that lies `offset` elements, an int64, from the first.
  Operand load(Operand array, Operand offset);
  /// A scalar that arrives as `category` and is used as `dtype`.
  Operand scalar(DType dtype, Category category, std::uint32_t number);
  /// `bits` is the value in `dtype`, a real one, zero-extended.
  Operand constant(DType dtype, std::uint64_t bits);
  /// The operand itself where it has the dtype already. Throws DtypeError for a complex number as a real one.
  Operand cast(Operand a, DType dtype);
  /// Inserts the casts that the operation's rule asks for. Scalars and constants are weak in promotion. Throws
  /// DtypeError.
  Operand apply(Op op, std::span<const Operand> operands) { return apply(op, operands, Along()); }
  /// The same for a reduction.
  Operand apply(Op op, std::span<const Operand> operands, Along along);
  /// Adds a node as it is; its operands must have the right dtypes. `operands` is not the graph's own array.
  Operand node(Op op, DType dtype, std::span<const Operand> operands, std::uint64_t attribute = 0);
  /// A cast that the user wrote: its result is not weak, even of a scalar. Stays a node where the dtype is the same.
  Operand explicit_cast(Operand a, DType dtype);
  void output(Operand a) { outputs_.push_back(a); }
  /// Room for so many nodes and operands.
  void reserve(std::size_t nodes, std::size_t operands);

  std::span<const Node> nodes() const noexcept { return nodes_; }
  const Node& operator[](Operand a) const noexcept { return nodes_[static_cast<std::size_t>(a.node)]; }
  std::span<const Operand> operands(const Node& n) const noexcept { return {operands_.data() + n.first, n.arity}; }
  std::span<const Operand> all_operands() const noexcept { return operands_; }
  std::span<const Operand> outputs() const noexcept { return outputs_; }
  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  Operand cast_to_complex(Operand a, DType dtype);

  std::vector<Node> nodes_;
  std::vector<Operand> operands_;
  std::vector<Operand> outputs_;
};

/// What some of a graph's outputs need of it, with these outputs in this order.
Graph part_of(const Graph& graph, std::span<const std::uint32_t> outputs);

/// What a C++ number of a category, which is not complex, is before it is converted.
constexpr DType arriving_dtype(Category category) noexcept {
  return category == Category::Bool ? DType::Bool : category == Category::Int ? DType::Int64 : DType::Float64;
}

/// A value of one dtype as one of another, both zero-extended: floats to integers truncate and saturate, NaN gives 0,
/// integers to narrower ones wrap, anything but 0 is true. Not for complex dtypes, of which there are no constants.
std::uint64_t convert_bits(std::uint64_t bits, DType from, DType to) noexcept;

/// -0 in a float dtype, which x + y leaves as x is.
std::uint64_t absent_addend_bits(DType dtype) noexcept;

/// A content hash; equal graphs have equal hashes.
Hash hash(const Graph& graph) noexcept;

/// The graph of a program. `dtypes` are those of the leaves, `same_as[i] <= i` the first leaf that is the same array as
/// leaf i, `is_index[i]` whether leaf i has no memory: an index tensor, or of floats an absent addend (empty: none is).
/// Scalars used with tensors take the dtype that promotion gives them. Of `scalars`, those are read that say what a
/// reduction combines. Throws DtypeError, and Error for a program that makes no sense.
Graph record(const Program& program, std::span<const DType> dtypes, std::span<const std::uint16_t> same_as,
             std::span<const bool> is_index = {}, std::span<const Scalar> scalars = {});

/// The same values from operations that executors have, and fewer nodes: common subexpressions once, constants folded,
/// x*y+z as fma, dead nodes gone. Contracting to fma is left out under SINTER_FMA=off, for results that equal eager
/// ones bit for bit. With `keeps_shapes`, as where the graph reduces, no value loses its shape with a leaf (x * 0).
Graph simplify(const Graph& graph, bool keeps_shapes = false);

}  // namespace sinter::inline v1::jit
