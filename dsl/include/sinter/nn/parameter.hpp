// What layers with parameters share: how these begin, and what of an input is checked against them.
#pragma once
#include <sinter/nn/module.hpp>

namespace sinter::inline v1::detail {

/// Uniform in [-bound, bound).
TensorRef uniform_parameter(const Shape& shape, DType dtype, Device device, double bound);
TensorRef normal_parameter(const Shape& shape, DType dtype, Device device);
TensorRef constant_parameter(const Shape& shape, DType dtype, Device device, double value);
/// The bound for a layer of so many inputs: 1 / sqrt(inputs), and 0 of none.
double bound_for(std::int64_t inputs);

/// "True" or "False"; "0.5", "1e-05", "1.0": as Python writes them.
const char* python_text(bool value) noexcept;
std::string python_text(double value);

/// What layers print whose parameters hold nothing, as those do that were moved from.
inline constexpr const char* holds_nothing = "empty";

/// Whether a parameter is there: a number without axes takes its place where it is not.
inline bool is_parameter(const TensorRef& t) noexcept { return t && t->rank() > 0; }
inline TensorRole role_of(const TensorRef& t) noexcept {
  return is_parameter(t) ? TensorRole::Parameter : TensorRole::Constant;
}

/// The same tensor in a module of another device's type; of nothing, nothing. Throws DeviceError.
template <class D, class T, class From>
Tensor<T, D> member_from(const Tensor<T, From>& t) {
  return t.defined() ? Tensor<T, D>(t) : Tensor<T, D>();
}

/// What is added to a layer's result: the bias, or what changes nothing and costs nothing where there is none.
template <class T, class D>
Tensor<T, D> addend_of(const Tensor<T, D>& bias, const TensorImpl& weight) {
  return bias.defined() ? bias : Tensor<T, D>(runtime::absent_addend(weight.dtype, weight.device));
}

/// Whether the input is of the weight's device and dtype and ends with the axes `last`.
bool fits_module(const Facts& input, const TensorImpl& weight, const Shape& last) noexcept;
/// Throw DeviceError, DtypeError or ShapeError for an input that does not; its device alone; always.
[[noreturn]] void throw_input(const ModuleNode& module, const Facts& input, const TensorImpl& weight,
                              const Shape& last);
[[noreturn]] void throw_device_of_input(const ModuleNode& module, const Facts& input, const TensorImpl& weight);

/// The last extent of what a tree of products and elementwise operations gives, read off its leaves: planning an
/// evaluation to learn a shape would take longer than all else that a layer does. Other trees are not known.
template <class Tree>
struct LastExtent {
  static constexpr bool known = false;
};
template <class T>
struct LastExtent<Leaf<T>> {
  static constexpr bool known = true;
  static std::int64_t of(TensorImpl* const*& leaf) noexcept {
    const TensorImpl* const x = *leaf++;
    return x && x->rank() > 0 ? x->shape.end()[-1] : 1;
  }
};
template <>
struct LastExtent<IndexLeaf> : LastExtent<Leaf<std::int64_t>> {};
struct NumberExtent {
  static constexpr bool known = true;
  static std::int64_t of(TensorImpl* const*&) noexcept { return 1; }
};
template <Category C>
struct LastExtent<ScalarLeaf<C>> : NumberExtent {};
template <std::int64_t value>
struct LastExtent<ConstantLeaf<value>> : NumberExtent {};
template <Category C, std::uint64_t bits>
struct LastExtent<FixedLeaf<C, bits>> : NumberExtent {};
template <class T, class A>
struct LastExtent<Cast<T, A>> : LastExtent<A> {};
/// A vector on the right goes with its axis, so that an axis before it is the last one: such products are not known.
template <class A, class T>
struct LastExtent<Apply<Op::matmul, A, Leaf<T>>> {
  static constexpr bool known = LastExtent<A>::known;
  static std::int64_t of(TensorImpl* const*& leaf) noexcept {
    LastExtent<A>::of(leaf);
    const TensorImpl* const b = *leaf++;
    return b && b->rank() > 1 ? b->shape.end()[-1] : -1;
  }
};
template <class A, class B>
struct LastExtent<Apply<Op::matmul, A, B>> {
  static constexpr bool known = false;
};
template <Op op, class... A>
struct LastExtent<Apply<op, A...>> {
  static constexpr bool known = (LastExtent<A>::known && ...);
  static std::int64_t of(TensorImpl* const*& leaf) noexcept {
    const std::int64_t extents[] = {LastExtent<A>::of(leaf)...};
    for (const std::int64_t extent : extents)
      if (extent != 1) return extent;
    return 1;
  }
};

/// Whether an expression ends with one axis that fits; false where that takes a closer look.
template <class X>
bool plainly_fits(const X& x, const TensorImpl& weight, const Shape& last) noexcept {
  if constexpr (requires { x.value.leaves; } && element<value_type_of<X>>) {
    if constexpr (X::leaf_count > 0 && LastExtent<typename X::tree>::known) {
      runtime::TensorImpl* const* leaf = x.value.leaves;
      return last.rank() == 1 && x.value.owns && *leaf && (*leaf)->device == weight.device &&
             LastExtent<typename X::tree>::of(leaf) == last[0];
    }
  }
  return false;
}

template <class M, class X>
void check_input(const M& module, const X& x, const TensorImpl& weight, const Shape& last) {
  if (plainly_fits(x, weight, last)) return;
  const Facts input = facts_of(lift(x));
  if (!fits_module(input, weight, last)) throw_input(node_of(module), input, weight, last);
}

/// Whether an input of X, as far as its type tells, has the dtype of a module's parameters; what was reported has any.
template <class X, class T>
inline constexpr bool dtype_may_fit = !element<value_type_of<X>> || std::is_same_v<value_type_of<X>, T>;
/// Whether nothing of it was reported.
template <class X, class T, class D>
inline constexpr bool may_enter = same_device<device_of<X>, D> && dtype_may_fit<X, T> && !is_reported<X>;
#define SINTER_MODULE_DTYPE                                                                                          \
  "the input has another dtype than the module's parameters: convert it with cast<T>(x), or make the module of its " \
  "dtype"

}  // namespace sinter::inline v1::detail
