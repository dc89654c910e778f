// The expressions, written once for all libraries. `m` stands for a library: its operands, its functions, and `store`,
// which evaluates into an existing result. Each library decides how to handle parts that are used more than once:
// `again` marks those of one or two operations, `keep` more expensive ones, each with its own memory. `for_rows` marks
// parts with one element per row, which are broadcast.
#pragma once

namespace bench {

inline constexpr float rate = 0.02f;
inline constexpr float volatility = 0.3f;
inline constexpr float drift = rate + 0.5f * volatility * volatility;
inline constexpr float sqrt_half = 0.70710678f;
inline constexpr float sqrt_2_over_pi = 0.7978845608f;
inline constexpr float epsilon = 1e-5f;

/// A chain of `Operations`: alternating sums and products, with tanh at every fifth place to keep the numbers small.
template <int Operations, class M, class X, class Y>
auto chain(M& m, const X& x, const Y& y) {
  if constexpr (Operations == 1)
    return x + y;
  else if constexpr (Operations % 5 == 0)
    return m.tanh(chain<Operations - 1>(m, x, y));
  else if constexpr (Operations % 2 == 0)
    return chain<Operations - 1>(m, x, y) * x;
  else
    return chain<Operations - 1>(m, x, y) + y;
}
template <int Operations, class M>
void run_chain(M& m) {
  m.store(chain<Operations>(m, m.x(), m.y()));
}

template <class M>
void example(M& m) {
  m.store(m.exp(m.x() + 2.f) * m.y());
}
template <class M>
void axpy(M& m) {
  m.store(1.5f * m.x() + m.y());
}
template <class M>
void gelu(M& m) {
  const auto& x = m.x();
  m.store(0.5f * x * (1.f + m.tanh(sqrt_2_over_pi * (x + 0.044715f * x * x * x))));
}
template <class M>
void swish(M& m) {
  m.store(m.x() / (1.f + m.exp(-m.x())));
}
template <class M>
void distance(M& m) {
  const auto& across = m.again(m.x() - m.spot());
  const auto& along = m.again(m.y() - m.strike());
  m.store(m.sqrt(across * across + along * along));
}
template <class M>
void black_scholes(M& m) {
  const auto& spread = m.keep(0, volatility * m.sqrt(m.time()));
  const auto& d1 = m.keep(1, (m.log(m.spot() / m.strike()) + drift * m.time()) / spread);
  const auto cdf = [&m](const auto& d) { return 0.5f * (1.f + m.erf(d * sqrt_half)); };
  m.store(m.spot() * cdf(d1) - m.strike() * m.exp(-rate * m.time()) * cdf(d1 - spread));
}

template <class M>
void transposed(M& m) {
  m.store_matrix(m.transposed() + m.matrix_y());
}
template <class M>
void every_second(M& m) {
  m.store(m.every_second() * m.y());
}
template <class M>
void add_row(M& m) {
  m.store_matrix(m.matrix_x() + m.row());
}
template <class M>
void outer(M& m) {
  m.store_matrix(m.column() * m.row());
}
/// Layer normalization, given mean and variance.
template <class M>
void normalise(M& m) {
  const auto& scale = m.for_rows(1.f / m.sqrt(m.variance() + epsilon));
  m.store_matrix((m.matrix_x() - m.mean()) * scale * m.gain() + m.shift());
}
/// A branch of a network layer, scaled and added to the residual.
template <class M>
void residual(M& m) {
  const auto& branch = m.matrix_y();
  m.store_matrix(m.matrix_x() + m.gain() * (branch / (1.f + m.exp(-branch))));
}
/// A picture's bytes, as a network's input.
template <class M>
void image(M& m) {
  m.store((m.pixels() * (1 / 255.f) - 0.45f) * (1 / 0.225f));
}

/// Passes every expression to `add(name, evaluate)`.
template <class M, class Add>
void for_each_formula(const Add& add) {
  add("chain_1", run_chain<1, M>);
  add("chain_2", run_chain<2, M>);
  add("chain_5", run_chain<5, M>);
  add("chain_10", run_chain<10, M>);
  add("chain_20", run_chain<20, M>);
  add("chain_40", run_chain<40, M>);
  add("example", example<M>);
  add("axpy", axpy<M>);
  add("gelu", gelu<M>);
  add("swish", swish<M>);
  add("distance", distance<M>);
  add("black_scholes", black_scholes<M>);
  add("transposed", transposed<M>);
  add("every_second", every_second<M>);
  add("add_row", add_row<M>);
  add("outer", outer<M>);
  add("normalise", normalise<M>);
  add("residual", residual<M>);
}

/// The expressions on 16-bit floats, for a library with such operands and results.
template <class M, class Add>
void for_each_half_formula(const Add& add) {
  add("axpy_half", axpy<M>);
  add("gelu_half", gelu<M>);
  add("residual_half", residual<M>);
  add("transposed_half", transposed<M>);
}
template <class M, class Add>
void for_each_bfloat16_formula(const Add& add) {
  add("axpy_bfloat16", axpy<M>);
  add("gelu_bfloat16", gelu<M>);
  add("residual_bfloat16", residual<M>);
  add("every_second_bfloat16", every_second<M>);
}

}  // namespace bench
