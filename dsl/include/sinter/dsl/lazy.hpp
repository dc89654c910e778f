// Lazy: an expression whose tree is known only at run time, because a loop built it or it was parsed from text.
#pragma once
#include <sinter/dsl/tensor.hpp>
#include <sinter/jit/inspect.hpp>

namespace sinter::inline v1 {

/// An expression of T on D with its tree in the value: every operation returns the same type, so a loop may grow it. It
/// converts from any tensor or expression and mixes with them. Equal parts are computed once. Past jit::max_lazy_nodes
/// operations the oldest part is evaluated, so that a growing loop stays bounded. Throws if it is evaluated after one
/// of its tensors was written to.
template <class T, class D = AnyDevice>
class Lazy : public detail::On<D>, public detail::Methods<Lazy<T, D>>, public detail::Views<Lazy<T, D>> {
 public:
  using value_type = T;

  template <expression E>
    requires(!detail::is_lazy<std::remove_cvref_t<E>>)
  Lazy(const E& e);
  /// From a Lazy with a more specific device type.
  template <class From>
    requires(detail::widens<From, D> && !std::is_same_v<From, D>)
  Lazy(const Lazy<T, From>& o) : node_(o.node()) {}
  explicit Lazy(jit::LazyRef node) : node_(std::move(node)) {}
  Lazy(const Lazy&) = default;
  Lazy(Lazy&&) noexcept = default;
  // Only for lvalues: l[0] = x would have no effect.
  Lazy& operator=(const Lazy&) & = default;
  Lazy& operator=(Lazy&&) & noexcept = default;

  const jit::LazyRef& node() const {
    if (!node_) detail::throw_moved_from();
    return node_;
  }
  Device device() const { return node()->device(); }

 private:
  jit::LazyRef node_;
};

template <expression E>
Lazy(const E&) -> Lazy<detail::deduced_element<E>, detail::deduced_device<E>>;

namespace detail {

template <class T, class D>
const Lazy<T, D>& lift(const Lazy<T, D>& e) noexcept {
  return e;
}

template <class A>
jit::LazyRef lazy_node(const A& operand) {
  if constexpr (is_lazy<A>) {
    return operand.node();
  } else if constexpr (real_scalar<A>) {
    return jit::lazy(scalar_of(operand), category_of<A>);
  } else if constexpr (complex_scalar<A>) {
    return jit::lazy(detail::bind(lift(operand)));
  } else if constexpr (integral_constant<A>) {
    return jit::lazy(jit::Scalar(static_cast<std::int64_t>(A::value)), Category::Int);
  } else if constexpr (is_fixed_number<A>) {
    jit::Scalar value;
    value.bits = A::bits;
    return jit::lazy(value, A::category);
  } else if constexpr (is_error<A>) {
    return {};
  } else {
    auto&& e = lift(operand);
    return jit::lazy(detail::bind(e));
  }
}

template <Op op, class... A>
auto apply_lazy(const A&... operands) {
  using Types = ResultType<op, typename lifted<const A&>::value_type...>;
  static_assert(!Types::refuses_complex, SINTER_REAL_OPERATION);
  static_assert(Types::ok || Types::refuses_complex,
                "this operation does not take operands of these dtypes: convert one with cast<T>(x)");
  static_assert(!is_ordering<op> || (!is_compared<lifted<const A&>> && ...), SINTER_CHAINED_COMPARISON);
  using D = typename CommonDeviceOf<typename lifted<const A&>::device_type...>::type;
  const jit::LazyRef nodes[] = {lazy_node(operands)...};
  return Lazy<typename Types::type, D>(jit::lazy(op, nodes));
}

template <Op op, class... A>
auto reduce_lazy(jit::ReduceAxes along, const A&... operands) {
  using Types = ResultType<op, typename lifted<const A&>::value_type...>;
  const jit::LazyRef nodes[] = {lazy_node(operands)...};
  return Lazy<typename Types::type, typename CommonDeviceOf<typename lifted<const A&>::device_type...>::type>(
      jit::lazy(op, nodes, along));
}

template <class To, class T, class D>
auto cast_lazy(const Lazy<T, D>& e) {
  return Lazy<To, D>(jit::lazy_cast(e.node(), dtype_of<To>));
}
template <class E>
auto cast_at_run_time(const E& e, DType dtype) {
  return Lazy<AnyType, deduced_device<E>>(jit::lazy_cast(lazy_node(e), dtype));
}

template <class T, class D>
void evaluate_into(const Lazy<T, D>& e, TensorRef& result, jit::Mode mode = jit::Mode::Fused) {
  jit::evaluate(std::span(&e.node(), 1), &result, mode);
}

template <class T, class D>
jit::Recorded description(const Lazy<T, D>& e) {
  return e.node();
}

/// The argument of evaluation.
template <class T, class D>
jit::Recorded evaluation_of(const Lazy<T, D>& e) {
  return jit::Recorded(std::span(&e.node(), 1));
}

/// A view of the result of an expression. Gradients flow through it.
jit::LazyRef view_of_result(const jit::LazyRef& e, const TensorRef& result, const TensorImpl& view);
template <class T, class D>
Lazy<T, D> view_of_result(const Lazy<T, D>& e, const TensorRef& result, const TensorImpl& view) {
  return Lazy<T, D>(view_of_result(e.node(), result, view));
}

jit::LazyRef view_of(const jit::LazyRef& e, MakeView view);
std::vector<jit::LazyRef> parts_of(const jit::LazyRef& e, MakeViews views);
template <class T, class D>
Lazy<T, D> view_of(const Lazy<T, D>& e, MakeView view) {
  return Lazy<T, D>(view_of(e.node(), view));
}
template <class T, class D>
std::vector<Lazy<T, D>> parts_of(const Lazy<T, D>& e, MakeViews views) {
  std::vector<Lazy<T, D>> parts;
  for (const jit::LazyRef& part : parts_of(e.node(), views)) parts.emplace_back(part);
  return parts;
}

}  // namespace detail

template <class T, class D>
template <expression E>
  requires(!detail::is_lazy<std::remove_cvref_t<E>>)
Lazy<T, D>::Lazy(const E& e) : node_(detail::lazy_node(e)) {
  static_assert(detail::same_dtype<value_type_of<E>, T>,
                "the expression has another dtype: convert it with cast<T>(x)");
  static_assert(detail::device_fits<typename E::device_type, D>,
                "the expression is on another device: move it with .to(device)");
}

}  // namespace sinter::inline v1
