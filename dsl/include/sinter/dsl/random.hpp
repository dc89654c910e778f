// Random tensors and random parts of expressions. Element i of the n-th draw since manual_seed is the same on every
// device.
#pragma once
#include <memory>

#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/lazy.hpp>
#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1 {

namespace detail {

enum class Distribution : std::uint8_t { Uniform, Normal };
/// One draw from the process's generator.
TensorRef random(Distribution distribution, const Shape& shape, DType dtype, Device device);
TensorRef random_integers(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device);

/// The elements' indices, the number of the draw since the seed was set, and the seed.
struct Draw {
  TensorRef indices;
  std::int64_t number, seed;
};
/// Draws a number per element of the leaves' broadcast shape. Throws Error if there are no leaves, ShapeError.
Draw draw_over(std::string_view what, std::span<TensorImpl* const> leaves);
Draw draw(const Shape& shape, Device device);
void check_probability(double p);
void check_rate(double rate);
void check_deviation(double deviation);

template <class E>
Draw draw_like(std::string_view what, const E& e) {
  if constexpr (is_lazy<E>) {
    const jit::Recorded graph = evaluation_of(e);
    return has_reshaping(graph) ? draw(result_shape(graph), e.device()) : draw_over(what, elementwise_leaves(graph));
  } else if constexpr (reshapes<E> && !HasFreeNames<typename E::tree>::value) {
    return draw(shape_from(e), e.value.leaves[0]->device);
  } else {
    static_assert(!HasFreeNames<typename E::tree>::value,
                  "the shape of an operand of let or function is not known inside the body: draw the random numbers "
                  "outside, and pass them in");
    return draw_over(what, elementwise_leaves(e));
  }
}

/// A random operation for each index, on a device of type D.
template <Op op, class D>
auto random_at(const Draw& draw) {
  return apply<op>(positions_on<D>(draw.indices), draw.number, draw.seed);
}
/// A random operation for each element of e's value, on its device.
template <Op op, class E>
auto random_expression(std::string_view what, const E& e) {
  return random_at<op, typename E::device_type>(draw_like(what, e));
}
/// Uniform in [0, 1): computed in double if T is double, else in float.
template <class T, class D>
auto uniform_at(const Draw& draw) {
  return random_at<std::is_same_v<T, double> ? Op::random_uniform_double : Op::random_uniform, D>(draw);
}
template <class T, class E>
auto uniform_expression(std::string_view what, const E& e) {
  return uniform_at<T, typename E::device_type>(draw_like(what, e));
}
/// Converts float to a 16-bit float, keeping as many bits as it holds: rounding could turn the largest values into 1.
template <class T, class E>
auto rounded_down(const E& uniform) {
  constexpr double steps = 1u << std::numeric_limits<T>::digits;
  return apply_cast<T>(floor(uniform * steps) / steps);
}

/// The dtypes of rand and randn.
template <class T>
concept random_number = floating_element<T> || complex_element<T>;
inline constexpr double sqrt_half = 0.70710678118654752440;

template <class T, class E>
using random_element = std::conditional_t<std::is_void_v<T>, value_type_of<E>, T>;
template <class E>
concept unevaluated = expression<E> && !requires(const std::remove_cvref_t<E>& e) { e.impl(); };

}  // namespace detail

/// Restarts the process's generator. Without it every run has a different seed.
void manual_seed(std::uint64_t seed) noexcept;

namespace detail {
class RandomSequence;
}

/// A sequence of random numbers of its own. A handle: copies draw from the same sequence.
class Generator {
 public:
  /// With a seed that differs in every run.
  Generator();
  explicit Generator(std::uint64_t seed);

  void manual_seed(std::uint64_t seed) const noexcept;
  std::uint64_t seed() const noexcept;
  /// The number of draws so far; setting it continues the sequence from that draw. Complex numbers take two draws, of
  /// their real and imaginary parts. Draws at the same position and seed reuse the same random bits, whatever their
  /// distribution; numbers of 32 and of 64 bits share none. Throws Error for a negative position.
  std::int64_t position() const noexcept;
  void set_position(std::int64_t position) const;

 private:
  friend class GeneratorGuard;
  std::shared_ptr<detail::RandomSequence> sequence_;
};

/// For its lifetime, this thread draws from a generator instead of the process's. Guards end in the reverse order of
/// their construction.
class [[nodiscard]] GeneratorGuard {
 public:
  explicit GeneratorGuard(const Generator& generator);
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  std::shared_ptr<detail::RandomSequence> sequence_;
  detail::RandomSequence* outer_;
};

/// Uniform in [0, 1); for complex numbers both parts are.
template <detail::random_number T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> rand(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(
      detail::random(detail::Distribution::Uniform, shape, dtype_of<T>, detail::made_on(device)));
}
/// Normal with mean 0 and variance 1; for complex numbers each part has variance 1/2.
template <detail::random_number T = float, device_argument D = Cpu>
Tensor<T, device_type_of<D>> randn(const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(
      detail::random(detail::Distribution::Normal, shape, dtype_of<T>, detail::made_on(device)));
}
/// Integers in [low, high). Throws Error if the range is empty.
template <element T = std::int64_t, device_argument D = Cpu>
Tensor<T, device_type_of<D>> randint(std::int64_t low, std::int64_t high, const Shape& shape, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::random_integers(low, high, shape, dtype_of<T>, detail::made_on(device)));
}

// With the shape of another tensor, its dtype unless T is given, and its device unless one is given.
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto rand_like(const Tensor<X, Dx, Y>& x, const D&... device) {
  return detail::tensor_like<T, X, Dx, Y, D...>(detail::random(detail::Distribution::Uniform, x.shape(),
                                                               detail::dtype_like<T>(x.impl()),
                                                               detail::device_like(x.impl(), device...)));
}
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto randn_like(const Tensor<X, Dx, Y>& x, const D&... device) {
  return detail::tensor_like<T, X, Dx, Y, D...>(detail::random(detail::Distribution::Normal, x.shape(),
                                                               detail::dtype_like<T>(x.impl()),
                                                               detail::device_like(x.impl(), device...)));
}
template <class T = void, class X, class Dx, class Y, device_argument... D>
auto randint_like(const Tensor<X, Dx, Y>& x, std::int64_t low, std::int64_t high, const D&... device) {
  return detail::tensor_like<T, X, Dx, Y, D...>(detail::random_integers(
      low, high, x.shape(), detail::dtype_like<T>(x.impl()), detail::device_like(x.impl(), device...)));
}

// Parts of expressions: the kernel that reads the numbers generates them. The draw happens when this is written, so
// evaluating twice gives the same numbers. The shape is the broadcast shape of the tensors in `e`.

/// Uniform in [0, 1), one per element of an expression. Complex numbers draw all real parts, then all imaginary parts.
template <class T = void, detail::unevaluated E>
auto rand_like(const E& e) {
  using R = detail::random_element<T, E>;
  static_assert(detail::random_number<R>, "random numbers are floats or complex: rand_like<float>(e)");
  if constexpr (complex_element<R>) {
    auto re = rand_like<typename R::value_type>(e);
    return complex(std::move(re), rand_like<typename R::value_type>(e));
  } else if constexpr (is_stored_only(dtype_of<R>)) {
    return detail::rounded_down<R>(detail::uniform_expression<R>("rand_like", e));
  } else {
    return detail::uniform_expression<R>("rand_like", e);
  }
}
/// Normal with mean 0 and variance 1.
template <class T = void, detail::unevaluated E>
auto randn_like(const E& e) {
  using R = detail::random_element<T, E>;
  static_assert(detail::random_number<R>, "random numbers are floats or complex: randn_like<float>(e)");
  if constexpr (complex_element<R>) {
    auto re = randn_like<typename R::value_type>(e);
    return complex(std::move(re), randn_like<typename R::value_type>(e)) * detail::sqrt_half;
  } else if constexpr (std::is_same_v<R, double>) {
    return detail::random_expression<Op::random_normal_double>("randn_like", e);
  } else if constexpr (std::is_same_v<R, float>) {
    return detail::random_expression<Op::random_normal>("randn_like", e);
  } else {
    return detail::apply_cast<R>(detail::random_expression<Op::random_normal>("randn_like", e));
  }
}
/// center + deviation * a normal number. Both are tensors, expressions or numbers, but not both numbers. Throws Error
/// for a number below 0 as the deviation.
template <class M, class S>
auto normal(const M& center, const S& deviation) {
  static_assert(expression<M> || expression<S>, "normal takes at least one tensor or expression: it gives the shape");
  if constexpr (detail::real_scalar<S>) detail::check_deviation(static_cast<double>(deviation));
  return center + deviation * randn_like(center + deviation);
}
/// 1 with probability p, else 0, in p's dtype. Always 0 for p <= 0 and for NaN, always 1 for p >= 1.
template <expression E>
auto bernoulli(const E& p) {
  using R = value_type_of<E>;
  static_assert(floating_element<R>, "probabilities are floats: bernoulli(cast<float>(p))");
  auto&& operand = detail::lift(p);
  return detail::apply_cast<R>(detail::uniform_expression<R>("bernoulli", operand) < operand);
}
/// 0 with probability p, else x / (1 - p), like torch.nn.functional.dropout in training. Throws Error for a p outside
/// [0, 1].
template <expression E>
auto dropout(const E& x, double p = 0.5) {
  using R = value_type_of<E>;
  static_assert(floating_element<R>, "dropout takes floats: dropout(cast<float>(x))");
  detail::check_probability(p);
  auto&& operand = detail::lift(x);
  return where(detail::uniform_expression<R>("dropout", operand) >= p, operand * (1 / (1 - p)), 0);
}
/// Exponential with this rate (mean 1 / rate), one per element. Throws Error for a rate that is not positive.
template <class T = void, expression E>
auto exponential_like(const E& e, double rate = 1) {
  using R = detail::random_element<T, E>;
  static_assert(floating_element<R>, "random numbers are floats: exponential_like<float>(e)");
  detail::check_rate(rate);
  auto&& operand = detail::lift(e);
  return detail::apply_cast<R>(-log1p(-detail::uniform_expression<R>("exponential_like", operand)) / rate);
}

}  // namespace sinter::inline v1
