// What layers with parameters share: initialization, and the checks of an input against the parameters.
#pragma once
#include <sinter/nn/module.hpp>

namespace sinter::inline v1::detail {

/// Uniform in [-bound, bound).
TensorRef uniform_parameter(const Shape& shape, DType dtype, Device device, double bound);
TensorRef normal_parameter(const Shape& shape, DType dtype, Device device);
TensorRef constant_parameter(const Shape& shape, DType dtype, Device device, double value);
/// The bound for a layer with this many inputs: 1 / sqrt(inputs), or 0 for no inputs.
double bound_for(std::int64_t inputs);

/// Spelled as in Python: "True" or "False"; "0.5", "1e-05", "1.0".
const char* python_text(bool value) noexcept;
std::string python_text(double value);

/// Printed for layers whose parameters have no array because they were moved from.
inline constexpr const char* holds_nothing = "empty";

/// Whether a parameter exists: a 0-d tensor replaces an absent one.
inline bool is_parameter(const TensorRef& t) noexcept { return t && t->ndim() > 0; }
inline TensorRole role_of(const TensorRef& t) noexcept {
  return is_parameter(t) ? TensorRole::Parameter : TensorRole::Constant;
}

/// The same tensor in a module of another device type, or none if it has no array. Throws DeviceError.
template <class D, class T, class From>
Tensor<T, D> member_from(const Tensor<T, From>& t) {
  return t.defined() ? Tensor<T, D>(t) : Tensor<T, D>();
}

/// What is added to a layer's result: the bias, or a stand-in that changes nothing and costs nothing.
template <class T, class D>
Tensor<T, D> addend_of(const Tensor<T, D>& bias, const TensorImpl& weight) {
  return bias.defined() ? bias : Tensor<T, D>(runtime::absent_addend(weight.dtype, weight.device));
}

/// Whether the input has the weight's device and dtype and ends with the axes `last`.
bool fits_module(const OperandInfo& input, const TensorImpl& weight, const Shape& last) noexcept;
/// Throw DeviceError, DTypeError or ShapeError for an input that does not fit; the second one DeviceError.
[[noreturn]] void throw_input(const ModuleNode& module, const OperandInfo& input, const TensorImpl& weight,
                              const Shape& last);
[[noreturn]] void throw_device_of_input(const ModuleNode& module, const OperandInfo& input, const TensorImpl& weight);

/// The last extent of the result of products and elementwise operations, derived from the leaves: planning an
/// evaluation to learn the shape would take longer than everything else in a layer. Unknown for other trees.
template <class Tree>
struct LastExtent {
  static constexpr bool known = false;
};
template <class T, class X>
struct LastExtent<Leaf<T, X>> {
  static constexpr bool known = true;
  static std::int64_t of(TensorImpl* const*& leaf) noexcept {
    const TensorImpl* const x = *leaf++;
    return x && x->ndim() > 0 ? x->shape.end()[-1] : 1;
  }
};
template <>
struct LastExtent<IotaLeaf> : LastExtent<Leaf<std::int64_t>> {};
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
/// A vector on the right removes the last axis, so an earlier axis becomes the last: the extent is unknown.
template <class A, class T, class X>
struct LastExtent<Apply<Op::matmul, A, Leaf<T, X>>> {
  static constexpr bool known = LastExtent<A>::known;
  static std::int64_t of(TensorImpl* const*& leaf) noexcept {
    LastExtent<A>::of(leaf);
    const TensorImpl* const b = *leaf++;
    return b && b->ndim() > 1 ? b->shape.end()[-1] : -1;
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

/// Whether an expression clearly ends with one axis that fits; false if that needs a full check.
template <class X>
bool plainly_fits(const X& x, const TensorImpl& weight, const Shape& last) noexcept {
  if constexpr (requires { x.value.leaves; } && element<value_type_of<X>>) {
    if constexpr (X::leaf_count > 0 && LastExtent<typename X::tree>::known) {
      runtime::TensorImpl* const* leaf = x.value.leaves;
      return last.ndim() == 1 && x.value.owns && *leaf && (*leaf)->device == weight.device &&
             LastExtent<typename X::tree>::of(leaf) == last[0];
    }
  }
  return false;
}

template <class M, class X>
void check_input(const M& module, const X& x, const TensorImpl& weight, const Shape& last) {
  if (plainly_fits(x, weight, last)) return;
  const OperandInfo input = info_of(lift(x));
  if (!fits_module(input, weight, last)) throw_input(node_of(module), input, weight, last);
}

/// Whether an input of type X may have the dtype of a module's parameters, as far as its type says.
template <class X, class T>
inline constexpr bool dtype_may_fit = !element<value_type_of<X>> || std::is_same_v<value_type_of<X>, T>;
/// Whether an input passes the compile-time checks.
template <class X, class T, class D>
inline constexpr bool may_enter = same_device<device_of<X>, D> && dtype_may_fit<X, T> && !is_error<X>;
#define SINTER_MODULE_DTYPE                                                                                          \
  "the input has another dtype than the module's parameters: convert it with cast<T>(x), or make the module of its " \
  "dtype"

}  // namespace sinter::inline v1::detail
