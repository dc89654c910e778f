// Order, scans, and reductions with several results. They evaluate.
#include <sinter/dsl/reduce.hpp>
#include <sinter/dsl/scan.hpp>

#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;

TextValue in_order(const Arguments& a) {
  return of_source(a.tensor(0), [&](const auto& x) { return sort(x, a.integer(1, -1), a.flag(2), a.flag(3)); });
}
TextValue order(const Arguments& a) {
  a.flag(3);  // always stable
  return of_source(a.tensor(0), [&](const auto& x) { return AnyTensor(argsort(x, a.integer(1, -1), a.flag(2))); });
}
TextValue largest(const Arguments& a) {
  a.flag(4);  // always sorted
  return of_source(a.tensor(0),
                   [&](const auto& x) { return topk(x, a.integer(1), a.integer(2, -1), a.flag(3, true)); });
}
TextValue kth(const Arguments& a) {
  return of_source(a.tensor(0), [&](const auto& x) { return kthvalue(x, a.integer(1), a.integer(2, -1), a.flag(3)); });
}

template <bool ignores_nan>
TextValue middle(const Arguments& a) {
  const KeepDim keep = a.flag(2);
  if (a[1])
    return of_source(a.tensor(0), [&](const auto& x) {
      return ignores_nan ? nanmedian(x, a.integer(1), keep) : median(x, a.integer(1), keep);
    });
  return of_source(a.tensor(0), [](const auto& x) { return ignores_nan ? nanmedian(x) : median(x); });
}

/// max(x), max(x, y), and max(x, axis) with positions.
template <const auto& along, Op of_all, Op of_two>
TextValue extreme_along(const Arguments& a) {
  const TextValue* other = a[3] ? a[3] : a[1] && a[1]->is_tensor() ? a[1] : nullptr;
  if (other) {
    if (!other->is_tensor()) a.wrong(3, "a tensor");
    const TextValue both[] = {a.tensor(0), *other};
    return applied(of_two, both);
  }
  if (a[1]) return of_source(a.tensor(0), [&](const auto& x) { return along(x, a.axes(1), KeepDim(a.flag(2))); });
  return value_of(Any(Reduces1<of_all>{}(a.tensor(0).lazy(), {}, KeepDim(a.flag(2)))));
}

TextValue two(const AnyTensor& a, const AnyTensor& b) { return TextValue::list({value_of(a), value_of(b)}); }

TextValue extremes(const Arguments& a) {
  const auto found = aminmax(a.tensor(0).lazy(), a.axes(1), KeepDim(a.flag(2)));
  return two(found.min, found.max);
}

/// The variance, or the standard deviation, evaluated together with the mean.
template <Op deviation>
TextValue with_mean(const Arguments& a) {
  const std::array means{reduced(deviation, a).node,
                         Any(mean(a.tensor(0).lazy(), a.axes(1), KeepDim(a.flag(3)))).node()};
  TensorRef results[2];
  jit::evaluate(means, results);
  return two(AnyTensor(results[0]), AnyTensor(results[1]));
}

/// The elements in the dtype that a scan is requested in.
TextValue converted(const Arguments& a, std::size_t dtype) {
  const TextValue& x = a.tensor(0);
  if (!a[dtype] || a.dtype(dtype, DType::Bool) == x.node->dtype()) return x;
  const TextValue cast = cast_value(x, a.dtype(dtype, DType::Bool));
  return x.array ? value_of(AnyTensor(cast.lazy())) : cast;
}

TextValue sums(const Arguments& a) {
  return of_source(converted(a, 2), [&](const auto& x) { return cumsum(x, a.integer(1)); });
}
TextValue products(const Arguments& a) {
  return of_source(converted(a, 2), [&](const auto& x) { return cumprod(x, a.integer(1)); });
}
TextValue log_sums(const Arguments& a) {
  return of_source(a.tensor(0), [&](const auto& x) { return logcumsumexp(x, a.integer(1)); });
}
TextValue maxima(const Arguments& a) {
  return of_source(a.tensor(0), [&](const auto& x) { return cummax(x, a.integer(1)); });
}
TextValue minima(const Arguments& a) {
  return of_source(a.tensor(0), [&](const auto& x) { return cummin(x, a.integer(1)); });
}

/// The last of the products up to each element: the parts of complex numbers are not multiplied separately.
Any product_along(const Any& z, int axis, bool keep) {
  return view_of(Any(cumprod(z, axis)), [&](TensorImpl& products) {
    const TensorRef last = select(products, axis, -1);
    return keep ? unsqueeze(*last, axis) : last;
  });
}
/// As the reduction, also of complex numbers.
TextValue product(const Arguments& a) {
  const TextValue x = a[3] ? cast_value(a.tensor(0), a.dtype(3, {})) : a.tensor(0);
  if (!is_complex(x.node->dtype())) return reduced(Op::prod, a);
  const TextValue sum = reduced(Op::sum, a);  // checks the axes
  if (x.shape.numel() == 0) return applied(Op::add, std::array{sum, TextValue::of(TextNumber::of(std::int64_t{1}))});
  std::uint8_t along = jit::ReduceAxes::all_axes;
  if (!a.axes(1).all()) find_axes(a.axes(1), x.shape.ndim(), along);
  Any z = x.lazy();
  for (int axis = x.shape.ndim(); axis-- > 0;)
    if (along >> (x.shape.ndim() - 1 - axis) & 1) z = product_along(z, axis, a.flag(2));
  return value_of(z);
}

/// A tensor of one row per element, or, as NumPy has it, a tensor per axis.
TextValue nonzero_positions(const Arguments& a) {
  const AnyTensor rows(of_array(a.tensor(0), [](const auto& x) { return AnyTensor(nonzero(x)); }).array);
  return a.flag(1) ? value_of(rows.unbind(1)) : value_of(rows);
}
TextValue masked_elements(const Arguments& a) {
  return of_array(a.tensor(0), [&](const auto& x) { return AnyTensor(masked_select(x, a.tensor(1).lazy())); });
}

}  // namespace

std::span<const TextFunction> order_functions() {
  constexpr std::string_view tensor = "Tensor", operand = "Operand", found = "values, indices";
  static const auto& all = *new std::vector<TextFunction>{
      {"sort", "input, axis=-1, descending=False, stable=False",
       "the elements along an axis in order, and their positions; always stable", in_order, found},
      {"argsort", "input, axis=-1, descending=False, stable=False", "the positions that sort an axis", order, tensor},
      {"topk", "input, k, axis=-1, largest=True, sorted=True",
       "the k largest or smallest elements along an axis, in order, and their positions", largest, found},
      {"kthvalue", "input, k, axis=-1, keepdim=False",
       "the k-th smallest element along an axis, counted from 1, and its position", kth, found},
      {"median", "input, axis=None, keepdim=False",
       "the median, the lower of two middle elements; along an axis with its position", middle<false>,
       "Operand|values, indices"},
      {"nanmedian", "input, axis=None, keepdim=False", "the median of the elements that are not NaN", middle<true>,
       "Operand|values, indices"},
      {"max", "input, axis=None, keepdim=False, *, other=None",
       "the largest element; along an axis with its position; of two tensors the larger elements",
       extreme_along<sinter::max, Op::amax, Op::maximum>, "Expression|values, indices"},
      {"min", "input, axis=None, keepdim=False, *, other=None",
       "the smallest element; along an axis with its position; of two tensors the smaller elements",
       extreme_along<sinter::min, Op::amin, Op::minimum>, "Expression|values, indices"},
      {"aminmax", "input, axis=None, keepdim=False", "the smallest and the largest element, evaluated together",
       extremes, "min, max"},
      {"var_mean", "input, axis=None, correction=1, keepdim=False, *, unbiased=None",
       "the variance and the mean, evaluated together", with_mean<Op::var>, "var, mean"},
      {"std_mean", "input, axis=None, correction=1, keepdim=False, *, unbiased=None",
       "the standard deviation and the mean, evaluated together", with_mean<Op::std>, "std, mean"},
      {"prod", "input, axis=None, keepdim=False, *, dtype=None",
       "the product, in int64 for bools and integers; 1 if there are no elements", product},
      {"cumsum", "input, axis, *, dtype=None", "the sum of the elements up to each one", sums, operand},
      {"cumprod", "input, axis, *, dtype=None", "the product of the elements up to each one", products, operand},
      {"logcumsumexp", "input, axis", "log(sum(exp(x))) of the elements up to each one, without overflow", log_sums,
       operand},
      {"cummax", "input, axis", "the largest element up to each one, and its position", maxima, found},
      {"cummin", "input, axis", "the smallest element up to each one, and its position", minima, found},
      {"nonzero", "input, *, as_tuple=False",
       "the positions of the nonzero elements: a row for each, or with as_tuple a tensor for each axis",
       nonzero_positions, "Tensor|tuple[Tensor, ...]"},
      {"masked_select", "input, mask", "the elements where a mask is true, as one axis", masked_elements, tensor},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
