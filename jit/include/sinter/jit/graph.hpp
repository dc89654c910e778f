// The graph: untemplated nodes in topological order.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/ops.hpp>
#include <sinter/jit/program.hpp>

namespace sinter::inline v1::jit {

using NodeId = std::int32_t;
enum class FunctionId : std::uint64_t;  // of a device function: device_function.hpp

/// A result of a node. `output` numbers the results of operations that have several; those of the table have one.
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
  // leaf, iota, array: number of the leaf; scalar: see ScalarUse; constant: the value's bits; a reduction: its
  // ReduceAxes; matmul: its Transposed; call: its FunctionId; another recorded operation: weak_result if all its
  // operands are weak, so that promotion still treats it as a C++ scalar.
  std::uint64_t attribute = 0;
  friend bool operator==(const Node&, const Node&) = default;
};

inline constexpr std::uint64_t weak_result = 1;

/// Whether what a node computes depends on its attribute.
constexpr bool has_parameter(Op op) noexcept { return op < Op::cast || op == Op::call || changes_shape(op); }
/// The attribute, without a weak_result that nothing reads once dtypes are known. A cast's says that it need not round.
constexpr std::uint64_t lasting_attribute(const Node& n) noexcept {
  return has_parameter(n.op) || n.op == Op::cast ? n.attribute : 0;
}

/// The reduce axes of a reduction.
struct ReduceAxes {
  std::uint8_t axes = all_axes;  // bit i: the i-th axis before the last; bits past the number of dims are ignored
  bool keeps = false;            // reduce axes stay, with an extent of 1

  static constexpr std::uint8_t all_axes = 0xFF;
  /// As an attribute, which is never weak_result.
  constexpr std::uint64_t bits() const noexcept { return std::uint64_t{axes} << 8 | std::uint64_t{keeps} << 16; }
  static constexpr ReduceAxes of(std::uint64_t bits) noexcept {
    return {static_cast<std::uint8_t>(bits >> 8), (bits >> 16 & 1) != 0};
  }
  friend constexpr bool operator==(const ReduceAxes&, const ReduceAxes&) = default;
};

/// The operands of a matmul whose last two axes are swapped before they are multiplied. A vector stays as it is.
struct Transposed {
  bool a = false, b = false;

  /// As an attribute, which is never weak_result.
  constexpr std::uint64_t bits() const noexcept { return std::uint64_t{a} << 1 | std::uint64_t{b} << 2; }
  static constexpr Transposed of(std::uint64_t bits) noexcept { return {(bits >> 1 & 1) != 0, (bits >> 2 & 1) != 0}; }
};

/// The shape of a reduction's result.
Shape reduced_shape(const Shape& operand, ReduceAxes along);

/// Nodes, each after its operands. An operation's operands have its compute dtype: conversions are nodes.
class Graph {
 public:
  Operand leaf(DType dtype, std::uint32_t number);
  Operand iota(std::uint32_t number);
  Operand array(DType dtype, std::uint32_t number);
  /// The element of an array node at `offset`, an int64, counted in elements from the first.
  Operand load(Operand array, Operand offset);
  /// A scalar that arrives as `category` and is used as `dtype`.
  Operand scalar(DType dtype, Category category, std::uint32_t number);
  /// `bits` is the value in `dtype`, a real dtype, zero-extended.
  Operand constant(DType dtype, std::uint64_t bits);
  /// The operand itself if it has the dtype already. Throws DTypeError for a complex number and a real dtype.
  Operand cast(Operand a, DType dtype);
  /// Inserts the casts that the operation's rule requires. Scalars and constants are weak in promotion. Throws
  /// DTypeError.
  Operand apply(Op op, std::span<const Operand> operands) { return apply(op, operands, ReduceAxes()); }
  /// Applies a reduction along these axes.
  Operand apply(Op op, std::span<const Operand> operands, ReduceAxes along);
  /// Calls a device function with operands of its parameters' dtypes, or of dtypes that promote to them. Throws
  /// DTypeError, and Error for another number of operands.
  Operand call(FunctionId function, std::span<const Operand> operands);
  /// Adds a node unchanged; its operands must have the right dtypes. `operands` must not be the graph's own array.
  Operand node(Op op, DType dtype, std::span<const Operand> operands, std::uint64_t attribute = 0);
  /// A cast written by the user: its result is not weak, even for a scalar. A node even if the dtype is the same.
  Operand explicit_cast(Operand a, DType dtype);
  void output(Operand a);
  /// Reserves memory for this many nodes and operands.
  void reserve(std::size_t nodes, std::size_t operands);

  // Spans are made from pointers, which compiles in a fraction of the time of a conversion.
  std::span<const Node> nodes() const noexcept { return {nodes_.data(), nodes_.size()}; }
  const Node& operator[](Operand a) const noexcept { return nodes_[static_cast<std::size_t>(a.node)]; }
  std::span<const Operand> operands(const Node& n) const noexcept { return {operands_.data() + n.first, n.arity}; }
  std::span<const Operand> all_operands() const noexcept { return {operands_.data(), operands_.size()}; }
  std::span<const Operand> outputs() const noexcept { return {outputs_.data(), outputs_.size()}; }
  friend bool operator==(const Graph& a, const Graph& b) noexcept;

 private:
  Operand cast_to_complex(Operand a, DType dtype);

  std::vector<Node> nodes_;
  std::vector<Operand> operands_;
  std::vector<Operand> outputs_;
};

/// The part of a graph that some of its outputs need, with these outputs in this order.
Graph part_of(const Graph& graph, std::span<const std::uint32_t> outputs);

/// The dtype of a C++ number of a real category before it is converted.
constexpr DType arriving_dtype(Category category) noexcept {
  return category == Category::Bool ? DType::Bool : category == Category::Int ? DType::Int64 : DType::Float64;
}

/// Converts a value's bits between dtypes, both zero-extended: floats to integers truncate and saturate, NaN gives 0,
/// integers to narrower ones wrap, anything but 0 is true. Not for complex dtypes, which have no constants.
std::uint64_t convert_bits(std::uint64_t bits, DType from, DType to) noexcept;

/// -0 in a float dtype: adding it leaves every x unchanged.
std::uint64_t absent_addend_bits(DType dtype) noexcept;

/// A content hash; equal graphs have equal hashes.
Hash hash(const Graph& graph) noexcept;

/// The graph of a program. `dtypes` are those of the leaves; `same_as[i] <= i` is the first leaf that is the same array
/// as leaf i; `lacks_memory[i]` is whether leaf i has no memory: an iota tensor or, for floats, an absent addend
/// (empty: none). Scalars take the dtype that promotion with the tensors gives. Of `scalars`, only those that hold an
/// attribute are read. Throws DTypeError, and Error for an invalid program.
Graph record(const Program& program, std::span<const DType> dtypes, std::span<const std::uint16_t> same_as,
             std::span<const bool> lacks_memory = {}, std::span<const Scalar> scalars = {});

/// A graph of the same values with fewer nodes, and only from operations that executors support: common subexpressions
/// once, constants folded, x*y+z as fma, dead nodes removed. SINTER_FMA=off disables contraction to fma, for results
/// that equal eager ones bit for bit. With `keeps_shapes`, for graphs that reduce, a value keeps the leaves that give
/// it its shape (x * 0).
Graph simplify(const Graph& graph, bool keeps_shapes = false);

}  // namespace sinter::inline v1::jit
