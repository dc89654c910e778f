#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include "reference.hpp"

namespace bench {
namespace {

Part weight(std::size_t out, std::size_t in) { return {out, in, 1 / std::sqrt(static_cast<float>(in))}; }
Part bias(std::size_t out, std::size_t in) { return {1, out, 1 / std::sqrt(static_cast<float>(in))}; }
Part gain(std::size_t width) { return {1, width, 0.5f, 1}; }
Part shift(std::size_t width) { return {1, width, 0.5f}; }

constexpr std::size_t looked_at = 16;  // number of rows that are checked

}  // namespace

std::string ProductShape::extents() const {
  return std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c);
}

ProductShape shape_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  ProductShape shape{text.substr(0, colon), 0, 0, 0};
  const bool is_known = shape.kind == "linear" || shape.kind == "mlp" || shape.kind == "block";
  const char* const extents = colon == std::string::npos ? "" : text.c_str() + colon + 1;
  if (!is_known || std::sscanf(extents, "%zux%zux%zu", &shape.a, &shape.b, &shape.c) != 3 ||
      std::min({shape.a, shape.b, shape.c}) == 0 || (shape.kind == "block" && shape.c % shape.heads() != 0))
    throw std::invalid_argument("there is no shape \"" + text + "\": expected linear:512x1024x1024, mlp: or block:");
  return shape;
}

std::vector<Part> parts_of(const ProductShape& of) {
  if (of.kind == "linear") return {{of.a, of.b, 1}, weight(of.c, of.b), bias(of.c, of.b)};
  if (of.kind == "mlp") {
    const std::size_t width = of.b, hidden = of.c;
    return {{of.a, width, 1},     weight(hidden, width), bias(hidden, width), weight(hidden, hidden),
            bias(hidden, hidden), weight(width, hidden), bias(width, hidden)};
  }
  const std::size_t w = of.c, hidden = 4 * w;
  std::vector<Part> parts = {{of.rows(), w, 1}, gain(w), shift(w)};
  for (int projection = 0; projection < 4; ++projection) parts.push_back(weight(w, w)), parts.push_back(bias(w, w));
  for (const Part& p : {gain(w), shift(w), weight(hidden, w), bias(hidden, w), weight(w, hidden), bias(w, hidden)})
    parts.push_back(p);
  return parts;
}

const std::vector<float>& values_of(const ProductShape& of, std::size_t part) {
  static std::map<std::tuple<std::string, std::string, std::size_t>, std::vector<float>> drawn;
  const auto [at, fresh] = drawn.try_emplace({of.kind, of.extents(), part});
  if (fresh) {
    const Part p = parts_of(of)[part];
    std::mt19937 generator(static_cast<unsigned>(part) + 1);
    std::uniform_real_distribution<float> distribution(p.around - p.bound, p.around + p.bound);
    at->second.resize(p.rows * p.columns);
    for (float& v : at->second) v = distribution(generator);
  }
  return at->second;
}

double ProductCase::operations(const ProductShape& of) const {
  const auto a = static_cast<double>(of.a), b = static_cast<double>(of.b), c = static_cast<double>(of.c);
  if (of.kind == "linear") return 2 * a * b * c;
  if (of.kind == "mlp") return 2 * a * (2 * b * c + c * c);
  return 2 * a * b * (12 * c * c + 2 * b * c);
}

const std::vector<ProductCase>& product_cases() {
  static const std::vector<ProductCase> all = {
      {"gemm", "linear"},  {"linear_gelu", "linear"}, {"linear_gelu_tanh", "linear"},
      {"mlp_gelu", "mlp"}, {"mlp_relu", "mlp"},       {"block", "block"},
  };
  return all;
}

std::size_t step_of_products(const ProductShape& of) { return std::max<std::size_t>(1, of.rows() / looked_at); }

std::string fault_of(const ProductCase& c, bool bfloat16, const ProductShape& of, std::span<const float> result) {
  static std::map<std::tuple<std::string, bool, std::string>, Lines> known;
  const auto [at, fresh] = known.try_emplace({c.name, bfloat16, of.extents()});
  if (fresh) at->second = right_of(c, bfloat16, of);
  const Lines& right = at->second;
  if (result.size() != right.values.size())
    return std::string(c.name) + ": " + std::to_string(result.size()) + " elements are looked at, not " +
           std::to_string(right.values.size());
  // The error of a sum scales with its terms, which a row's typical element reflects.
  const double tolerance = bfloat16 ? 4e-2 : 1e-4;
  for (std::size_t row = 0; row < right.rows; ++row) {
    const auto line = std::span(right.values).subspan(row * right.columns, right.columns);
    double squares = 0;
    for (const double v : line) squares += v * v;
    const double typical = std::sqrt(squares / static_cast<double>(line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double found = result[row * right.columns + i];
      if (!(std::abs(found - line[i]) <= tolerance * std::max(typical, std::abs(line[i]))))
        return std::string(c.name) + ": element " + std::to_string(i) + " of row " +
               std::to_string(row * step_of_products(of)) + " is " + std::to_string(found) + ", not " +
               std::to_string(line[i]);
    }
  }
  return {};
}

}  // namespace bench
