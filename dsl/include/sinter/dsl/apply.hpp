// Applying an operation: operands become expressions, devices and dtypes are checked, and the tree grows by one node.
#pragma once
#include <array>
#include <cstdint>
#include <utility>

#include <sinter/dsl/expression.hpp>
#include <sinter/dsl/extents.hpp>
#include <sinter/dsl/value.hpp>
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1 {

template <class T, class D>
class Lazy;

namespace detail {

/// An operand that can be combined with an expression.
template <class A>
concept operand = expression<A> || cpp_scalar<std::remove_cvref_t<A>> || integral_constant<std::remove_cvref_t<A>> ||
                  is_fixed_number<std::remove_cvref_t<A>>;

#define SINTER_NO_OPERAND                                                                                              \
  "an operand is a tensor, an expression, a C++ number or an integral constant; sn::tensor(values) makes a tensor of " \
  "a vector or of braces"

/// The element type of a C++ scalar: weak in promotion, so it only raises the category of tensor operands.
template <Category C>
struct Weak {};

/// A C++ scalar as an operand.
template <Category C>
struct ScalarOperand {
  using value_type = Weak<C>;
  using device_type = NoDevice;
  using tree = ScalarLeaf<C>;
  static constexpr int leaf_count = 0, scalar_count = 1, byte_count = scalar_bytes;
  Values<0, 1> value;

  explicit constexpr ScalarOperand(jit::Scalar s) { value.scalars[0] = s; }
};
/// A complex scalar: complex() of its parts.
struct ComplexOperand {
  using value_type = Weak<Category::Complex>;
  using device_type = NoDevice;
  using tree = Apply<Op::complex, ScalarLeaf<Category::Float>, ScalarLeaf<Category::Float>>;
  static constexpr int leaf_count = 0, scalar_count = 2, byte_count = 2 * scalar_bytes + operation_bytes<2>;
  Values<0, 2> value;

  explicit constexpr ComplexOperand(Number n) {
    value.scalars[0] = n.scalar;
    value.scalars[1] = n.imaginary;
  }
};
template <std::int64_t Value>
struct ConstantOperand {
  using value_type = Weak<Category::Int>;
  using device_type = NoDevice;
  using tree = ConstantLeaf<Value>;
  static constexpr int leaf_count = 0, scalar_count = 0, byte_count = constant_bytes<Value>;
  Values<0, 0> value;
};

template <Category C, std::uint64_t Bits>
struct FixedOperand {
  using value_type = Weak<C>;
  using device_type = NoDevice;
  using tree = FixedLeaf<C, Bits>;
  static constexpr int leaf_count = 0, scalar_count = 0, byte_count = fixed_bytes;
  Values<0, 0> value;
};

template <class T, class D, class Tree, int L, int S, int B>
Expression<T, D, Tree, L, S, B>&& lift(Expression<T, D, Tree, L, S, B>&& e) noexcept {
  if constexpr (L > 0) e.value.revive();
  return std::move(e);
}
template <class T, class D, class Tree, int L, int S, int B>
Expression<T, D, Tree, L, S, B> lift(const Expression<T, D, Tree, L, S, B>& e) noexcept {
  return e;
}
template <real_scalar S>
constexpr ScalarOperand<category_of<S>> lift(const S& value) {
  return ScalarOperand<category_of<S>>(scalar_of(value));
}
template <complex_scalar S>
constexpr ComplexOperand lift(const S& value) {
  return ComplexOperand(value);
}
template <integral_constant C>
constexpr ConstantOperand<static_cast<std::int64_t>(C::value)> lift(const C&) noexcept {
  return {};
}

template <Category C, std::uint64_t Bits>
constexpr auto lift(FixedNumber<C, Bits>) noexcept {
  if constexpr (C == Category::Int)
    return ConstantOperand<static_cast<std::int64_t>(Bits)>();
  else
    return FixedOperand<C, Bits>();
}

template <class A>
using lifted = std::remove_cvref_t<decltype(lift(std::declval<A>()))>;
/// The device type of an operand, without overload resolution for lift: operators ask for it several times each.
template <class A>
struct DeviceOf {
  using type = NoDevice;
};
template <expression A>
struct DeviceOf<A> {
  using type = typename A::device_type;
};
template <class A>
using device_of = typename DeviceOf<std::remove_cvref_t<A>>::type;

/// A tensor of positions, without memory, as an expression on D.
template <class D>
auto positions_on(TensorRef positions) {
  return Expression<std::int64_t, D, IotaLeaf, 1, 0, iota_bytes>(held(positions));
}

/// Whether an operand is an expression whose error has already been reported.
template <class E>
inline constexpr bool is_error = false;
template <expression E>
inline constexpr bool is_error<E> = std::is_same_v<value_type_of<E>, Unknown>;

/// Type promotion at compile time: the C++ type of a result, or AnyType where only run time knows it.
template <class T>
inline constexpr OperandType operand_type{};
template <element T>
inline constexpr OperandType operand_type<T>{dtype_of<T>, false};
template <Category C>
inline constexpr OperandType operand_type<Weak<C>>{default_dtype(C), true};

template <DType t>
struct TypeOf;
#define SINTER_DTYPE(id, cpp, name, cuda, category, compute_dtype) \
  template <>                                                      \
  struct TypeOf<DType::id> {                                       \
    using type = cpp;                                              \
  };
#include <sinter/runtime/dtypes.def>

template <Op op, class... T>
struct ResultType {
  static constexpr std::array<OperandType, sizeof...(T)> operands{operand_type<T>...};  // named for debug iterators
  static constexpr OpTypes types = op_types(op, operands);
  static constexpr bool ok = types.ok, refuses_complex = is_complex(types.compute) && !takes_complex(op);
  using type = typename TypeOf<types.result>::type;
};
/// If an operand's dtype is known only at run time, so is the result's, unless the operation returns bools, counts or
/// positions.
template <Op op, class... T>
  requires(std::is_same_v<T, AnyType> || ...)
struct ResultType<op, T...> {
  static constexpr bool ok = true, refuses_complex = false;
  static constexpr DTypeRule rule = info(op).rule;
  static constexpr bool gives_bool =
      rule == DTypeRule::Compare || rule == DTypeRule::FloatCompare || rule == DTypeRule::Logical;
  static constexpr bool gives_int64 =
      rule == DTypeRule::Index || rule == DTypeRule::Count || rule == DTypeRule::Nonzero;
  using type = std::conditional_t<gives_bool, bool, std::conditional_t<gives_int64, std::int64_t, AnyType>>;
};

template <Op op>
inline constexpr bool is_ordering = op == Op::lt || op == Op::le || op == Op::gt || op == Op::ge;
template <class Tree>
inline constexpr bool is_comparison = false;
template <Op op, class... A>
inline constexpr bool is_comparison<Apply<op, A...>> = is_ordering<op>;
/// Whether an operand is, or may be, a < b. A Lazy hides its operation: every Lazy of bools counts.
template <class E>
inline constexpr bool is_compared = is_comparison<typename E::tree>;
template <class T, class D>
inline constexpr bool is_compared<Lazy<T, D>> = std::is_same_v<T, bool>;
#define SINTER_REAL_OPERATION "this operation takes no complex numbers: take real(z), imag(z), abs(z) or angle(z) first"
#define SINTER_CHAINED_COMPARISON "a < b < c compares the bools of a < b: write (a < b) & (b < c)"

/// Whether tensors of these device types may be operands of one operation.
template <class... D>
inline constexpr bool same_device = true;
template <class L, class R, class... Rest>
inline constexpr bool same_device<L, R, Rest...> =
    !different_devices<L, R> && same_device<common_device<L, R>, Rest...>;

template <class E>
inline constexpr bool is_lazy = false;
template <class T, class D>
inline constexpr bool is_lazy<Lazy<T, D>> = true;

/// One node, or one conversion, of a lazy expression; see lazy.hpp.
template <Op op, class... A>
auto apply_lazy(const A&... operands);
template <Op op, class... A>
auto reduce_lazy(jit::ReduceAxes along, const A&... operands);
template <class To, class T, class D>
auto cast_lazy(const Lazy<T, D>& e);

template <Op op, class... E>
auto join_operands(E&&... operands) {
  using Types = ResultType<op, typename E::value_type...>;
  static_assert(!Types::refuses_complex, SINTER_REAL_OPERATION);
  static_assert(Types::ok || Types::refuses_complex,
                "this operation does not take operands of these dtypes: convert one with cast<T>(x)");
  static_assert(!is_ordering<op> || (!is_compared<E> && ...), SINTER_CHAINED_COMPARISON);
  static_assert(shapes_agree<op, typename E::tree...>, SINTER_DIFFERENT_SHAPES);
  using Result = Expression<typename Types::type, typename CommonDeviceOf<typename E::device_type...>::type,
                            Apply<op, typename E::tree...>, (E::leaf_count + ...), (E::scalar_count + ...),
                            (E::byte_count + ... + operation_bytes<sizeof...(E)>)>;
  return Result(FromOperands{}, operands...);
}

/// Applies an operation to tensors, expressions and scalars whose devices have been checked.
template <Op op, class... A>
constexpr auto apply(A&&... operands) {
  static_assert(sizeof...(A) == info(op).arity, "this operation takes another number of operands; see docs/ops.md");
  static_assert((operand<A> && ...), SINTER_NO_OPERAND);
  if constexpr (!same_device<device_of<A>...> || (is_error<A> || ...))
    return ErrorExpression();
  else if constexpr ((is_lazy<std::remove_cvref_t<A>> || ...))
    return apply_lazy<op>(operands...);
  else
    return join_operands<op>(lift(std::forward<A>(operands))...);
}

/// What a node has beside its operands, as the last of these: a reduction's axes, a call's function.
struct AttributeOperand {
  using tree = AttributeLeaf;
  static constexpr int leaf_count = 0, scalar_count = 1;
  Values<0, 1> value;

  explicit AttributeOperand(std::uint64_t bits) { value.scalars[0] = static_cast<std::int64_t>(bits); }
};

template <Op op, class... E>
auto join_reduction(jit::ReduceAxes along, E&&... operands) {
  using Result = Expression<typename ResultType<op, typename E::value_type...>::type,
                            typename CommonDeviceOf<typename E::device_type...>::type,
                            Apply<op, typename E::tree..., AttributeLeaf>, (E::leaf_count + ...),
                            (E::scalar_count + ... + 1), (E::byte_count + ... + operation_bytes<sizeof...(E)>)>;
  AttributeOperand axes(along.bits());
  return Result(FromOperands{}, operands..., axes);
}
/// Applies a reduction along axes that have been checked.
template <Op op, class... A>
auto apply_along(jit::ReduceAxes along, A&&... operands) {
  using Types = ResultType<op, typename lifted<A>::value_type...>;
  static_assert(!Types::refuses_complex, SINTER_REAL_OPERATION);
  static_assert(Types::ok || Types::refuses_complex,
                "this operation does not take operands of these dtypes: convert one with cast<T>(x)");
  if constexpr ((is_lazy<std::remove_cvref_t<A>> || ...))
    return reduce_lazy<op>(along, operands...);
  else
    return join_reduction<op>(along, lift(std::forward<A>(operands))...);
}

/// Whether a conversion would drop the imaginary part. A conversion to bool does not: it tests for 0.
template <class From, class To>
inline constexpr bool loses_imaginary =
    complex_element<From> && element<To> && !complex_element<To> && !std::is_same_v<To, bool>;
#define SINTER_LOSES_IMAGINARY "a real dtype has no imaginary part: take real(z), or abs(z) for the magnitude"

/// The operand converted to element type T. Throws DTypeError for a complex AnyTensor and a real T.
template <class T, class A>
auto apply_cast(A&& operand) {
  using E = lifted<A>;
  static_assert(!loses_imaginary<typename E::value_type, T>, SINTER_LOSES_IMAGINARY);
  if constexpr (std::is_same_v<typename E::value_type, Unknown>) {
    return ErrorExpression();
  } else if constexpr (is_lazy<E>) {
    return cast_lazy<T>(operand);
  } else {
    using Result = Expression<T, typename E::device_type, Cast<T, typename E::tree>, E::leaf_count, E::scalar_count,
                              E::byte_count + cast_bytes>;
    auto&& e = lift(std::forward<A>(operand));
    return Result(FromOperands{}, e);
  }
}

}  // namespace detail
}  // namespace sinter::inline v1
