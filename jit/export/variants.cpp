// Which forms of a kernel are compiled, and when each is taken.
#include <algorithm>
#include <limits>
#include <span>

#include "../cuda/source.hpp"
#include "../plan/row_cache.hpp"
#include "../plan/row_scheme.hpp"
#include "model.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t large = 1 << 22;  // rows or columns that stand for any number of them
/// Where the choice of threads for a row changes, about: along rows, and across rows that are neighbours. Each step is
/// one more text to compile and to carry, so between few rows and many there is one.
constexpr std::int64_t columns_along[] = {64, 512, 4096, 16384, 65535, large};
constexpr std::int64_t rows_along[] = {256, large};
constexpr std::int64_t columns_across[] = {16, 511, large};
constexpr std::int64_t rows_across[] = {64, large};
/// The same where there are no vectors, and of operands with strides.
constexpr std::int64_t columns_scalar[] = {512, 16384, large};
constexpr std::int64_t rows_strided[] = {large};

class Adder {
 public:
  Adder(const Kernel& kernel, const KernelTraits& traits, Loops& loops)
      : kernel_(kernel), traits_(traits), loops_(loops) {}

  void add(const KernelClass& c, std::int64_t rows = any, std::int64_t columns = any) {
    std::string text = cuda::source(kernel_, traits_, c);
    std::size_t v = 0;
    while (v < loops_.variants.size() && loops_.variants[v].text != text) ++v;
    if (v == loops_.variants.size()) loops_.variants.push_back({c, std::move(text)});
    loops_.rules.push_back({rows, columns, v});
  }

 private:
  const Kernel& kernel_;
  const KernelTraits& traits_;
  Loops& loops_;
};

/// Whether outputs are written by vectors, and something is read or written by them at all.
bool takes_vectors(const KernelTraits& traits, const Loops& loops) {
  bool any_vector = false;
  const int dim = loops.base.rows.across ? loops.nest.row_dims() - 1 : loops.nest.ndim - 1;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    if (traits.operands[k].per_row) continue;
    const bool follows = loops.nest.operands[k].strides[dim] == 1;
    any_vector |= follows;
    if (k < static_cast<std::size_t>(traits.outputs) && !follows) return false;
  }
  return any_vector;
}

void add_elementwise(const KernelTraits& traits, const Loops& loops, Adder& adder) {
  for (const bool wide : {false, true})
    for (int lanes = traits.lanes; lanes >= 1; lanes = lanes > 1 ? 1 : 0) {
      if (lanes > 1 && !takes_vectors(traits, loops)) continue;
      KernelClass c = loops.base;
      c.lanes = lanes, c.wide = wide;
      adder.add(c);
    }
}

/// The longest rows that stay in a block's shared memory.
std::int64_t longest_cached(const RowTraits& traits) noexcept {
  std::int64_t fits = 0, too_long = largest_shared;
  while (too_long - fits > 1) {
    const std::int64_t columns = (fits + too_long) / 2;
    const bool does = row_cache_extent(columns, traits.row_cache_bytes, variable_bytes(traits), largest_shared) > 0;
    (does ? fits : too_long) = columns;
  }
  return fits;
}

/// Up to how many columns each choice holds.
std::vector<std::int64_t> column_limits(const RowTraits& traits, bool across, bool few) {
  const auto list = [](std::span<const std::int64_t> limits) { return std::vector(limits.begin(), limits.end()); };
  if (across) return list(columns_across);
  if (few) return list(columns_scalar);
  std::vector<std::int64_t> limits = list(columns_along);
  limits.push_back(longest_cached(traits));
  std::ranges::sort(limits);
  std::erase(limits, 0);
  return limits;
}

void add_rows(const KernelTraits& traits, bool in_place, const Loops& loops, Adder& adder) {
  const bool across = loops.base.rows.across;
  using Limits = std::span<const std::int64_t>;
  const bool strided = loops.layout != Layout::Contiguous;
  const Limits all_rows = strided ? Limits(rows_strided) : across ? Limits(rows_across) : rows_along;
  const auto of_lanes = [&](int lanes, bool wide) {
    for (const std::int64_t columns : column_limits(*traits.rows, across, strided || lanes == 1))
      for (const std::int64_t rows : all_rows) {
        if (wide && (columns != large || rows != large)) continue;
        RowScheme scheme =
            choose_rows(*traits.rows, {.rows = rows, .columns = columns, .lanes = lanes, .across = across});
        scheme.text.tail = scheme.text.exact = false;
        if (wide) scheme.text.split = scheme.text.row_cache = false;
        KernelClass c = loops.base;
        c.lanes = scheme.lanes, c.wide = wide, c.rows = scheme.text;
        if (c.rows.split && in_place && !traits.rows->shares_rows) c.rows.split = false;
        const auto limit = [](std::int64_t n) { return n == large ? any : n; };
        adder.add(c, limit(rows), limit(columns));
        if (!c.rows.split) continue;
        c.rows.split = false;  // without a workspace one block processes the whole row
        adder.add(c, limit(rows), limit(columns));
      }
  };
  const bool vectors = traits.lanes > 1 && takes_vectors(traits, loops);
  if (vectors) of_lanes(traits.lanes, false);
  of_lanes(1, false);
  of_lanes(1, true);
}

}  // namespace

void add_variants(const Kernel& kernel, const KernelTraits& traits, bool in_place, Loops& loops) {
  const ClassKey key = classify_untiled(traits, loops.nest, in_place);
  loops.base = key.decode(traits.operands.size());
  Adder adder(kernel, traits, loops);
  if (kernel.rows)
    add_rows(traits, in_place, loops, adder);
  else
    add_elementwise(traits, loops, adder);
}

}  // namespace sinter::inline v1::jit::exporting
