#include "error_bound.hpp"

#include <algorithm>
#include <cmath>

namespace sinter::fuzz {
namespace {

bool is_floating(DType t) { return category(t) >= Category::Float; }

DType part_of(DType t) { return is_complex(t) ? real_of(t) : t; }

/// The distance from 1 to the next number, halved.
double rounding(DType t) {
  switch (part_of(t)) {
    case DType::Float16: return 0x1p-11;
    case DType::BFloat16: return 0x1p-8;
    case DType::Float32: return 0x1p-24;
    default: return 0x1p-53;
  }
}

struct Sizes {
  double largest = 0;
  bool whole = true, has_infinity = false, has_nan = false, floating = false;
  double rounding = 0x1p-53;
};
Sizes sizes_of(std::span<const Plain> operands) {
  Sizes sizes;
  for (const Plain& o : operands) {
    const Extent e = extent_of(o);
    sizes.largest = std::max(sizes.largest, e.largest);
    sizes.whole &= e.is_whole;
    sizes.has_infinity |= e.has_infinity;
    sizes.has_nan |= e.has_nan;
    sizes.floating |= is_floating(o.dtype);
    if (is_floating(o.dtype)) sizes.rounding = std::max(sizes.rounding, rounding(o.dtype));
  }
  return sizes;
}

/// What the step itself adds.
double own_error(const Step& step, const Plain& result, std::span<const Plain> operands) {
  const Sizes in = sizes_of(operands);
  const Extent out = extent_of(result);
  const double unit = std::max(rounding(result.dtype), in.floating ? in.rounding : 0);
  const double terms = std::max(step.terms, 1.0), M = std::max(in.largest, 1.0);
  const bool exact = in.whole && out.is_whole && !step.rounds;
  switch (step.kind) {
    case Kind::Moves:
    case Kind::Decides: return 0;
    case Kind::Adds: return exact ? 0 : (terms + 4) * unit * terms * M;
    case Kind::Products: return exact ? 0 : (terms + 4) * unit * terms * M * M * (terms > 2 ? M : 1);
    case Kind::Smooth: return 32 * unit * std::max(out.largest, 1.0);
    case Kind::Other: break;
  }
  return 64 * terms * unit * (out.largest + M + (terms > 1 ? M * M : 0));
}

}  // namespace

Extent extent_of(const Plain& x) {
  Extent e;
  const DType part = part_of(x.dtype);
  const double most = 0.5 / rounding(part);
  for (const Cell& cell : x.cells)
    for (const long double number : numbers(x.dtype, cell)) {
      const double v = static_cast<double>(number);
      if (std::isnan(v)) {
        e.has_nan = true;
      } else if (std::isinf(v)) {
        e.has_infinity = true;
      } else {
        e.largest = std::max(e.largest, std::abs(v));
        e.is_whole &= v == std::trunc(v) && std::abs(v) <= most;
      }
    }
  return e;
}

std::optional<double> error_of(const Step& step, const Plain& result, std::span<const Plain> operands,
                               std::span<const double> errors) {
  if (!is_floating(result.dtype)) return 0;
  const Sizes in = sizes_of(operands);
  const Extent out = extent_of(result);
  const bool rounds = step.kind != Kind::Moves && step.kind != Kind::Decides;
  if (rounds && out.has_infinity && !in.has_infinity &&
      (step.kind != Kind::Other || size_of(part_of(result.dtype)) == 2))
    return {};
  if (rounds && out.has_nan && !in.has_nan && !in.has_infinity && step.terms > 2) return {};  // overflows on the way
  double before = 0;
  for (const double e : errors) before = std::max(before, e);
  double error = own_error(step, result, operands);
  if (before > 0) {
    const double M = std::max(in.largest, 1.0), unit = rounding(result.dtype);
    error += before + unit * std::max(out.largest, 1.0);
    if (step.kind == Kind::Adds) error += step.terms * before;
    if (step.kind == Kind::Products)
      error += step.terms * (3 * before * M * (step.terms > 2 ? M : 1) + before * before);
  }
  if (error == 0) return 0;
  const bool is_lost = error > 0.05 * std::max(out.largest, 1.0) || out.largest > 1e6;
  return is_lost ? std::nullopt : std::optional(error);
}

double reference_bound(const Step& step, const Plain& result, std::span<const Plain> operands) {
  if (!is_floating(result.dtype)) return 0;
  return own_error(step, result, operands);
}

}  // namespace sinter::fuzz
