// Writing to tensors at indices and masks. Functions whose names end in _ write to their first argument, the others to
// a copy of it.
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/mask.hpp>
#include <sinter/dsl/scatter.hpp>

#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;
using Indices = IndexInto<AnyTensor>;
using WriteTo = void (*)(AnyTensor& x, const Arguments& a);

template <WriteTo write>
TextValue in_place(const Arguments& a) {
  AnyTensor x = a.target(0);
  write(x, a);
  return {};
}
template <WriteTo write>
TextValue in_copy(const Arguments& a) {
  const TextValue& source = a.tensor(0);
  AnyTensor x = source.array ? AnyTensor(source.array).clone() : AnyTensor(source.lazy());
  write(x, a);
  return value_of(x);
}

/// Calls f with the values to write: a number or an expression.
template <class F>
void with_values(const Arguments& a, std::size_t i, F f) {
  with_operand(a.operand(i), [&](const auto& value) { f(value); });
}

/// src, or value, which PyTorch calls a number.
std::size_t source_at(const Arguments& a) {
  if (a[3] && a[4]) a.wrong(4, "omitted if 'src' is given");
  return a[4] ? 4 : 3;
}
void scatter_into(AnyTensor& x, const Arguments& a) {
  const Indices index(a.tensor(2).lazy());
  with_values(a, source_at(a), [&](const auto& v) { x.scatter_(a.integer(1), index, v); });
}
void scatter_add_into(AnyTensor& x, const Arguments& a) {
  const Indices index(a.tensor(2).lazy());
  with_values(a, 3, [&](const auto& v) { x.scatter_add_(a.integer(1), index, v); });
}
void index_add_into(AnyTensor& x, const Arguments& a) {
  TextValue source = a.tensor(3);
  if (a[4]) {
    const TextValue factors[] = {source, a.operand(4)};
    source = applied(Op::mul, factors);
  }
  x.index_add_(a.integer(1), Indices(a.tensor(2).lazy()), source.lazy());
}
void index_copy_into(AnyTensor& x, const Arguments& a) {
  x.index_copy_(a.integer(1), Indices(a.tensor(2).lazy()), a.tensor(3).lazy());
}
void index_fill_into(AnyTensor& x, const Arguments& a) {
  with_values(a, 3, [&](const auto& v) { x.index_fill_(a.integer(1), Indices(a.tensor(2).lazy()), v); });
}

/// The indices of index_put; a mask stands for the positions where it is true.
void index_put_into(AnyTensor& x, const Arguments& a) {
  std::vector<Source> indices;
  for (const TextValue& index : a.tensors(1)) {
    if (index.node->dtype() != DType::Bool) {
      indices.push_back(Indices(index.lazy()).source);
      continue;
    }
    for (const auto& column : nonzero(index.lazy()).unbind(1)) indices.push_back(Indices(column).source);
  }
  const jit::Write how = a.flag(3) ? jit::Write::Add : jit::Write::Store;
  with_values(a, 2, [&](const auto& v) { index_put(x.impl(), indices, ValueInto<AnyTensor, true>(v).source, how); });
}

void masked_fill_into(AnyTensor& x, const Arguments& a) {
  if (a.tensor(1).node->dtype() != DType::Bool) a.wrong(1, "a mask of bools");
  with_values(a, 2, [&](const auto& v) { x.masked_fill_(a.tensor(1).lazy(), v); });
}
void copy_into(AnyTensor& x, const Arguments& a) {
  if (is_complex(a.tensor(1).node->dtype()) && !is_complex(x.dtype()))
    throw DTypeError("copy_: complex numbers cannot be written to " + runtime::describe(x.impl()) +
                     ": take real(x), imag(x) or abs(x)");
  x.copy_(a.tensor(1).lazy());
}
void fill_with(AnyTensor& x, const Arguments& a) {
  with_values(a, 1, [&](const auto& v) { x.assign(v); });
}
void fill_with_zeros(AnyTensor& x, const Arguments&) { x.assign(false); }

}  // namespace

std::span<const TextFunction> write_functions() {
  constexpr std::string_view tensor = "Tensor";
  static const auto& all = *new std::vector<TextFunction>{
      {"scatter", "input, axis, index, src=None, *, value=None",
       "a copy with each element of src written to its index along an axis", in_copy<scatter_into>, tensor},
      {"scatter_", "input, axis, index, src=None, *, value=None",
       "writes each element of src to its index along an axis", in_place<scatter_into>, tensor},
      {"scatter_add", "input, axis, index, src", "a copy with each element of src added at its index along an axis",
       in_copy<scatter_add_into>, tensor},
      {"scatter_add_", "input, axis, index, src", "adds each element of src at its index along an axis",
       in_place<scatter_add_into>, tensor},
      {"index_add", "input, axis, index, source, *, alpha=None",
       "a copy with slice i of the source, times alpha, added to slice index[i]", in_copy<index_add_into>, tensor},
      {"index_add_", "input, axis, index, source, *, alpha=None",
       "adds slice i of the source, times alpha, to slice index[i]", in_place<index_add_into>, tensor},
      {"index_copy", "input, axis, index, source", "a copy with slice i of the source written to slice index[i]",
       in_copy<index_copy_into>, tensor},
      {"index_copy_", "input, axis, index, source", "writes slice i of the source to slice index[i]",
       in_place<index_copy_into>, tensor},
      {"index_fill", "input, axis, index, value", "a copy with a number written to the slices of an index",
       in_copy<index_fill_into>, tensor},
      {"index_fill_", "input, axis, index, value", "writes a number to the slices of an index",
       in_place<index_fill_into>, tensor},
      {"index_put", "input, indices, values, accumulate=False",
       "a copy with values written, or added, to x[indices]: tensors of positions or masks", in_copy<index_put_into>,
       tensor},
      {"index_put_", "input, indices, values, accumulate=False",
       "writes, or adds, values to x[indices]: tensors of positions or masks", in_place<index_put_into>, tensor},
      {"masked_fill_", "input, mask, value", "writes a value where the mask is true", in_place<masked_fill_into>,
       tensor},
      {"copy_", "input, src", "copies from any device and any dtype", in_place<copy_into>, tensor},
      {"fill_", "input, value", "writes one number to every element", in_place<fill_with>, tensor},
      {"zero_", "input", "writes 0 to every element", in_place<fill_with_zeros>, tensor},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
