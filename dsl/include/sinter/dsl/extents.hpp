// Extents that are part of a tensor's type: Tensor<float, Cpu, Extents<dyn, 256>>. Shapes are checked at compile time
// where types show them, and at run time elsewhere. std::mdspan's extents (P0009) are the model.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include <sinter/dsl/tree.hpp>
#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1 {

/// An extent that is known only at run time.
inline constexpr std::int64_t dyn = -1;

/// The extents of a tensor, in order: Extents<dyn, 256> is a matrix with 256 columns, Extents<> a single element.
template <std::int64_t... E>
struct Extents {
  static_assert(((E >= 0 || E == dyn) && ...), "an extent is 0 or more, or dyn");
  static_assert(sizeof...(E) <= max_ndim, "a tensor has at most 8 axes");
};

namespace detail {

/// A shape as far as types show it.
struct StaticShape {
  int ndim = -1;  // -1: unknown, like all extents
  std::int64_t extents[max_ndim] = {};
  bool agrees = true;  // false after operands that no extents at run time make fit

  constexpr bool is_known() const noexcept { return ndim >= 0; }
  /// The extent of an axis that counts from the last one, 0; 1 beyond the first.
  constexpr std::int64_t from_end(int axis) const noexcept { return axis < ndim ? extents[ndim - 1 - axis] : 1; }
};

template <class X>
inline constexpr StaticShape shape_of_extents{};
template <std::int64_t... E>
inline constexpr StaticShape shape_of_extents<Extents<E...>>{sizeof...(E), {E...}};

/// The extent of an axis along which one operand has a, the other b.
constexpr std::int64_t broadcast_extent(std::int64_t a, std::int64_t b) noexcept {
  if (a == 1 || b == 1) return a == 1 ? b : a;
  return a == dyn ? b : a;
}
constexpr StaticShape broadcast(const StaticShape& a, const StaticShape& b) noexcept {
  if (!a.is_known() || !b.is_known()) return {.agrees = a.agrees && b.agrees};
  StaticShape result{a.ndim > b.ndim ? a.ndim : b.ndim, {}, a.agrees && b.agrees};
  for (int i = 0; i < result.ndim; ++i) {
    const std::int64_t x = a.from_end(i), y = b.from_end(i);
    result.extents[result.ndim - 1 - i] = broadcast_extent(x, y);
    result.agrees = result.agrees && (x == y || x == 1 || y == 1 || x == dyn || y == dyn);
  }
  return result;
}

/// matmul's rules: (..., m, k) times (..., k, n); a vector is a row on the left, a column on the right.
constexpr StaticShape product(const StaticShape& a, const StaticShape& b) noexcept {
  if (!a.is_known() || !b.is_known()) return {};
  if (a.ndim == 0 || b.ndim == 0) return {.agrees = false};
  const std::int64_t ka = a.from_end(0), kb = b.from_end(b.ndim == 1 ? 0 : 1);
  const auto batch = [](const StaticShape& s) {
    StaticShape outer{s.ndim > 2 ? s.ndim - 2 : 0};
    for (int i = 0; i < outer.ndim; ++i) outer.extents[i] = s.extents[i];
    return outer;
  };
  StaticShape result = broadcast(batch(a), batch(b));
  if (a.ndim > 1) result.extents[result.ndim++] = a.from_end(1);
  if (b.ndim > 1) result.extents[result.ndim++] = b.from_end(0);
  result.agrees = result.agrees && (ka == kb || ka == dyn || kb == dyn);
  return result;
}

/// Whether a shape may be one with these extents.
constexpr bool may_be(const StaticShape& shape, const StaticShape& wanted) noexcept {
  if (!shape.is_known() || !wanted.is_known()) return true;
  if (shape.ndim != wanted.ndim) return false;
  for (int i = 0; i < shape.ndim; ++i)
    if (shape.extents[i] != wanted.extents[i] && shape.extents[i] != dyn && wanted.extents[i] != dyn) return false;
  return true;
}
/// Whether every shape of the first kind is one of the second.
constexpr bool must_be(const StaticShape& shape, const StaticShape& wanted) noexcept {
  if (!wanted.is_known()) return true;
  if (shape.ndim != wanted.ndim) return false;
  for (int i = 0; i < shape.ndim; ++i)
    if (shape.extents[i] != wanted.extents[i] && wanted.extents[i] != dyn) return false;
  return true;
}

/// Whether a value with these extents may be broadcast into a tensor with others.
template <class From, class To>
inline constexpr bool fits_into = [] {
  const StaticShape to = shape_of_extents<To>, both = broadcast(shape_of_extents<From>, to);
  return both.agrees && may_be(both, to);
}();

/// Whether a leaf of a tree has extents in its type. Other trees cost one instantiation per node and no more.
template <class Tree>
inline constexpr bool has_extents = false;
template <class T, std::int64_t... E>
inline constexpr bool has_extents<Leaf<T, Extents<E...>>> = true;
template <class T, class A>
inline constexpr bool has_extents<Cast<T, A>> = has_extents<A>;
template <Op op, class... A>
inline constexpr bool has_extents<Apply<op, A...>> = (has_extents<A> || ...);

template <class Tree>
inline constexpr StaticShape static_shape{};
template <class T, class X>
inline constexpr StaticShape static_shape<Leaf<T, X>> = shape_of_extents<X>;
template <Category C>
inline constexpr StaticShape static_shape<ScalarLeaf<C>>{0};
template <>
inline constexpr StaticShape static_shape<AttributeLeaf>{0};
template <std::int64_t Value>
inline constexpr StaticShape static_shape<ConstantLeaf<Value>>{0};
template <Category C, std::uint64_t Bits>
inline constexpr StaticShape static_shape<FixedLeaf<C, Bits>>{0};
template <class T, class A>
inline constexpr StaticShape static_shape<Cast<T, A>> = static_shape<A>;

constexpr StaticShape first_of(const StaticShape& first, const auto&...) noexcept { return first; }
template <Op op, class... A>
constexpr StaticShape shape_after() noexcept {
  if constexpr (op == Op::matmul) {
    return product(static_shape<A>...);
  } else if constexpr (is_reduction(op)) {  // its axes are known at run time
    if constexpr (info(op).reduction == Reduction::ShapePreserving) return first_of(static_shape<A>...);
    return {};
  } else {
    StaticShape shape{0};
    ((shape = broadcast(shape, static_shape<A>)), ...);
    return shape;
  }
}
template <Op op, class... A>
inline constexpr StaticShape static_shape<Apply<op, A...>> = shape_after<op, A...>();

/// The extents as a type, as error messages show them.
template <const StaticShape& shape, class = std::make_integer_sequence<int, (shape.ndim > 0 ? shape.ndim : 0)>>
struct ExtentsType;
template <const StaticShape& shape, int... Axis>
struct ExtentsType<shape, std::integer_sequence<int, Axis...>> {
  using type = std::conditional_t<shape.is_known(), Extents<shape.extents[Axis]...>, AnyExtents>;
};
template <class Tree>
struct ExtentsOfTree {
  using type = AnyExtents;
};
template <class Tree>
  requires has_extents<Tree>
struct ExtentsOfTree<Tree> : ExtentsType<static_shape<Tree>> {};

template <class E>
struct ExtentsOf {
  using type = AnyExtents;
};
template <class E>
  requires requires { typename E::tree; }
struct ExtentsOf<E> : ExtentsOfTree<typename E::tree> {};
template <class E>
  requires requires { typename E::extents_type; }
struct ExtentsOf<E> {
  using type = typename E::extents_type;
};

/// The tree without the extents of its leaves: views change them.
template <class Tree>
struct Dynamic {
  using type = Tree;
};
template <class T, class X>
struct Dynamic<Leaf<T, X>> {
  using type = Leaf<T>;
};
template <class T, class A>
struct Dynamic<Cast<T, A>> {
  using type = Cast<T, typename Dynamic<A>::type>;
};
template <Op op, class... A>
struct Dynamic<Apply<op, A...>> {
  using type = Apply<op, typename Dynamic<A>::type...>;
};

/// Adds the extents of a tree's leaves, in order.
template <class Tree>
constexpr StaticShape* add_leaves(StaticShape* to, Tree*) noexcept {
  return to;
}
template <class T, class X>
constexpr StaticShape* add_leaves(StaticShape* to, Leaf<T, X>*) noexcept {
  *to = shape_of_extents<X>;
  return to + 1;
}
constexpr StaticShape* add_leaves(StaticShape* to, IotaLeaf*) noexcept { return to + 1; }
template <class T, class Offset>
constexpr StaticShape* add_leaves(StaticShape* to, Load<T, Offset>*) noexcept {
  return add_leaves(to + 1, static_cast<Offset*>(nullptr));
}
template <class T, class A>
constexpr StaticShape* add_leaves(StaticShape* to, Cast<T, A>*) noexcept {
  return add_leaves(to, static_cast<A*>(nullptr));
}
template <class Name, class Value, class Body>
constexpr StaticShape* add_leaves(StaticShape* to, Let<Name, Value, Body>*) noexcept {
  return add_leaves(add_leaves(to, static_cast<Value*>(nullptr)), static_cast<Body*>(nullptr));
}
template <Op op, class... A>
constexpr StaticShape* add_leaves(StaticShape* to, Apply<op, A...>*) noexcept {
  ((to = add_leaves(to, static_cast<A*>(nullptr))), ...);
  return to;
}

/// Transposed extents: of a matrix swapped, below two axes the same.
template <class X>
struct Transposed {
  using type = X;
};
template <std::int64_t Rows, std::int64_t Columns>
struct Transposed<Extents<Rows, Columns>> {
  using type = Extents<Columns, Rows>;
};

#define SINTER_DIFFERENT_SHAPES                                                                                       \
  "the operands' shapes do not go together: extents of one axis are equal or 1, and matmul takes as many columns on " \
  "the left as rows on the right"
#define SINTER_OTHER_EXTENTS "the value has other extents than the tensor's type"

/// Whether an operation's operands may go together.
template <Op op, class... Tree>
inline constexpr bool shapes_agree = true;
template <Op op, class... Tree>
  requires(has_extents<Tree> || ...)
inline constexpr bool shapes_agree<op, Tree...> = shape_after<op, Tree...>().agrees;

/// Throws ShapeError for a shape that does not have these extents.
void check_extents(const Shape& shape, const StaticShape& wanted);
template <class X>
void check_extents(const Shape& shape) {
  check_extents(shape, shape_of_extents<X>);
}

}  // namespace detail

/// The extents of a tensor or an expression as a type: Extents<dyn, 256>, or AnyExtents where its type does not show
/// how many axes it has.
template <class E>
using extents_of = typename detail::ExtentsOf<std::remove_cvref_t<E>>::type;

}  // namespace sinter::inline v1
