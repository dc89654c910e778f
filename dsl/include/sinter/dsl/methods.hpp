// The operations as methods: x.exp(), x.pow(2), x.clamp(0, 1). One for each line of ops.def.
#pragma once
#include <utility>

#include <sinter/dsl/device_rules.hpp>
#include <sinter/dsl/indexing_methods.hpp>
#include <sinter/dsl/order_methods.hpp>
#include <sinter/dsl/reduction_methods.hpp>
#include <sinter/jit/ops.hpp>
#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::detail {

/// How div rounds a quotient to an integer: the operation that does so.
template <Op op>
struct Rounding {};

}  // namespace sinter::inline v1::detail

/// The third argument of div: rounds to negative infinity, or to zero.
namespace sinter::inline v1::rounding {
inline constexpr detail::Rounding<Op::floor_divide> floor;
inline constexpr detail::Rounding<Op::trunc_divide> trunc;
}  // namespace sinter::inline v1::rounding

namespace sinter::inline v1::detail {

/// An operation as a function object: it can be passed on, and one operator() serves every operation.
template <Op op>
struct Function {
  template <class... A>
  constexpr auto operator()(A&&... operands) const;
  /// div(a, b, rounding::floor).
  template <class A, class B, Op other>
  constexpr auto operator()(A&& a, B&& b, Rounding<other> rounding) const
    requires(op == Op::div);
};
template <class T>
struct CastFunction {
  template <class A>
  auto operator()(A&& operand) const;
};

/// See matmul.hpp.
struct MatMul {
  template <class A, class B>
  auto operator()(A&& a, B&& b) const;
};

/// The type and the shape of an expression's value; see tensor.hpp.
template <class E>
auto tensor_from(const E& e);
template <class E>
Shape shape_from(const E& e);
/// See lazy.hpp.
template <class E>
auto cast_at_run_time(const E& e, DType dtype);
/// The value on another device; see history.hpp.
template <class E, class Target>
auto moved(const E& e, const Target& device);

/// The operations as methods; `Self` is a tensor or an expression. A temporary passes its leaves on without reference
/// counting.
template <class Self>
class OperationMethods {
 public:
#define SINTER_METHOD_1(name)                                   \
  auto name() const& { return Function<Op::name>{}(itself()); } \
  auto name()&& { return Function<Op::name>{}(std::move(*this).itself()); }
#define SINTER_METHOD_2(name)                                                   \
  template <class B>                                                            \
  auto name(B&& b) const& {                                                     \
    return Function<Op::name>{}(itself(), std::forward<B>(b));                  \
  }                                                                             \
  template <class B>                                                            \
  auto name(B&& b)&& {                                                          \
    return Function<Op::name>{}(std::move(*this).itself(), std::forward<B>(b)); \
  }
#define SINTER_METHOD_3(name)                                                                       \
  template <class B, class C>                                                                       \
  auto name(B&& b, C&& c) const& {                                                                  \
    return Function<Op::name>{}(itself(), std::forward<B>(b), std::forward<C>(c));                  \
  }                                                                                                 \
  template <class B, class C>                                                                       \
  auto name(B&& b, C&& c)&& {                                                                       \
    return Function<Op::name>{}(std::move(*this).itself(), std::forward<B>(b), std::forward<C>(c)); \
  }
// Operations that may omit operands.
#define SINTER_METHOD_REST(name)                                                         \
  template <class... Rest>                                                               \
  auto name(Rest&&... rest) const& {                                                     \
    return Function<Op::name>{}(itself(), std::forward<Rest>(rest)...);                  \
  }                                                                                      \
  template <class... Rest>                                                               \
  auto name(Rest&&... rest)&& {                                                          \
    return Function<Op::name>{}(std::move(*this).itself(), std::forward<Rest>(rest)...); \
  }
#define SINTER_COMPOSITE_METHOD_1 SINTER_METHOD_1
#define SINTER_COMPOSITE_METHOD_2 SINTER_METHOD_REST
#define SINTER_COMPOSITE_METHOD_3 SINTER_METHOD_REST
#define SINTER_COMPOSITE_METHOD_4 SINTER_METHOD_REST
#define SINTER_COMPOSITE_METHOD_5 SINTER_METHOD_REST
#define SINTER_INTERNAL_OP(name, arity, rule)
#define SINTER_INTERNAL_COMPOSITE_OP(name, arity, rule)
#define SINTER_OP(name, arity, rule) SINTER_METHOD_##arity(name)
#define SINTER_COMPOSITE_OP(name, arity, rule) SINTER_COMPOSITE_METHOD_##arity(name)
#include <sinter/jit/op_list.def>
#undef SINTER_METHOD_1
#undef SINTER_METHOD_2
#undef SINTER_METHOD_3
#undef SINTER_METHOD_REST
#undef SINTER_COMPOSITE_METHOD_1
#undef SINTER_COMPOSITE_METHOD_2
#undef SINTER_COMPOSITE_METHOD_3
#undef SINTER_COMPOSITE_METHOD_4
#undef SINTER_COMPOSITE_METHOD_5

  /// x.div(y, rounding::floor).
  template <class B, Op other>
  auto div(B&& b, Rounding<other> rounding) const& {
    return Function<Op::div>{}(itself(), std::forward<B>(b), rounding);
  }
  template <class B, Op other>
  auto div(B&& b, Rounding<other> rounding) && {
    return Function<Op::div>{}(std::move(*this).itself(), std::forward<B>(b), rounding);
  }

  /// matmul(x, b).
  template <class B>
  auto matmul(B&& b) const& {
    return MatMul{}(itself(), std::forward<B>(b));
  }
  template <class B>
  auto matmul(B&& b) && {
    return MatMul{}(std::move(*this).itself(), std::forward<B>(b));
  }

 protected:
  const Self& itself() const& noexcept { return static_cast<const Self&>(*this); }
  Self&& itself() && noexcept { return static_cast<Self&&>(*this); }
};

/// Methods of tensors and expressions. A tensor has its own versions of those that move, convert and read.
template <class Self>
class Methods : public OperationMethods<Self>,
                public IndexingMethods<Self>,
                public OrderMethods<Self>,
                public ReductionMethods<Self> {
 public:
  /// Its elements where the condition is true, else those of `other`: the value comes first, as in PyTorch.
  template <class Condition, class Other>
  auto where(Condition&& condition, Other&& other) const& {
    return Function<Op::where>{}(std::forward<Condition>(condition), this->itself(), std::forward<Other>(other));
  }
  template <class Condition, class Other>
  auto where(Condition&& condition, Other&& other) && {
    return Function<Op::where>{}(std::forward<Condition>(condition), std::move(*this).itself(),
                                 std::forward<Other>(other));
  }

  /// The expression converted to element type T; nothing is evaluated.
  template <element T>
  auto to() const& {
    return CastFunction<T>{}(this->itself());
  }
  template <element T>
  auto to() && {
    return CastFunction<T>{}(std::move(*this).itself());
  }

  // These evaluate, and then do what the tensor's method does. What is moved is a Lazy, through which gradients flow.
  template <device_argument Target>
  auto to(const Target& device) const {
    return moved(this->itself(), device);
  }
  template <element T, device_argument Target>
  auto to(const Target& device) const {
    return moved(CastFunction<T>{}(this->itself()), device);
  }
  /// To a dtype that is known only at run time: a Lazy, which is not evaluated.
  auto to(DType dtype) const { return cast_at_run_time(this->itself(), dtype); }
  auto cpu() const { return moved(this->itself(), sinter::cpu); }
  auto cuda() const { return moved(this->itself(), sinter::cuda<>); }
  auto cuda(int index) const { return moved(this->itself(), index); }
  auto item() const { return tensor_from(this->itself()).item(); }
  template <element U>
  U item() const {
    return tensor_from(this->itself()).template item<U>();
  }
  auto to_vector() const { return tensor_from(this->itself()).to_vector(); }

  // These evaluate too, since the size of their result depends on the data: mask.hpp.
  auto nonzero() const { return true_positions(this->itself()); }
  template <class Mask>
  auto masked_select(const Mask& mask) const {
    return selected(this->itself(), mask);
  }

  /// The shape of the result. Throws ShapeError, DeviceError.
  Shape shape() const { return shape_from(this->itself()); }
  /// The extent of an axis; negative axes count from the end. Throws IndexError, and what shape() throws.
  std::int64_t size(Index axis) const { return shape()[static_cast<int>(axis.value)]; }
};

}  // namespace sinter::inline v1::detail
