// Views and gathers in texts: x.t(), x[1:, None], embedding(w, ids).
#include <fmt/format.h>

#include <algorithm>

#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/reduce.hpp>
#include "../checked_axis.hpp"
#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;
using Kind = TextValue::Kind;

/// A view of the first argument, by a function of a tensor's array.
template <class F>
TextValue viewed(const Arguments& a, F view) {
  return of_source(a.tensor(0), [&](const auto& x) { return view_of(x, [&](TensorImpl& t) { return view(t); }); });
}
TextValue transposed(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::transpose(x, a.integer(1), a.integer(2)); });
}
TextValue matrix_transposed(const Arguments& a) {
  return viewed(a, [](TensorImpl& x) { return detail::t(x); });
}
TextValue permuted(const Arguments& a) {
  const Shape axes = a.shape(1);
  return viewed(a, [&](TensorImpl& x) { return detail::permute(x, axes); });
}
/// The axes in the order after each source moved to its destination.
Shape moved_order(const Arguments& a, const TensorImpl& x) {
  const Shape from = a.shape(1), to = a.shape(2);
  if (from.ndim() != to.ndim()) a.wrong(2, fmt::format("as long as 'source', which has {} axes", from.ndim()));
  Shape order;
  for (int i = 0; i < x.ndim(); ++i) order.push_back(-1);
  std::uint32_t sources = 0;
  for (int i = 0; i < from.ndim(); ++i) {
    const int source = checked_axis("movedim", from[i], x), destination = checked_axis("movedim", to[i], x);
    if (sources >> source & 1) a.wrong(1, "a list of different axes");
    if (order[destination] != -1) a.wrong(2, "a list of different axes");
    order[destination] = source;
    sources |= 1U << source;
  }
  int next = 0;
  for (int i = 0; i < x.ndim(); ++i) {
    if (order[i] != -1) continue;
    while (sources >> next & 1) ++next;
    order[i] = next++;
  }
  return order;
}
TextValue moved(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::permute(x, moved_order(a, x)); });
}
TextValue reshaped(const Arguments& a) {
  const Shape shape = a.shape(1);
  return viewed(a, [&](TensorImpl& x) { return detail::reshape(x, shape); });
}
TextValue viewed_as(const Arguments& a) {
  const Shape shape = a.shape(1);
  return viewed(a, [&](TensorImpl& x) { return detail::view_as_shape(x, shape); });
}
TextValue flattened(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::flatten(x, a.integer(1, 0), a.integer(2, -1)); });
}
TextValue unflattened(const Arguments& a) {
  const Shape sizes = a.shape(2);
  return viewed(a, [&](TensorImpl& x) { return detail::unflatten(x, a.integer(1), sizes); });
}
TextValue squeezed(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) {
    if (!a[1]) return detail::squeeze(x);
    std::uint8_t squeezes = 0;  // counted from the end
    const Shape given = a.shape(1);
    if (!find_axes(Axes(std::span<const std::int64_t>(given.begin(), given.end())), x.ndim(), squeezes))
      throw_wrong_axes("squeeze", Axes(std::span<const std::int64_t>(given.begin(), given.end())),
                       {x.shape, x.dtype, x.device});
    TensorRef view = TensorRef::share(&x);
    for (int i = 0; i < x.ndim(); ++i)  // from the last axis on, so that the others keep their numbers
      if (squeezes >> i & 1) view = detail::squeeze(*view, x.ndim() - 1 - i);
    return view;
  });
}
TextValue unsqueezed(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::unsqueeze(x, a.integer(1)); });
}
TextValue expanded(const Arguments& a) {
  const Shape shape = a.shape(1);
  return viewed(a, [&](TensorImpl& x) { return detail::expand(x, shape); });
}
TextValue narrowed(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::narrow(x, a.integer(1), a.integer(2), a.integer(3)); });
}
TextValue selected(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::select(x, a.integer(1), a.integer(2)); });
}
TextValue flipped(const Arguments& a) {
  const Shape axes = a.shape(1);
  return viewed(a, [&](TensorImpl& x) { return detail::flip(x, axes); });
}
TextValue diagonal_of(const Arguments& a) {
  return viewed(a,
                [&](TensorImpl& x) { return detail::diagonal(x, a.integer(1, 0), a.integer(2, 0), a.integer(3, 1)); });
}
TextValue windows(const Arguments& a) {
  return viewed(a, [&](TensorImpl& x) { return detail::unfold(x, a.integer(1), a.integer(2), a.integer(3)); });
}

TextValue taken(const Arguments& a) {
  return of_array(a.tensor(0), [&](const auto& x) { return take(x, a.tensor(1).lazy()); });
}
TextValue index_selected(const Arguments& a) {
  return of_array(a.tensor(0), [&](const auto& x) { return index_select(x, a.integer(1), a.tensor(2).lazy()); });
}
TextValue gathered(const Arguments& a) {
  return of_array(a.tensor(0), [&](const auto& x) { return gather(x, a.integer(1), a.tensor(2).lazy()); });
}
TextValue taken_along(const Arguments& a) {
  return of_array(a.tensor(0), [&](const auto& x) { return take_along_dim(x, a.tensor(1).lazy(), a.integer(2)); });
}
/// The row of `padding_idx` is a constant to gradients.
TextValue embedded(const Arguments& a) {
  const Any ids = a.tensor(1).lazy();
  return of_array(a.tensor(0), [&](const auto& weight) {
    const Any rows = embedding(weight, ids);
    if (!a[2]) return rows;
    const auto is_padding = ids.unsqueeze(-1) == a.integer(2);
    return Any(where(is_padding, stop_gradient(rows), rows));
  });
}

/// Applies one index after another, each to the axis that the previous ones left.
class Indexing {
 public:
  Indexing(const TextValue& x, std::span<const TextValue> indices, std::string_view text)
      : x_(x), indices_(indices), text_(text) {}

  TextValue result() const {
    check();
    if (indices_.size() == 1 && indices_[0].is_tensor()) return rows(indices_[0]);
    return TextValue::tensor(view_of(x_.lazy(), [&](TensorImpl& x) { return part(x); }));
  }

 private:
  [[noreturn]] void fail(const TextValue& index, const std::string& what) const { throw_at(text_, index.place, what); }
  void check() const {
    int ellipses = 0;
    for (const TextValue& i : indices_) {
      const bool is_position = i.kind == Kind::Number && i.number.is_int();
      if (i.kind == Kind::Ellipsis && ++ellipses > 1) fail(i, "an index has at most one '...'");
      if (i.is_tensor() && indices_.size() > 1)
        fail(i,
             "a tensor of indices must be the only index, x[ids]: index_select(x, axis, ids) reads along another axis");
      if (is_position || i.is_tensor() || i.kind == Kind::Slice || i.kind == Kind::Ellipsis || i.kind == Kind::None)
        continue;
      fail(i, fmt::format("an index is an integer, a slice, None, '...' or a tensor of integers, but got {}",
                          describe(i)));
    }
  }
  TextValue rows(const TextValue& ids) const {
    if (ids.node->dtype() == sinter::DType::Bool)
      fail(ids,
           "how many elements a mask takes is known when it is evaluated: write where(mask, x, 0), or pass in "
           "masked_select(x, mask)");
    return of_array(x_, [&](const auto& x) { return x[ids.lazy()]; });
  }
  /// The number of x's axes that the index covers.
  std::size_t named() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        indices_, [](const TextValue& i) { return i.kind == Kind::Number || i.kind == Kind::Slice; }));
  }
  TensorRef part(TensorImpl& x) const {
    check_index_count(x, named());
    TensorRef view = TensorRef::share(&x);
    std::int64_t axis = 0;
    for (const TextValue& i : indices_) {
      if (i.kind == Kind::Ellipsis)
        axis += x.shape.ndim() - static_cast<std::int64_t>(named());
      else if (i.kind == Kind::None)
        view = detail::unsqueeze(*view, axis++);
      else if (i.kind == Kind::Number)
        view = detail::select(*view, axis, i.number.integer);
      else
        view = detail::slice(*view, axis++, range_of(i));
    }
    return view;
  }
  range range_of(const TextValue& slice) const {
    const auto bound = [&](std::size_t i, std::int64_t fallback) {
      const TextValue& v = slice.items[i];
      if (v.kind == Kind::None) return fallback;
      if (v.kind != Kind::Number || !v.number.is_int())
        fail(v, fmt::format("the bounds of a slice are integers, but got {}", describe(v)));
      return v.number.integer;
    };
    return {bound(0, range::none), bound(1, range::none), bound(2, 1)};
  }

  const TextValue& x_;
  std::span<const TextValue> indices_;
  std::string_view text_;
};

}  // namespace

TextValue indexed(std::span<const TextValue> values, std::string_view text) {
  if (!values[0].is_tensor())
    throw_at(text, values[0].place, fmt::format("only a tensor can be indexed, but got {}", describe(values[0])));
  return Indexing(values[0], values.subspan(1), text).result();
}

std::span<const TextFunction> text_views() {
  constexpr std::string_view operand = "Operand";
  static const auto& all = *new std::vector<TextFunction>{
      {"transpose", "input, dim0, dim1", "two axes exchanged", transposed, operand},
      {"t", "input", "the transpose of a matrix", matrix_transposed, operand},
      {"permute", "input, *dims", "the axes in another order", permuted, operand},
      {"movedim", "input, source, destination", "an axis, or several, moved to another place", moved, operand},
      {"reshape", "input, *shape", "another shape; one extent may be -1", reshaped, operand},
      {"view", "input, *shape", "another shape of the same memory; one extent may be -1", viewed_as, operand},
      {"flatten", "input, start_dim=0, end_dim=-1", "a range of axes, both ends included, merged into one", flattened,
       operand},
      {"unflatten", "input, axis, sizes", "an axis split into several", unflattened, operand},
      {"squeeze", "input, axis=None", "without axes of extent 1, or without the given ones of them", squeezed, operand},
      {"unsqueeze", "input, axis", "a new axis of extent 1", unsqueezed, operand},
      {"expand", "input, *size", "broadcast to a shape", expanded, operand},
      {"broadcast_to", "input, *size", "broadcast to a shape", expanded, operand},
      {"narrow", "input, axis, start, length", "a range of an axis: its start and length", narrowed, operand},
      {"select", "input, axis, index", "one position of an axis", selected, operand},
      {"flip", "input, *dims", "reversed along axes", flipped, operand},
      {"diagonal", "input, offset=0, dim1=0, dim2=1", "a diagonal of two axes, as the last axis", diagonal_of, operand},
      {"unfold", "input, axis, size, step", "windows of an axis, as a last axis", windows, operand},
      {"take", "input, index", "the elements at row-major positions", taken},
      {"index_select", "input, axis, index", "the parts at positions along an axis", index_selected},
      {"gather", "input, axis, index", "for each index the element at that position of an axis", gathered},
      {"take_along_dim", "input, indices, axis",
       "for each index the element at that position of an axis; shapes broadcast along the others", taken_along},
      {"embedding", "weight, input, padding_idx=None",
       "the rows of a matrix at positions; the row padding_idx has no gradient", embedded},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
