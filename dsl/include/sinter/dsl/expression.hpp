// Expressions: the type holds the tree; the value is flat, with leaf handles and scalars in tree order.
#pragma once
#include <concepts>
#include <cstring>
#include <type_traits>

#include <sinter/dsl/device_rules.hpp>
#include <sinter/dsl/methods.hpp>
#include <sinter/dsl/tree.hpp>
#include <sinter/dsl/view.hpp>

namespace sinter::inline v1 {

namespace adl {
struct Operand {};
}  // namespace adl

namespace detail {

#define SINTER_NO_NUMBER "a tensor or an expression is no C++ number: item() reads its only element"
#define SINTER_NO_CONDITION                                                                                            \
  "a tensor or an expression is no condition: write (x == y).all().item() or equal(x, y), & and | for && and ||, and " \
  "where(c, x, y) for c ? x : y"

#define SINTER_NO_ROWS "a loop over rows needs them in memory: Tensor y = x + 1; for (auto row : y)"

struct NoRows;

/// Its namespace has the functions that argument-dependent lookup finds.
struct ExpressionTag : adl::Operand {};

/// Base class of every expression: On<its device type>, so that the device check deduces nothing but devices.
template <class D>
struct On : ExpressionTag {
  using device_type = D;

  /// Rejected, with a message. Explicit: an implicit conversion would make f(double) and f(Tensor) ambiguous.
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit(!std::is_same_v<D, ErrorDevice>) operator S() const {
    static_assert(!std::is_same_v<S, bool> || std::is_same_v<D, ErrorDevice>, SINTER_NO_CONDITION);
    static_assert(std::is_same_v<S, bool> || std::is_same_v<D, ErrorDevice>, SINTER_NO_NUMBER);
    return {};
  }
  /// Rejected, with a message.
  template <class X = D>
  NoRows begin() const;
  NoRows end() const;
};

/// Holds each non-null leaf (SharedCount).
void hold(runtime::TensorImpl* const* leaves, int count) noexcept;
void drop(runtime::TensorImpl* const* leaves, int count) noexcept;

/// The leaves and scalars of an expression. One type for all trees of a size, to reduce compile time.
template <int Leaves, int Scalars>
struct Values {
  runtime::TensorImpl* leaves[Leaves > 0 ? Leaves : 1];
  jit::Scalar scalars[Scalars > 0 ? Scalars : 1];
  bool owns = true;  // false once moved from

  /// Makes a moved-from value usable again with null leaves, which evaluation rejects.
  void revive() noexcept {
    if (owns) [[likely]]
      return;
    for (auto& leaf : leaves) leaf = nullptr;
    owns = true;
  }
};
template <class V>
V* append(V* to, const V* from, std::size_t count) noexcept {
  if (count > 0) std::memcpy(to, from, count * sizeof(V));
  return to + count;
}
struct FromOperands {};

/// The element type of an expression whose error has already been reported.
struct Unknown {};

}  // namespace detail

/// A tensor, or an expression of tensors: a value with an element type and a device type.
template <class E>
concept expression = std::is_base_of_v<detail::ExpressionTag, std::remove_cvref_t<E>>;

/// The element type: float, or AnyType.
template <expression E>
using value_type_of = typename std::remove_cvref_t<E>::value_type;

template <class E, class T>
concept expression_of = expression<E> && std::is_same_v<value_type_of<E>, T>;

/// A tree of operations on tensors that has not been evaluated. It owns its leaves, so keeping one in `auto` is safe. T
/// is the element type, D the device type; the rest describes the tree. Using a moved-from expression throws.
template <class T, class D, class Tree, int Leaves, int Scalars, int Bytes>
class [[nodiscard]] Expression : public detail::On<D>,
                                 public detail::Methods<Expression<T, D, Tree, Leaves, Scalars, Bytes>>,
                                 public detail::Views<Expression<T, D, Tree, Leaves, Scalars, Bytes>> {
  static_assert(Bytes <= detail::max_code_bytes,
                "this expression has more operations than its type may hold, 256 of two operands; name a repeated part "
                "with sinter::let, or build it at run time with sinter::Lazy");

 public:
  using value_type = T;
  using tree = Tree;
  static constexpr int leaf_count = Leaves;
  static constexpr int scalar_count = Scalars;
  static constexpr int byte_count = Bytes;

  Expression(const Expression& o) noexcept : value(o.value) {
    if constexpr (Leaves > 0) {
      value.revive();
      detail::hold(value.leaves, Leaves);
    }
  }
  Expression(Expression&& o) noexcept : value(o.value) { o.value.owns = false; }
  Expression& operator=(const Expression&) = delete;
  /// x[indices] = v: rejected, since an expression has no memory of its own.
  template <class A>
  Expression& operator=(A&&) {
    static_assert(!std::is_same_v<A, A>,
                  "an expression has no memory to write to: declare it as sn::Tensor to hold values, or as sn::Lazy to "
                  "build it in steps; x[indices] = v is x.index_put_(indices, v)");
    return *this;
  }
  ~Expression() {
    if constexpr (Leaves > 0)
      if (value.owns) detail::drop(value.leaves, Leaves);
  }

  /// An expression without leaves and scalars.
  Expression() noexcept
    requires(Leaves == 0 && Scalars == 0)
  = default;
  explicit Expression(runtime::TensorImpl* held) noexcept
    requires(Leaves == 1 && Scalars == 0)
  {
    value.leaves[0] = held;
  }
  /// Joins operands in order, taking over their leaves.
  template <class... E>
  explicit Expression(detail::FromOperands, E&... operands) noexcept {
    [[maybe_unused]] runtime::TensorImpl** leaf = value.leaves;
    [[maybe_unused]] jit::Scalar* scalar = value.scalars;
    ((operands.value.owns = false, leaf = detail::append(leaf, operands.value.leaves, E::leaf_count),
      scalar = detail::append(scalar, operands.value.scalars, E::scalar_count)),
     ...);
  }

  /// For Sinter's own layers: the values, in tree order.
  detail::Values<Leaves, Scalars> value;
};

namespace detail {

template <class T, class D, class X = AnyExtents>
using LeafExpression = Expression<T, D, Leaf<T, X>, 1, 0, leaf_bytes>;

/// The type of an expression with mixed devices after its error: it fits everywhere, so nothing else is reported.
using ErrorExpression = Expression<Unknown, ErrorDevice, Leaf<AnyType>, 0, 0, leaf_bytes>;

/// Lets the compiler finish with a loop over an expression, which is rejected.
struct NoRows {
  ErrorExpression operator*() const;
  NoRows& operator++();
  bool operator!=(const NoRows&) const;
};
template <class D>
template <class X>
NoRows On<D>::begin() const {
  static_assert(std::is_same_v<X, ErrorDevice>, SINTER_NO_ROWS);
  return {};
}
template <class>
struct ErrorExpressionOf {
  using type = ErrorExpression;
};

}  // namespace detail

}  // namespace sinter::inline v1
