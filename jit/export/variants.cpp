// Which forms of a kernel are compiled, and when each is taken.
#include <algorithm>
#include <bit>
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
/// Sizes at which the row scheme changes, approximately: for rows that are contiguous, and for rows that are adjacent
/// to each other. Each one adds a text to compile and to carry, so there is only one between few rows and many.
constexpr std::int64_t columns_contiguous[] = {64, 512, 4096, 16384, 65535, large};
constexpr std::int64_t rows_contiguous[] = {64, large};
constexpr std::int64_t columns_row_per_element[] = {16, 511, large};
constexpr std::int64_t rows_row_per_element[] = {64, large};
/// Limits for variants without vectors, and for operands with strides.
constexpr std::int64_t columns_scalar[] = {512, 16384, large};
constexpr std::int64_t rows_strided[] = {large};
/// Up to this many elements in all, vectors do not make a launch faster.
constexpr std::int64_t few_elements = 1024;

/// A number of rows or columns that stands for all up to a limit.
struct Representative {
  std::int64_t count, limit;
};
using Representatives = std::vector<Representative>;

/// An extent that is a number stands for itself alone.
Representatives representatives(const Extent& extent, std::span<const std::int64_t> counts) {
  if (extent.is_number()) return {{extent.factor(), any}};
  Representatives out;
  for (const std::int64_t n : counts) out.push_back({n, n == large ? any : n});
  return out;
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

class Variants {
 public:
  Variants(const Model& model, const Step& step, LayoutVersion& version)
      : model_(model), step_(step), traits_(*step.traits), nest_(version.nest), version_(version) {}

  void add() {
    if (model_.one_variant) return add(1, may_be_wide());
    const bool has_vectors = may_have_vectors(traits_.vector_width);
    if (has_vectors) add(traits_.vector_width, false);
    add(1, false);
    if (!may_be_wide()) return;
    if (has_vectors && !traits_.rows) add(traits_.vector_width, true);
    add(1, true);
  }

 private:
  // ---- What the extents allow

  int vector_dim() const noexcept { return version_.base.rows.row_per_element ? nest_.row_dims() - 1 : nest_.ndim - 1; }

  /// Whether outputs are written by vectors, and something is read or written by them at all.
  bool may_have_vectors(int width) const {
    if (width == 1) return false;
    const int dim = vector_dim();
    const auto is_off = [&](const Extent& e) { return e.is_number() && e.factor() % width != 0; };
    const Extent& extent = nest_.extents[dim];
    if (nest_.numel.is_number() && nest_.numel.factor() <= few_elements) return false;
    if (extent.is_number() && (extent.factor() < width || (nest_.ndim > 1 && is_off(extent)))) return false;
    bool any_vector = false;
    for (std::size_t k = 0; k < traits_.operands.size(); ++k) {
      if (traits_.operands[k].per_row) continue;
      const auto& strides = nest_.operands[k].strides;
      const bool follows = strides[dim] == 1;
      any_vector |= follows;
      if (!follows && k < static_cast<std::size_t>(traits_.outputs)) return false;
      for (int d = 0; d < nest_.ndim && follows && traits_.operands[k].memory; ++d)
        if (d != dim && is_off(strides[d])) return false;
    }
    return any_vector;
  }

  /// Whether indices or offsets may need 64 bits; in a kernel that reduces, those within a row.
  bool may_be_wide() const {
    const int first = traits_.rows ? nest_.row_dims() : 0;
    const auto is_small = [](const Extent& e) { return e.is_number() && std::abs(e.factor()) < narrow_limit; };
    Extent count = 1;
    for (int d = first; d < nest_.ndim; ++d)
      if (!is_small(count *= nest_.extents[d])) return true;
    return std::ranges::any_of(nest_.operands, [&](const auto& o) {
      std::int64_t reach = 0;
      for (int d = first; d < nest_.ndim; ++d) {
        if (!is_small(o.strides[d])) return true;
        reach += std::abs(o.strides[d].factor()) * std::max<std::int64_t>(nest_.extents[d].factor() - 1, 0);
        if (reach >= narrow_limit) return true;
      }
      return false;
    });
  }

  // ---- Variants

  void add(int width, bool wide) { traits_.rows ? add_rows(width, wide) : add_elementwise(width, wide); }

  void add(const KernelClass& c, std::int64_t rows = any, std::int64_t columns = any) {
    std::string text = cuda::source(*step_.kernel, traits_, c);
    std::size_t v = 0;
    while (v < version_.variants.size() && version_.variants[v].text != text) ++v;
    if (v == version_.variants.size()) version_.variants.push_back({c, std::move(text)});
    version_.rules.push_back({rows, columns, v});
  }

  void add_elementwise(int width, bool wide) {
    KernelClass c = version_.base;
    c.vector_width = width, c.wide = wide;
    add(c);
  }

  Representatives columns(int width) const {
    std::vector<std::int64_t> counts(std::begin(columns_contiguous), std::end(columns_contiguous));
    if (version_.base.rows.row_per_element)
      counts.assign(std::begin(columns_row_per_element), std::end(columns_row_per_element));
    else if (version_.layout != Layout::Contiguous || width == 1)
      counts.assign(std::begin(columns_scalar), std::end(columns_scalar));
    else if (const std::int64_t cached = longest_cached(*traits_.rows); cached > 0)
      counts.insert(std::ranges::lower_bound(counts, cached), cached);
    return representatives(nest_.columns(), counts);
  }

  Representatives rows() const {
    using Counts = std::span<const std::int64_t>;
    return representatives(nest_.rows(), version_.layout != Layout::Contiguous ? Counts(rows_strided)
                                         : version_.base.rows.row_per_element  ? Counts(rows_row_per_element)
                                                                               : Counts(rows_contiguous));
  }

  void add_rows(int width, bool wide) {
    const Representatives all_columns = columns(width), all_rows = rows();
    const auto last = [](const Representatives& r) { return Representatives{r.back()}; };
    const bool one = wide || model_.one_variant;
    for (const Representative& c : one ? last(all_columns) : all_columns)
      for (const Representative& r : one ? last(all_rows) : all_rows) add_scheme(width, wide, r, c);
  }

  void add_scheme(int width, bool wide, const Representative& rows, const Representative& columns) {
    RowScheme scheme = choose_rows(*traits_.rows, {.rows = rows.count,
                                                   .columns = columns.count,
                                                   .vector_width = width,
                                                   .row_per_element = version_.base.rows.row_per_element,
                                                   .strided = version_.layout == Layout::Strided});
    scheme.config.tail = false;
    if (!nest_.columns().is_number())
      scheme.config.full_vectors = false;
    else if (scheme.config.in_registers && scheme.config.team == 0)
      scheme.config.block = static_cast<int>(std::bit_ceil(row_grid(scheme, rows.count, columns.count).block));
    if (wide || model_.one_variant) scheme.config.split = scheme.config.row_cache = false;
    KernelClass c = version_.base;
    c.vector_width = scheme.vector_width, c.wide = wide, c.rows = scheme.config;
    if (c.rows.split && model_.in_place && !traits_.rows->shares_rows) c.rows.split = false;
    add(c, rows.limit, columns.limit);
    if (!c.rows.split) return;
    c.rows.split = false;  // without a workspace one block processes the whole row
    add(c, rows.limit, columns.limit);
  }

  const Model& model_;
  const Step& step_;
  const KernelTraits& traits_;
  const SymbolicNest& nest_;
  LayoutVersion& version_;
};

}  // namespace

void add_variants(const Model& model, const Step& step, LayoutVersion& version) {
  const ClassKey key = classify_untiled(*step.traits, model.sizes->example(version.nest), model.in_place);
  version.base = key.decode(step.traits->operands.size());
  Variants(model, step, version).add();
}

}  // namespace sinter::inline v1::jit::exporting
