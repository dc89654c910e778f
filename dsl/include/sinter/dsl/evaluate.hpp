// Explicit evaluation, evaluating several expressions together, and inspecting plans.
#pragma once
#include <string>
#include <string_view>
#include <tuple>

#include <sinter/dsl/lazy.hpp>
#include <sinter/jit/inspect.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class E>
using tensor_of = Tensor<deduced_element<E>, deduced_device<E>>;

/// A target and the expression to be written to it.
template <class T, class D, class E>
struct Into {
  Tensor<T, D> target;
  E value;
};
template <class X>
inline constexpr bool is_into = false;
template <class T, class D, class E>
inline constexpr bool is_into<Into<T, D, E>> = true;

bool all_true(TensorImpl& bools);

template <class... E>
void evaluate_all(TensorRef* results, jit::Mode mode, const E&... e) {
  if constexpr (sizeof...(E) == 1) {
    (evaluate_into(e, *results, mode), ...);
  } else if constexpr ((is_lazy<E> || ...)) {
    const jit::LazyRef nodes[] = {lazy_node(e)...};
    jit::evaluate(nodes, results, mode);
  } else {
    jit::evaluate(BoundTogether<E...>(e...).bound(), results, mode);
  }
}
template <class... E, std::size_t... I>
std::tuple<tensor_of<E>...> tuple_of(TensorRef* results, std::index_sequence<I...>) {
  return {tensor_of<E>(std::move(results[I]))...};
}
template <class... E>
auto evaluated(jit::Mode mode, E&&... e) {
  TensorRef results[sizeof...(E)];
  evaluate_all(results, mode, lift(std::forward<E>(e))...);
  if constexpr (sizeof...(E) == 1)
    return (tensor_of<E>(std::move(results[0])), ...);
  else
    return tuple_of<E...>(results, std::index_sequence_for<E...>{});
}

}  // namespace detail

/// Evaluates expressions together, in one kernel if their shapes agree. Returns a Tensor, or a tuple of them.
template <expression... E>
[[nodiscard]] auto evaluate(E&&... e) {
  return detail::evaluated(jit::Mode::Fused, std::forward<E>(e)...);
}

/// A result that evaluate() writes into an existing tensor or view of the same dtype, broadcasting it to the target's
/// shape. A number is converted, as by the in-place operations.
template <class T, class D, class X, class A>
  requires detail::operand<A>
auto into(Tensor<T, D, X> target, A&& value) {
  using V = detail::lifted<A>;
  if constexpr (!expression<A>) {
    return into(Tensor<T, D>(target), Tensor<T, D>(detail::scalar_like(target.impl(), value)));
  } else {
    static_assert(detail::same_dtype<typename V::value_type, T>,
                  "the value has another dtype: convert it with cast<T>(x)");
    static_assert(detail::same_device<typename V::device_type, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::fits_into<extents_of<V>, X>, SINTER_OTHER_EXTENTS);
    return detail::Into<T, D, V>{std::move(target), lift(std::forward<A>(value))};
  }
}

/// evaluate(into(y, e1), into(z, e2)): everything is read before anything is written. Throws Error if targets share
/// memory.
template <class... I>
  requires(detail::is_into<I> && ...)
void evaluate(I&&... targets) {
  runtime::TensorRef results[] = {runtime::TensorRef::share(&targets.target.impl())...};
  detail::evaluate_all(results, jit::Mode::Fused, targets.value...);
}

/// Evaluates node by node with one kernel each, as a library without fusion does: the baseline of every comparison.
template <expression... E>
[[nodiscard]] auto eager(E&&... e) {
  return detail::evaluated(jit::Mode::Eager, std::forward<E>(e)...);
}

/// Compiles what evaluation would need, and runs nothing. Throws what evaluation would throw, including CompileError
/// for a GPU's kernels. The CPU's loops are compiled if there is a compiler (CpuJit).
template <expression... E>
void prepare(E&&... e) {
  runtime::TensorRef results[sizeof...(E)];
  detail::evaluate_all(results, jit::Mode::Prepare, lift(std::forward<E>(e))...);
}

/// A description of the plan: device, kernels, what is fused, what is not and why, bytes moved, temporaries.
template <expression E>
std::string explain(E&& e) {
  auto&& lifted = lift(std::forward<E>(e));
  return jit::explain(description(lifted));
}

/// The plan as a self-contained HTML page: a graph of the kernels and the values that pass between them, what bounds
/// each kernel, and its CUDA source. Write it to a file and open that in a browser.
template <expression E>
std::string explain_html(E&& e) {
  auto&& lifted = lift(std::forward<E>(e));
  return jit::explain_html(description(lifted));
}

/// The CUDA source of the plan's kernels. Operands on the CPU are treated as if they were on a GPU.
template <expression E>
std::string cuda_source(E&& e) {
  auto&& lifted = lift(std::forward<E>(e));
  return jit::cuda_source(description(lifted));
}

/// The PTX of the plan's kernels for an architecture such as "sm_90". Needs NVRTC but no GPU. Throws CompileError,
/// DeviceError if NVRTC is missing.
template <expression E>
std::string ptx(E&& e, std::string_view architecture) {
  auto&& lifted = lift(std::forward<E>(e));
  return jit::ptx(description(lifted), architecture);
}

/// The simplified graph in Graphviz's DOT language.
template <expression E>
std::string to_dot(E&& e) {
  auto&& lifted = lift(std::forward<E>(e));
  return jit::to_dot(description(lifted));
}

/// The shape of the result. Throws ShapeError, DeviceError.
template <expression E>
Shape shape_of(E&& e) {
  auto&& lifted = lift(std::forward<E>(e));
  return result_shape(evaluation_of(lifted));
}

/// Prints as PyTorch does; evaluates an expression first.
template <expression E>
std::ostream& operator<<(std::ostream& out, const E& e) {
  if constexpr (!detail::is_error<E>) {
    const Tensor value(e);
    detail::print(out, value.impl());
  }
  return out;
}

/// Values and positions, as PyTorch prints torch.return_types.
template <class T, class D, class Values>
std::ostream& operator<<(std::ostream& out, const ValuesAndIndices<T, D, Values>& found) {
  const Tensor values(found.values);
  return detail::print(out, {{"values", values.impl()}, {"indices", found.indices.impl()}});
}

/// Whether shapes and all elements are equal. Throws DeviceError if the devices differ.
template <expression A, expression B>
bool equal(const A& a, const B& b) {
  static_assert(detail::same_device<detail::device_of<A>, detail::device_of<B>>, SINTER_DIFFERENT_DEVICES);
  const Tensor<detail::deduced_element<A>> x(a);
  const Tensor<detail::deduced_element<B>> y(b);
  return x.shape() == y.shape() && detail::all_true(Tensor<bool>(x == y).impl());
}

namespace detail {

/// Differences of integers can overflow; differences of doubles cannot.
template <class T, class D, class X>
auto as_floats(const Tensor<T, D, X>& x) {
  if constexpr (floating_element<T> || complex_element<T>)
    return x;
  else if constexpr (element<T>)
    return x.template to<double>();
  else
    return category(x.dtype()) >= Category::Float ? x : Tensor<T, D>(x.template to<double>());
}

}  // namespace detail

/// Whether |a - b| <= atol + rtol * |b| everywhere; NaN equals nothing unless equal_nan.
/// Throws Error for a negative tolerance.
template <expression A, expression B>
bool allclose(const A& a, const B& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  static_assert(detail::same_device<detail::device_of<A>, detail::device_of<B>>, SINTER_DIFFERENT_DEVICES);
  const auto x = detail::as_floats(Tensor<detail::deduced_element<A>>(a));
  const auto y = detail::as_floats(Tensor<detail::deduced_element<B>>(b));
  return detail::all_true(Tensor<bool>(isclose(x, y, rtol, atol, equal_nan)).impl());
}

}  // namespace sinter::inline v1
