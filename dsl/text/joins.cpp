// Tensors from parts and parts of tensors: cat, split, repeat, einsum.
#include <fmt/format.h>

#include <algorithm>

#include <sinter/dsl/einsum.hpp>
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/join.hpp>
#include <sinter/dsl/literal.hpp>
#include <sinter/dsl/sharded.hpp>

#include "../checked_axis.hpp"
#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;

TextValue joined(std::span<const TextValue> parts, std::int64_t axis, JoinLayoutOf layout_of) {
  if (std::ranges::all_of(parts, [](const TextValue& v) { return v.array || !v.is_tensor(); })) {
    std::vector<TensorImpl*> arrays;
    for (const TextValue& part : parts) arrays.push_back(part.array.get());
    return value_of(AnyTensor(join_arrays(layout_of, axis, arrays)));
  }
  std::vector<jit::LazyRef> nodes;
  std::vector<Shape> shapes;
  for (const TextValue& part : parts) nodes.push_back(part.node), shapes.push_back(part.shape);
  return value_of(Any(join_values(layout_of, axis, nodes, shapes)));
}

TextValue concatenated(const Arguments& a) { return joined(a.tensors(0), a.integer(1, 0), layout_of_cat); }
TextValue stacked(const Arguments& a) { return joined(a.tensors(0), a.integer(1, 0), layout_of_stack); }

/// Views of the first argument.
template <class F>
TextValue parts(const Arguments& a, F views) {
  return of_source(a.tensor(0),
                   [&](const auto& x) { return parts_of(x, [&](const TensorImpl& t) { return views(t); }); });
}

std::vector<TensorRef> sections(const Arguments& a, const TensorImpl& x, std::int64_t along) {
  const Shape& shape = x.shape;
  const int axis = checked_axis("split", along, x);
  std::vector<TensorRef> views;
  std::int64_t start = 0;
  for (const TextValue& item : a[1]->items) {
    if (item.kind != TextValue::Kind::Number || !item.number.is_int() || item.number.integer < 0)
      a.wrong(1, "a size or a list of sizes");
    const std::int64_t size = item.number.integer;
    if (size > shape[axis] - start) start = shape[axis] + 1;
    if (start > shape[axis]) break;
    views.push_back(narrow(x, axis, start, size));
    start += size;
  }
  if (start != shape[axis])
    throw ShapeError(fmt::format("split: the sizes add up to another number than {}, the extent of axis {} of {}",
                                 shape[axis], axis, runtime::describe(x)));
  return views;
}

TextValue divided(const Arguments& a) {
  const std::int64_t axis = a.integer(2, 0);
  if (a.required(1).kind == TextValue::Kind::List)
    return parts(a, [&](const TensorImpl& x) { return sections(a, x, axis); });
  return parts(a, [&](const TensorImpl& x) { return detail::split(x, a.integer(1), axis); });
}
TextValue chunks(const Arguments& a) {
  return parts(a, [&](const TensorImpl& x) { return detail::chunk(x, a.integer(1), a.integer(2, 0)); });
}
TextValue unbound(const Arguments& a) {
  return parts(a, [&](const TensorImpl& x) { return detail::unbind(x, a.integer(1, 0)); });
}

TextValue rolled(const Arguments& a) {
  const Shape shifts = a.shape(1);
  if (a[2]) {
    const Shape axes = a.shape(2);
    return of_source(a.tensor(0), [&](const auto& x) { return roll(x, shifts, axes); });
  }
  if (shifts.ndim() != 1) a.wrong(2, "given for several shifts");
  const Shape shape = a.tensor(0).shape;
  return of_source(a.tensor(0), [&](const auto& x) { return roll(x.flatten(), shifts, Shape(0)).reshape(shape); });
}

/// Each position `count` times in a row, or all of them again and again.
template <class X>
auto repeated(const X& x, std::int64_t axis, std::int64_t count, bool in_a_row) {
  const std::int64_t fresh = in_a_row ? axis + 1 : axis;
  const auto column = x.unsqueeze(fresh);
  Shape shape = x.shape();
  Shape wide;
  for (int i = 0; i <= shape.ndim(); ++i) wide.push_back(i == fresh ? count : shape[i > fresh ? i - 1 : i]);
  return column.expand(wide).flatten(axis, axis + 1);
}

TextValue tiled(const Arguments& a) {
  const Shape counts = a.shape(1);
  for (const std::int64_t count : counts)
    if (count < 0) a.wrong(1, "a list of counts of at least 0");
  return of_source(a.tensor(0), [&](auto x) {
    while (x.shape().ndim() < counts.ndim()) x = x.unsqueeze(0);
    for (int i = 0; i < counts.ndim(); ++i)
      if (counts[i] != 1) x = repeated(x, x.shape().ndim() - counts.ndim() + i, counts[i], false);
    return x;
  });
}

/// Position i of the axis as often as counts[i] says.
Tensor<std::int64_t> positions_of_counts(const Arguments& a, std::int64_t extent, Device device) {
  const std::vector<TextValue>& counts = a[1]->items;
  if (static_cast<std::int64_t>(counts.size()) != extent)
    a.wrong(1, fmt::format("a count, or one for each of the {} positions", extent));
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].kind != TextValue::Kind::Number || !counts[i].number.is_int() || counts[i].number.integer < 0)
      a.wrong(1, "a count of at least 0, or a list of such counts");
    positions.insert(positions.end(), static_cast<std::size_t>(counts[i].number.integer), static_cast<std::int64_t>(i));
  }
  return Tensor<std::int64_t>(
      from_host(positions.data(), Shape(static_cast<std::int64_t>(positions.size())), DType::Int64, device));
}

TextValue elements_repeated(const Arguments& a) {
  const TextValue& x = a.tensor(0);
  const bool is_list = a.required(1).kind == TextValue::Kind::List;
  if (!is_list && a.integer(1) < 0) a.wrong(1, "a count of at least 0");
  const auto along = [&](const auto& e, std::int64_t given) {
    const Shape shape = e.shape();
    const int axis = checked_axis("repeat", given, shape.ndim(), shape);
    if (!is_list) return value_of(repeated(e, axis, a.integer(1), true));
    return value_of(Any(index_select(e, axis, positions_of_counts(a, shape[axis], x.node->device()))));
  };
  const auto of = [&](const auto& e) { return a[2] ? along(e, a.integer(2)) : along(e.flatten(), 0); };
  return x.array ? of(AnyTensor(x.array)) : of(x.lazy());
}

TextValue summed(const Arguments& a) {
  std::vector<TensorRef> operands;
  std::vector<jit::LazyRef> leaves;
  for (const TextValue& x : a.tensors(1)) {
    if (x.array) {
      operands.push_back(x.array), leaves.push_back(x.node);
      continue;
    }
    const auto value = in_memory(x.lazy());
    operands.push_back(value.array), leaves.push_back(value.leaf.node());
  }
  return value_of(Any(einsum(a.text(0, ""), operands, leaves)));
}

/// A tensor in memory, or an expression's value.
AnyTensor evaluated_operand(const Arguments& a) {
  const TextValue& x = a.tensor(0);
  return x.array ? AnyTensor(x.array) : AnyTensor(x.lazy());
}
Mesh mesh_in(const Arguments& a) {
  if (!a[1] || a[1]->kind != TextValue::Kind::Device || !a[1]->device.is_mesh()) a.wrong(1, "a Mesh");
  return Mesh::of(a[1]->device);
}
TextValue sharded(const Arguments& a) {
  return value_of(AnyTensor(shard(evaluated_operand(a), mesh_in(a), a.integer(2, 0))));
}
TextValue replicated(const Arguments& a) { return value_of(AnyTensor(replicate(evaluated_operand(a), mesh_in(a)))); }
TextValue unsharded(const Arguments& a) {
  return value_of(AnyTensor(jit::gather(evaluated_operand(a).impl(), a.device(1))));
}
TextValue shards_of(const Arguments& a) {
  const AnyTensor x = a.target(0);
  if (!x.device().is_mesh()) a.wrong(0, "a tensor on a mesh");
  const Mesh mesh = Mesh::of(x.device());
  std::vector<AnyTensor> shards;
  for (int i = 0; i < mesh.local_size(); ++i) shards.emplace_back(shard_at(x.impl(), mesh.first_local_rank() + i));
  return value_of(shards);
}

}  // namespace

std::span<const TextFunction> join_functions() {
  constexpr std::string_view operand = "Operand", several = "tuple[Operand, ...]";
  static const auto& all = *new std::vector<TextFunction>{
      {"cat", "tensors, axis=0", "tensors joined along an axis that they have", concatenated, operand},
      {"stack", "tensors, axis=0", "tensors of one shape joined along a new axis", stacked, operand},
      {"split", "input, split_size_or_sections, axis=0",
       "views of parts of an axis: of one size, the last with the rest, or of the listed sizes", divided, several},
      {"chunk", "input, chunks, axis=0", "views of about equal parts of an axis", chunks, several},
      {"unbind", "input, axis=0", "views of the positions of an axis", unbound, several},
      {"roll", "input, shifts, dims=None",
       "positions shifted along axes, or along all of them as one; they come back "
       "at the start",
       rolled, operand},
      {"tile", "input, *repeats", "the tensor repeated along its last axes", tiled, operand},
      {"repeat", "input, repeats, *, axis=None",
       "each element, or each position of an axis, repeated: as often as a number or a list says", elements_repeated,
       operand},
      {"einsum", "equation, *operands",
       "products summed over the letters that the result lacks: einsum(\"ij,jk->ik\", "
       "a, b)",
       summed},
      {"shard", "input, mesh, axis=0", "divided over a mesh along an axis", sharded, "Tensor"},
      {"replicate", "input, mesh", "copied to every device of a mesh", replicated, "Tensor"},
      {"unshard", "input, device=None", "a tensor on a mesh, all of it on one device", unsharded, "Tensor"},
      {"shards", "input", "views of the parts of a tensor on a mesh that this process has", shards_of,
       "tuple[Tensor, ...]"},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
