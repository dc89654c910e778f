// From an expression to the input of jit/: the program of its type and the values of its leaves.
#pragma once
#include <array>
#include <vector>

#include <sinter/dsl/expression.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1::detail {

[[noreturn]] void throw_moved_from();

/// Number of bytes that follow a code as its immediates.
constexpr int immediate_bytes(std::uint8_t code) noexcept {
  switch (code) {
    case static_cast<std::uint8_t>(Op::leaf):
    case static_cast<std::uint8_t>(Op::array):
    case static_cast<std::uint8_t>(Op::scalar):
    case static_cast<std::uint8_t>(Op::cast):
    case static_cast<std::uint8_t>(jit::Code::integer):
    case static_cast<std::uint8_t>(jit::Code::reference): return 1;
    case static_cast<std::uint8_t>(Op::constant): return 9;
    default: return 0;
  }
}

/// Calls f(operation, immediates) for each code.
template <class F>
constexpr void for_each_code(std::span<const std::uint8_t> code, F f) {
  for (std::size_t i = 0; i < code.size(); i += 1 + static_cast<std::size_t>(immediate_bytes(code[i])))
    f(static_cast<Op>(code[i]), code.subspan(i + 1));
}

constexpr bool takes_axes(Op code) noexcept {  // may be a jit::Code, which is not an operation
  return code >= first_reduction && static_cast<int>(code) < all_op_count && is_reduction(code);
}
/// Whether any operation reduces or multiplies matrices.
constexpr bool has_reshaping(std::span<const std::uint8_t> code) noexcept {
  bool found = false;
  for_each_code(code, [&](Op op, auto) { found |= takes_axes(op) || op == Op::matmul; });
  return found;
}

constexpr bool has_any_typed_leaf(std::span<const std::uint8_t> code) noexcept {
  bool found = false;
  for_each_code(code, [&](Op op, auto immediates) {
    found |= (op == Op::leaf || op == Op::array) && immediates[0] == jit::any_dtype;
  });
  return found;
}

/// Indices of the scalars that hold attributes.
template <int Scalars>
struct AttributeNumbers {
  std::array<std::uint16_t, Scalars + 1> numbers{};
  std::size_t count = 0;

  constexpr explicit AttributeNumbers(std::span<const std::uint8_t> code) {
    std::uint16_t scalar = 0;
    for_each_code(code, [&](Op op, auto) {
      const bool has_attribute = takes_axes(op) || op == Op::call;
      if (has_attribute) numbers[count++] = scalar;
      scalar += op == Op::scalar || has_attribute;
    });
  }
  constexpr std::span<const std::uint16_t> used() const noexcept { return std::span(numbers).first(count); }
};

/// What a tree's type determines: its program, and the call-site cache of its plans.
template <class Tree, int Leaves, int Scalars, int Results, int Bytes>
struct StaticProgram {
  static constexpr auto code = code_of<Tree, Bytes>();
  static constexpr AttributeNumbers<Scalars> attributes{code.used()};
  static constexpr jit::Program program{code.used(),      Leaves, Scalars, Results, has_any_typed_leaf(code.used()),
                                        attributes.used()};
  static inline constinit jit::CallSiteCache site{};
};

template <class E>
using ProgramOf = StaticProgram<typename E::tree, E::leaf_count, E::scalar_count, 1, E::byte_count>;

/// Whether an expression reduces or multiplies matrices, so that its shape differs from its leaves' shapes.
template <class E>
inline constexpr bool reshapes = has_reshaping(ProgramOf<E>::code.used());

/// Which leaves are gathered from (read at computed positions): they do not take part in the expression's shape.
template <class E>
inline constexpr auto is_array_leaf = [] {
  std::array<bool, E::leaf_count + 1> is_array{};
  std::size_t leaf = 0;
  for_each_code(ProgramOf<E>::code.used(), [&](Op op, auto) {
    if (is_leaf(op)) is_array[leaf++] = op == Op::array;
  });
  return is_array;
}();

/// The leaves that are not gathered from.
template <class E>
std::vector<runtime::TensorImpl*> elementwise_leaves(const E& e) {
  std::vector<runtime::TensorImpl*> leaves;
  for (std::size_t i = 0; i < E::leaf_count; ++i)
    if (!is_array_leaf<E>[i]) leaves.push_back(e.value.leaves[i]);
  return leaves;
}
std::vector<runtime::TensorImpl*> elementwise_leaves(const jit::Recorded& e);
bool has_reshaping(const jit::Recorded& e) noexcept;

#define SINTER_NAMED_OUTSIDE                                                             \
  "an operand of let or function has no value inside the body: evaluate, view, join or " \
  "index it outside, and pass the result in"

/// One expression with its values; borrows from `e`.
template <class E>
jit::Bound bind(const E& e) {
  static_assert(!HasFreeNames<typename E::tree>::value, SINTER_NAMED_OUTSIDE);
  using R = ProgramOf<E>;
  if (!e.value.owns) throw_moved_from();
  return {&R::site, &R::program, e.value.leaves, e.value.scalars};
}

/// Several expressions as one evaluation with one result each; borrows their leaves.
template <class... E>
class BoundTogether {
 public:
  explicit BoundTogether(const E&... e) {
    static_assert((!HasFreeNames<typename E::tree>::value && ...), SINTER_NAMED_OUTSIDE);
    runtime::TensorImpl** leaf = values_.leaves;
    jit::Scalar* scalar = values_.scalars;
    if (!(e.value.owns && ...)) throw_moved_from();
    ((leaf = append(leaf, e.value.leaves, E::leaf_count), scalar = append(scalar, e.value.scalars, E::scalar_count)),
     ...);
  }
  jit::Bound bound() const noexcept { return {&R::site, &R::program, values_.leaves, values_.scalars}; }

 private:
  static constexpr int leaf_count = (E::leaf_count + ...);
  static constexpr int scalar_count = (E::scalar_count + ...);
  using R = StaticProgram<Outputs<typename E::tree...>, leaf_count, scalar_count, sizeof...(E), (E::byte_count + ...)>;

  Values<leaf_count, scalar_count> values_;
};

}  // namespace sinter::inline v1::detail
