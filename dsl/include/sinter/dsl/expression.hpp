// Expressions: the tree is the type, the value is flat - leaf handles and scalars in the order of the tree.
#pragma once
#include <concepts>
#include <cstring>
#include <type_traits>

#include <sinter/dsl/device_rules.hpp>
#include <sinter/dsl/methods.hpp>
#include <sinter/dsl/tree.hpp>

namespace sinter::inline v1 {

namespace detail {

struct ExpressionTag {};

/// Every expression derives from On<its device type>, so that the device check deduces devices and nothing else.
template <class D>
struct On : ExpressionTag {
  using device_type = D;
};

void retain(runtime::TensorImpl* const* leaves, int count) noexcept;
void release(runtime::TensorImpl* const* leaves, int count) noexcept;

/// The element type of an expression that has already been reported.
struct Unknown {};

inline constexpr int max_code_bytes = 512;

}  // namespace detail

/// A tensor, or an expression of tensors: a value with an element type and a device type.
template <class E>
concept expression = std::is_base_of_v<detail::ExpressionTag, std::remove_cvref_t<E>>;

/// The element type: float, or AnyType.
template <expression E>
using value_type_of = typename std::remove_cvref_t<E>::value_type;

template <class E, class T>
concept expression_of = expression<E> && std::is_same_v<value_type_of<E>, T>;

/// A tree of operations on tensors that has not been evaluated. It owns its leaves: keeping one in `auto` is safe.
/// T is the element type, D the device type; the rest describes the tree. A moved-from expression throws when used.
template <class T, class D, class Tree, int Leaves, int Scalars, int Bytes>
class [[nodiscard]] Expression : public detail::On<D>, public detail::Methods<Expression<T, D, Tree, Leaves, Scalars, Bytes>> {
  static_assert(Bytes <= detail::max_code_bytes,
                "this expression has more than about 256 operations; name a part that repeats with sinter::let, or grow "
                "it at run time with sinter::Lazy");

 public:
  using value_type = T;
  using tree = Tree;
  static constexpr int leaf_count = Leaves;
  static constexpr int scalar_count = Scalars;
  static constexpr int byte_count = Bytes;

  Expression(const Expression& o) noexcept : owns_(o.owns_) {
    std::memcpy(leaves_, o.leaves_, sizeof leaves_);
    std::memcpy(scalars_, o.scalars_, sizeof scalars_);
    if (owns_) detail::retain(leaves_, Leaves);
  }
  Expression(Expression&& o) noexcept : owns_(o.owns_) {
    std::memcpy(leaves_, o.leaves_, sizeof leaves_);
    std::memcpy(scalars_, o.scalars_, sizeof scalars_);
    o.forget();
  }
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (Leaves > 0 && owns_) detail::release(leaves_, Leaves);
  }

  /// Joins operands, in order; takes their leaves over.
  template <class... E>
  static Expression join(E&&... operands) noexcept {
    Expression r;
    int leaf = 0, scalar = 0;
    (r.take(operands, leaf, scalar), ...);
    return r;
  }
  static Expression leaf(runtime::TensorImpl* adopted) noexcept
    requires(Leaves == 1)
  {
    Expression r;
    r.leaves_[0] = adopted;
    return r;
  }

  runtime::TensorImpl* const* leaves() const noexcept { return leaves_; }
  const jit::Scalar* scalars() const noexcept { return scalars_; }
  void forget() noexcept {
    owns_ = false;
    for (auto& l : leaves_) l = nullptr;
  }

 private:
  Expression() noexcept = default;

  template <class E>
  void take(E& operand, int& leaf, int& scalar) noexcept {
    if constexpr (E::leaf_count > 0) {
      std::memcpy(leaves_ + leaf, operand.leaves(), sizeof(*leaves_) * E::leaf_count);
      leaf += E::leaf_count;
    }
    if constexpr (E::scalar_count > 0) {
      std::memcpy(scalars_ + scalar, operand.scalars(), sizeof(*scalars_) * E::scalar_count);
      scalar += E::scalar_count;
    }
    operand.forget();
  }

  runtime::TensorImpl* leaves_[Leaves > 0 ? Leaves : 1] = {};
  jit::Scalar scalars_[Scalars > 0 ? Scalars : 1];
  bool owns_ = true;
};

namespace detail {

template <class T, class D>
using LeafExpression = Expression<T, D, Leaf<T>, 1, 0, leaf_bytes>;

/// What an expression with mixed devices gives after its error: fits everywhere, so nothing else is reported.
using Reported = Expression<Unknown, Mismatch, Leaf<AnyType>, 0, 0, 1>;

}  // namespace detail

}  // namespace sinter::inline v1
