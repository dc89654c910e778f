// From an expression to what jit/ takes: the program of its type and the values of its leaves.
#pragma once
#include <sinter/dsl/expression.hpp>
#include <sinter/jit/evaluate.hpp>

namespace sinter::inline v1::detail {

[[noreturn]] void throw_moved_from();

/// Bytes that follow a code as its immediates.
constexpr int immediate_bytes(std::uint8_t code) noexcept {
  switch (code) {
    case static_cast<std::uint8_t>(Op::leaf):
    case static_cast<std::uint8_t>(Op::scalar):
    case static_cast<std::uint8_t>(Op::cast):
    case static_cast<std::uint8_t>(jit::Code::integer):
    case static_cast<std::uint8_t>(jit::Code::reference): return 1;
    case static_cast<std::uint8_t>(Op::constant): return 9;
    default: return 0;
  }
}

constexpr bool has_any_typed_leaf(std::span<const std::uint8_t> code) noexcept {
  for (std::size_t i = 0; i < code.size(); i += 1 + static_cast<std::size_t>(immediate_bytes(code[i])))
    if (code[i] == static_cast<std::uint8_t>(Op::leaf) && code[i + 1] == jit::any_dtype) return true;
  return false;
}

/// What belongs to the type of a tree: its program, and the entry through which its plans are found again.
template <class Tree, int Leaves, int Scalars, int Results, int Bytes>
struct StaticProgram {
  static constexpr auto code = code_of<Tree, Bytes>();
  static constexpr jit::Program program{code.used(), Leaves, Scalars, Results, has_any_typed_leaf(code.used())};
  static inline constinit jit::Entry entry{};
};

template <class E>
using ProgramOf = StaticProgram<typename E::tree, E::leaf_count, E::scalar_count, 1, E::byte_count>;

/// One expression with its values; borrows from `e`.
template <class E>
jit::Bound bind(const E& e) {
  using R = ProgramOf<E>;
  if (!e.value.owns) throw_moved_from();
  return {&R::entry, &R::program, e.value.leaves, e.value.scalars};
}

/// Several expressions as one evaluation with as many results; borrows their leaves.
template <class... E>
class BoundTogether {
 public:
  explicit BoundTogether(const E&... e) {
    runtime::TensorImpl** leaf = values_.leaves;
    jit::Scalar* scalar = values_.scalars;
    if (!(e.value.owns && ...)) throw_moved_from();
    ((leaf = append(leaf, e.value.leaves, E::leaf_count), scalar = append(scalar, e.value.scalars, E::scalar_count)),
     ...);
  }
  jit::Bound bound() const noexcept { return {&R::entry, &R::program, values_.leaves, values_.scalars}; }

 private:
  static constexpr int leaf_count = (E::leaf_count + ...);
  static constexpr int scalar_count = (E::scalar_count + ...);
  using R = StaticProgram<Outputs<typename E::tree...>, leaf_count, scalar_count, sizeof...(E), (E::byte_count + ...)>;

  Values<leaf_count, scalar_count> values_;
};

}  // namespace sinter::inline v1::detail
