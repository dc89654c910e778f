// Plain loops, as written without a library, on all threads available to the process.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>

#include "formulas.hpp"
#include "inputs.hpp"
#include "suite.hpp"

namespace {

using bench::Operand;

struct In {
  explicit In(std::size_t n) : rows(bench::extent(n).rows), columns(bench::extent(n).columns) {
    const auto at = [n](Operand operand) { return bench::input(operand, n).data(); };
    x = at(Operand::X), y = at(Operand::Y), s = at(Operand::Spot), k = at(Operand::Strike), t = at(Operand::Time);
    wide = at(Operand::Wide), row = at(Operand::Row), gain = at(Operand::Gain), shift = at(Operand::Shift);
    column = at(Operand::Column), mean = at(Operand::Mean), variance = at(Operand::Variance);
    static std::map<std::size_t, std::vector<std::uint8_t>> bytes;
    auto& of_size = bytes[n];
    if (of_size.empty()) of_size.assign(at(Operand::Pixels), at(Operand::Pixels) + n);
    pixels = of_size.data();
  }
  std::size_t rows, columns;
  const float *x, *y, *s, *k, *t, *wide, *row, *gain, *shift, *column, *mean, *variance;
  const std::uint8_t* pixels;
};

template <class Part>
void in_parts(std::size_t count, std::size_t least, const Part& part) {
  if (count <= least) return part(0, count);
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, least), [&](const auto& r) { part(r.begin(), r.end()); },
      tbb::static_partitioner());
}

/// `element(in, i)` for every element.
template <class F>
struct Flat {
  F element;
  void operator()(const In& in, float* out) const {
    in_parts(in.rows * in.columns, 32'768, [&](std::size_t first, std::size_t last) { loop(in, out, first, last); });
  }
  void loop(In in, float* __restrict to, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) to[i] = element(in, i);
  }
};
/// `of_row(in, row)(i, column)` for every element of the matrix.
template <class F>
struct Rows {
  F of_row;
  void operator()(const In& in, float* out) const {
    in_parts(in.rows, std::max<std::size_t>(1, 32'768 / in.columns),
             [&](std::size_t first, std::size_t last) { loop(in, out, first, last); });
  }
  void loop(In in, float* __restrict to, std::size_t first, std::size_t last) const {
    for (std::size_t r = first; r < last; ++r) {
      const auto element = of_row(in, r);
      for (std::size_t c = 0; c < in.columns; ++c) to[r * in.columns + c] = element(r * in.columns + c, c);
    }
  }
};

template <class Loops>
class Plain {
 public:
  Plain(std::size_t n, Loops loops) : in_(n), loops_(loops), out_(n) {}
  void run() {
    loops_(in_, out_.data());
    benchmark::DoNotOptimize(out_.data());
  }
  void wait() {}
  void poison() { std::fill(out_.begin(), out_.end(), NAN); }
  std::span<const float> read() { return out_; }

 private:
  In in_;
  Loops loops_;
  std::vector<float> out_;
};

template <class Loops>
void add(const char* name, Loops loops) {
  bench::add(name, "plain", [loops](std::size_t n) { return std::make_shared<Plain<Loops>>(n, loops); });
}
template <class F>
void flat(const char* name, F element) {
  add(name, Flat<F>{element});
}
template <class F>
void rows(const char* name, F of_row) {
  add(name, Rows<F>{of_row});
}

template <int Operations>
float chain(float x, float y) {
  if constexpr (Operations == 0)
    return x;
  else if constexpr (Operations % 5 == 0)
    return std::tanh(chain<Operations - 1>(x, y));
  else if constexpr (Operations % 2 == 0)
    return chain<Operations - 1>(x, y) * x;
  else
    return chain<Operations - 1>(x, y) + y;
}
template <int Operations>
void add_chain(const char* name) {
  flat(name, [](const In& in, std::size_t i) { return chain<Operations>(in.x[i], in.y[i]); });
}

float normal_cdf(float d) { return 0.5f * (1 + std::erf(d * bench::sqrt_half)); }
float black_scholes(float s, float k, float t) {
  const float spread = bench::volatility * std::sqrt(t);
  const float d1 = (std::log(s / k) + bench::drift * t) / spread;
  return s * normal_cdf(d1) - k * std::exp(-bench::rate * t) * normal_cdf(d1 - spread);
}
float gelu(float x) { return 0.5f * x * (1 + std::tanh(bench::sqrt_2_over_pi * (x + 0.044715f * x * x * x))); }
float length(float across, float along) { return std::sqrt(across * across + along * along); }

void add_flat() {
  add_chain<1>("chain_1"), add_chain<2>("chain_2"), add_chain<5>("chain_5");
  add_chain<10>("chain_10"), add_chain<20>("chain_20"), add_chain<40>("chain_40");
  flat("example", [](const In& in, std::size_t i) { return std::exp(in.x[i] + 2) * in.y[i]; });
  flat("axpy", [](const In& in, std::size_t i) { return 1.5f * in.x[i] + in.y[i]; });
  flat("gelu", [](const In& in, std::size_t i) { return gelu(in.x[i]); });
  flat("swish", [](const In& in, std::size_t i) { return in.x[i] / (1 + std::exp(-in.x[i])); });
  flat("distance", [](const In& in, std::size_t i) { return length(in.x[i] - in.s[i], in.y[i] - in.k[i]); });
  flat("black_scholes", [](const In& in, std::size_t i) { return black_scholes(in.s[i], in.k[i], in.t[i]); });
  flat("image", [](const In& in, std::size_t i) {
    return (static_cast<float>(in.pixels[i]) * (1 / 255.f) - 0.45f) * (1 / 0.225f);
  });
  flat("every_second", [](const In& in, std::size_t i) { return in.wide[2 * i] * in.y[i]; });
}
void add_rows() {
  rows("transposed", [](const In& in, std::size_t r) {
    return [&in, r](std::size_t i, std::size_t c) { return in.x[c * in.rows + r] + in.y[i]; };
  });
  rows("add_row",
       [](const In& in, std::size_t) { return [&in](std::size_t i, std::size_t c) { return in.x[i] + in.row[c]; }; });
  rows("outer", [](const In& in, std::size_t r) {
    return [&in, factor = in.column[r]](std::size_t, std::size_t c) { return factor * in.row[c]; };
  });
  rows("residual", [](const In& in, std::size_t) {
    return [&in](std::size_t i, std::size_t c) { return in.x[i] + in.gain[c] * (in.y[i] / (1 + std::exp(-in.y[i]))); };
  });
  rows("normalise", [](const In& in, std::size_t r) {
    const float mean = in.mean[r], scale = 1 / std::sqrt(in.variance[r] + bench::epsilon);
    return [&in, mean, scale](std::size_t i, std::size_t c) {
      return (in.x[i] - mean) * scale * in.gain[c] + in.shift[c];
    };
  });
}

const bench::Register registered([] {
  if (bench::options().on_gpu()) return;
  add_flat();
  add_rows();
});

}  // namespace
