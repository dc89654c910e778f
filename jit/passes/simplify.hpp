// Building a graph without duplicate nodes.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

class Builder {
 public:
  using Operands = std::span<const Operand>;

  /// The value of a node: an existing equal node, a simpler one, or a new node.
  Operand make(Op op, DType dtype, Operands operands, std::uint64_t attribute = 0);
  Operand make(Op op, DType dtype, std::initializer_list<Operand> operands) {
    return make(op, dtype, Operands(operands.begin(), operands.size()));
  }
  /// `value` in `dtype`.
  Operand number(DType dtype, double value) { return make(Op::constant, dtype, Operands(), bits_of(dtype, value)); }

  const Node& operator[](Operand o) const noexcept { return graph_[o]; }
  Operand operand(Operand o, int i) const noexcept { return graph_.operands(graph_[o])[static_cast<std::size_t>(i)]; }
  /// Whether it is this constant, compared by bits: 0 is not -0.
  bool is(Operand o, double value) const noexcept {
    const Node& n = graph_[o];
    return n.op == Op::constant && n.attribute == bits_of(n.dtype, value);
  }
  Graph& graph() noexcept { return graph_; }
  void reserve(std::size_t nodes) {
    graph_.reserve(nodes, 2 * nodes);
    interned_.reserve(nodes);
  }

 private:
  struct Key {
    Op op{};
    DType dtype{};
    std::uint16_t arity = 0;
    std::uint32_t padding = 0;
    std::uint64_t attribute = 0;
    std::array<Operand, max_arity> operands{};
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };

  static std::uint64_t bits_of(DType dtype, double value) noexcept {
    return convert_bits(std::bit_cast<std::uint64_t>(value), DType::Float64, dtype);
  }
  Operand intern(Op op, DType dtype, Operands operands, std::uint64_t attribute);

  Graph graph_;
  std::unordered_map<Key, Operand, KeyHash> interned_;
};

/// A simpler value that equals the operation for every input, including NaN, infinities and -0; the sign and payload of
/// a NaN are not kept. Powers follow PyTorch: x^2 is x*x, x^3 is x*x*x, x^-1 is 1/x.
std::optional<Operand> rewrite(Builder& b, Op op, DType dtype, Builder::Operands operands);

}  // namespace sinter::inline v1::jit
