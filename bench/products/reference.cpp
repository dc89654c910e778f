#include "reference.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace bench {
namespace {

/// The nearest bfloat16, ties to even.
double held(float value, bool bfloat16) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bfloat16 ? std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000) : value;
}

/// The parts of a shape, rounded to the dtype.
using Parts = std::vector<Lines>;
Parts held_parts(bool bfloat16, const ProductShape& of) {
  Parts held_ones;
  for (const Part& part : parts_of(of)) {
    const std::vector<float>& values = values_of(of, held_ones.size());
    Lines lines{part.rows, part.columns, std::vector<double>(values.size())};
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, values.size(), 1 << 16), [&](const auto& some) {
      for (std::size_t k = some.begin(); k < some.end(); ++k) lines.values[k] = held(values[k], bfloat16);
    });
    held_ones.push_back(std::move(lines));
  }
  return held_ones;
}
/// The same, computed once for all cases of a shape.
const Parts& parts_in_double(bool bfloat16, const ProductShape& of) {
  static std::map<std::tuple<std::string, std::string, bool>, Parts> made;
  const auto [at, fresh] = made.try_emplace({of.kind, of.extents(), bfloat16});
  if (fresh) at->second = held_parts(bfloat16, of);
  return at->second;
}

Lines some_rows(const Lines& of, std::size_t first, std::size_t count, std::size_t step) {
  Lines some{0, of.columns, {}};
  for (std::size_t r = first; some.rows < count; r += step, ++some.rows)
    some.values.insert(some.values.end(), of.row(r), of.row(r) + of.columns);
  return some;
}

template <class F>
Lines each(Lines x, const F& f) {
  for (double& v : x.values) v = f(v);
  return x;
}
double gelu(double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }
double gelu_tanh(double v) {
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (v + 0.044715 * v * v * v)));
}
double relu(double v) { return v > 0 ? v : 0; }

/// x times the transpose of w, plus a bias if there is one.
Lines linear(const Lines& x, const Lines& w, const Lines* bias) {
  Lines y{x.rows, w.rows, std::vector<double>(x.rows * w.rows)};
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, w.rows), [&](const auto& columns) {
    for (std::size_t r = 0; r < x.rows; ++r)
      for (std::size_t n = columns.begin(); n < columns.end(); ++n) {
        double sums[4] = {};  // several, to avoid a dependency chain
        for (std::size_t k = 0; k < x.columns; ++k) sums[k % 4] += x.row(r)[k] * w.row(n)[k];
        y.row(r)[n] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + (bias ? bias->values[n] : 0);
      }
  });
  return y;
}

Lines layer_norm(Lines x, const Lines& gain, const Lines& shift) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < x.columns; ++i) mean += x.row(r)[i] / static_cast<double>(x.columns);
    for (std::size_t i = 0; i < x.columns; ++i)
      variance += (x.row(r)[i] - mean) * (x.row(r)[i] - mean) / static_cast<double>(x.columns);
    for (std::size_t i = 0; i < x.columns; ++i)
      x.row(r)[i] = (x.row(r)[i] - mean) / std::sqrt(variance + 1e-5) * gain.values[i] + shift.values[i];
  }
  return x;
}

Lines sum(Lines x, const Lines& y) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += y.values[i];
  return x;
}

/// For queries of one sequence: softmax(q k^T / sqrt(d)) v, head by head.
Lines attention(const Lines& q, const Lines& k, const Lines& v, std::size_t heads) {
  Lines y{q.rows, q.columns, std::vector<double>(q.values.size())};
  const std::size_t d = q.columns / heads;
  for (std::size_t r = 0; r < q.rows; ++r)
    for (std::size_t first = 0; first < q.columns; first += d) {
      double total = 0;
      for (std::size_t at = 0; at < k.rows; ++at) {
        double score = 0;
        for (std::size_t i = first; i < first + d; ++i) score += q.row(r)[i] * k.row(at)[i];
        const double power = std::exp(score / std::sqrt(static_cast<double>(d)));
        total += power;
        for (std::size_t i = first; i < first + d; ++i) y.row(r)[i] += power * v.row(at)[i];
      }
      for (std::size_t i = first; i < first + d; ++i) y.row(r)[i] /= total;
    }
  return y;
}

/// Rows `offset`, `offset` + step ... of one sequence.
Lines block(const Parts& p, const ProductShape& of, std::size_t sequence, std::size_t offset, std::size_t step) {
  const std::size_t length = of.b, count = (length - offset + step - 1) / step;
  const Lines all = layer_norm(some_rows(p[0], sequence * length, length, 1), p[1], p[2]);
  const Lines x = some_rows(p[0], sequence * length + offset, count, step);
  const Lines q = linear(some_rows(all, offset, count, step), p[3], &p[4]);
  const Lines k = linear(all, p[5], &p[6]), v = linear(all, p[7], &p[8]);
  const Lines y = sum(x, linear(attention(q, k, v, of.heads()), p[9], &p[10]));
  return sum(y, linear(each(linear(layer_norm(y, p[11], p[12]), p[13], &p[14]), gelu), p[15], &p[16]));
}

Lines right_of_block(const Parts& p, const ProductShape& of, std::size_t step) {
  Lines found{0, of.c, {}};
  for (std::size_t sequence = 0; sequence < of.a; ++sequence) {
    const std::size_t offset = (step - sequence * of.b % step) % step;
    if (offset >= of.b) continue;
    const Lines some = block(p, of, sequence, offset, step);
    found.rows += some.rows;
    found.values.insert(found.values.end(), some.values.begin(), some.values.end());
  }
  return found;
}

}  // namespace

Lines right_of(const ProductCase& c, bool bfloat16, const ProductShape& of) {
  const Parts& p = parts_in_double(bfloat16, of);
  const std::size_t step = step_of_products(of);
  if (of.kind == "block") return right_of_block(p, of, step);
  const Lines x = some_rows(p[0], 0, (of.rows() + step - 1) / step, step);
  const std::string name = c.name;
  if (name == "gemm") return linear(x, p[1], nullptr);
  if (name == "linear_gelu") return each(linear(x, p[1], &p[2]), gelu);
  if (name == "linear_gelu_tanh") return each(linear(x, p[1], &p[2]), gelu_tanh);
  const auto activation = name == "mlp_gelu" ? gelu : relu;
  return linear(each(linear(each(linear(x, p[1], &p[2]), activation), p[3], &p[4]), activation), p[5], &p[6]);
}

}  // namespace bench
