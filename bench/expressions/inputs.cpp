#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

namespace bench {
namespace {

struct Range {
  float low;
  float high;
};
Range range(Operand operand) {
  switch (operand) {
    case Operand::X:
    case Operand::Wide: return {-3, 3};
    case Operand::Spot:
    case Operand::Strike: return {50, 150};
    case Operand::Time: return {0.1f, 2};
    case Operand::Variance: return {0.5f, 2};
    case Operand::Pixels: return {0, 256};
    default: return {-1, 1};
  }
}

std::vector<float> draw(Operand operand, std::size_t count) {
  std::mt19937 generator(static_cast<unsigned>(operand) + 1);
  std::uniform_real_distribution<float> distribution(range(operand).low, range(operand).high);
  std::vector<float> values(count);
  for (float& v : values) v = distribution(generator);
  if (operand == Operand::Pixels)
    for (float& v : values) v = std::min(255.f, std::floor(v));
  return values;
}

}  // namespace

Extent extent(std::size_t n) {
  static std::size_t of = 0;
  static Extent found;  // requested repeatedly
  if (n == of) return found;
  std::size_t rows = 1;
  for (std::size_t r = 2; r * r <= n; ++r)
    if (n % r == 0) rows = r;
  of = n;
  return found = {rows, n / rows};
}

std::size_t length(Operand operand, const Extent& of) {
  switch (operand) {
    case Operand::Wide: return 2 * of.rows * of.columns;
    case Operand::Row:
    case Operand::Gain:
    case Operand::Shift: return of.columns;
    case Operand::Column:
    case Operand::Mean:
    case Operand::Variance: return of.rows;
    default: return of.rows * of.columns;
  }
}
std::size_t length(Operand operand, std::size_t n) { return length(operand, extent(n)); }

const std::vector<float>& input(Operand operand, const Extent& of) {
  static std::map<std::pair<Operand, std::size_t>, std::vector<float>> drawn;
  const std::size_t count = length(operand, of);
  auto [at, fresh] = drawn.try_emplace({operand, count});
  if (fresh) at->second = draw(operand, count);
  return at->second;
}
const std::vector<float>& input(Operand operand, std::size_t n) { return input(operand, extent(n)); }

}  // namespace bench
