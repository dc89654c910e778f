// Views and gathers in texts: x.t(), x[1:, None], embedding(w, ids).
#include <fmt/format.h>

#include <jit/evaluate/lazy_node.hpp>
#include <sinter/dsl/indexing.hpp>
#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;
using Kind = TextValue::Kind;

Any viewed(const Arguments& a) { return a.tensor(0).lazy(); }

TextValue transposed(const Arguments& a) { return TextValue::tensor(viewed(a).transpose(a.integer(1), a.integer(2))); }
TextValue matrix_transposed(const Arguments& a) { return TextValue::tensor(viewed(a).t()); }
TextValue permuted(const Arguments& a) {
  const Shape axes = a.shape(1);
  return TextValue::tensor(view_of(viewed(a), [&](TensorImpl& x) { return detail::permute(x, axes); }));
}
TextValue moved(const Arguments& a) { return TextValue::tensor(viewed(a).movedim(a.integer(1), a.integer(2))); }
TextValue reshaped(const Arguments& a) { return TextValue::tensor(viewed(a).reshape(a.shape(1))); }
TextValue flattened(const Arguments& a) {
  return TextValue::tensor(viewed(a).flatten(a.integer(1, 0), a.integer(2, -1)));
}
TextValue unflattened(const Arguments& a) { return TextValue::tensor(viewed(a).unflatten(a.integer(1), a.shape(2))); }
TextValue squeezed(const Arguments& a) {
  return TextValue::tensor(a[1] ? viewed(a).squeeze(a.integer(1)) : viewed(a).squeeze());
}
TextValue unsqueezed(const Arguments& a) { return TextValue::tensor(viewed(a).unsqueeze(a.integer(1))); }
TextValue expanded(const Arguments& a) { return TextValue::tensor(viewed(a).expand(a.shape(1))); }
TextValue narrowed(const Arguments& a) {
  return TextValue::tensor(viewed(a).narrow(a.integer(1), a.integer(2), a.integer(3)));
}
TextValue selected(const Arguments& a) { return TextValue::tensor(viewed(a).select(a.integer(1), a.integer(2))); }
TextValue flipped(const Arguments& a) {
  const Shape axes = a.shape(1);
  return TextValue::tensor(view_of(viewed(a), [&](TensorImpl& x) { return detail::flip(x, axes); }));
}
TextValue diagonal_of(const Arguments& a) {
  return TextValue::tensor(viewed(a).diagonal(a.integer(1, 0), a.integer(2, 0), a.integer(3, 1)));
}

/// The source of a gather: a tensor as it is; anything else is evaluated.
AnyTensor source_of(const TextValue& v) {
  const jit::LazyAccess::Content content = jit::LazyAccess::snapshot(v.node);
  return content.op == Op::leaf && content.leaf.is_current() ? AnyTensor(content.leaf.tensor)
                                                             : AnyTensor(tensor_from(v.lazy()));
}

TextValue taken(const Arguments& a) { return TextValue::tensor(Any(take(source_of(a.tensor(0)), a.tensor(1).lazy()))); }
TextValue index_selected(const Arguments& a) {
  return TextValue::tensor(Any(index_select(source_of(a.tensor(0)), a.integer(1), a.tensor(2).lazy())));
}
TextValue gathered(const Arguments& a) {
  return TextValue::tensor(Any(gather(source_of(a.tensor(0)), a.integer(1), a.tensor(2).lazy())));
}
TextValue embedded(const Arguments& a) {
  return TextValue::tensor(Any(embedding(source_of(a.tensor(0)), a.tensor(1).lazy())));
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
    return TextValue::tensor(Any(source_of(x_)[ids.lazy()]));
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
  static const auto& all = *new std::vector<TextFunction>{
      {"transpose", {"input", "dim0", "dim1"}, {}, "two axes exchanged", transposed},
      {"t", {"input"}, {}, "the transpose of a matrix", matrix_transposed},
      {"permute", {"input", "dims"}, {}, "the axes in another order", permuted, true},
      {"movedim", {"input", "source", "destination"}, {}, "an axis moved to another place", moved},
      {"reshape", {"input", "shape"}, {}, "another shape; one extent may be -1", reshaped, true},
      {"flatten",
       {"input", "start_dim", "end_dim"},
       {"0", "-1"},
       "a range of axes, both ends included, merged into one",
       flattened},
      {"unflatten", {"input", "axis", "sizes"}, {}, "an axis split into several", unflattened},
      {"squeeze", {"input", "axis"}, {"None"}, "without axes of extent 1", squeezed},
      {"unsqueeze", {"input", "axis"}, {}, "a new axis of extent 1", unsqueezed},
      {"expand", {"input", "size"}, {}, "broadcast to a shape", expanded, true},
      {"broadcast_to", {"input", "size"}, {}, "broadcast to a shape", expanded, true},
      {"narrow", {"input", "axis", "start", "length"}, {}, "a range of an axis: its start and length", narrowed},
      {"select", {"input", "axis", "index"}, {}, "one position of an axis", selected},
      {"flip", {"input", "dims"}, {}, "reversed along axes", flipped, true},
      {"diagonal",
       {"input", "offset", "dim1", "dim2"},
       {"0", "0", "1"},
       "a diagonal of two axes, as the last axis",
       diagonal_of},
      {"take", {"input", "index"}, {}, "the elements at row-major positions", taken},
      {"index_select", {"input", "axis", "index"}, {}, "the parts at positions along an axis", index_selected},
      {"gather", {"input", "axis", "index"}, {}, "for each index the element at that position of an axis", gathered},
      {"embedding", {"weight", "input"}, {}, "the rows of a matrix at positions", embedded},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
