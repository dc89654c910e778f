#include "operands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../plan/row_cache.hpp"

namespace sinter::inline v1::jit::loops {

// ---- Parameters, in the order that KernelClass lists

Operands::Operands(const LoweringContext& context, Builder& b) : context_(context), b_(b) {
  if (context.traits.faults.any()) fault_ = b.param("fault", index_type(Kind::FaultWord));
  add_operands();
  add_sizes();
  add_extents();
  add_strides();
  add_scalars();
}

Layout Operands::layout_of(std::size_t k) const {
  const KernelTraits::Access& a = context_.traits.operands[k];
  if (a.array) return Layout::Gathered;
  if (a.per_row) return Layout::PerRow;
  switch (context_.c.patterns[k]) {
    case AccessPattern::Uniform: return Layout::Uniform;
    case AccessPattern::InnerBroadcast: return Layout::InnerBroadcast;
    case AccessPattern::Strided: return Layout::Strided;
    case AccessPattern::Transposed: return Layout::Transposed;
    case AccessPattern::InnerContiguous: return Layout::InnerContiguous;
    case AccessPattern::Contiguous: break;
  }
  if (!context_.reduces()) return Layout::Contiguous;
  return context_.scheme.row_per_element ? Layout::Strided
         : context_.c.reduced == 1       ? Layout::Contiguous
                                         : Layout::InnerContiguous;
}

void Operands::add_operands() {
  const RowCache row_cache(context_.traits, context_.c);
  const std::size_t outputs = context_.kernel.outputs.size();
  for (std::size_t k = 0; k < context_.traits.operands.size(); ++k) {
    const KernelTraits::Access& a = context_.traits.operands[k];
    OperandLayout o;
    o.output = k < outputs;
    o.index = o.output ? k : k - outputs;
    o.name = fmt::format("{}{}", o.output ? 'y' : 'x', o.index);
    o.dtype = storage(a.dtype);
    o.memory = a.memory;
    o.is_draw_index = a.is_draw_index;
    o.pattern = context_.c.patterns[k];
    o.layout = layout_of(k);
    o.row_cache = row_cache.offset(k);
    o.pointer = b_.param(o.name, o.memory ? pointer_type(o.dtype) : index_type(Kind::Padding));
    operands_.push_back(std::move(o));
  }
}

void Operands::add_sizes() {
  if (!context_.reduces()) {
    columns_ = b_.param("count", index_type(Kind::Index));
    return;
  }
  if (context_.scheme.split)
    for (int s = 0; s < context_.stages(); ++s)
      partials_.push_back(b_.param(fmt::format("partials{}", s), pointer_type(DType::UInt8)));
  row_param("work_items"), row_param("rows");
  columns_ = b_.param("columns", index_type(Kind::Index));
  if (context_.scheme.split) {
    row_param("splits");
    b_.param("vectors_per_split", index_type(Kind::Index));
    row_param("splits_in_launch"), row_param("pass");
  }
  if (context_.scheme.row_cache) cached_extent_ = b_.param("row_cache", index_type(Kind::UInt32));
}

void Operands::add_extents() {
  const auto add = [&](const char* prefix, int ndim, Kind extent, Kind divisor, auto& extents, auto& divisors) {
    extents.resize(static_cast<std::size_t>(std::max(ndim, 1)), none), divisors = extents;
    for (int d = ndim - 1; d >= 1; --d) {
      extents[static_cast<std::size_t>(d)] = b_.param(fmt::format("{}extent{}", prefix, d), index_type(extent));
      divisors[static_cast<std::size_t>(d)] = b_.param(fmt::format("{}divisor{}", prefix, d), index_type(divisor));
    }
  };
  if (context_.reduces())
    add("row_", context_.row_ndim(), Kind::Int64, Kind::FastDivisor64, row_extents_, row_divisors_);
  add("", context_.domain_ndim(), Kind::Index, Kind::FastDivisor, extents_, divisors_);
}

void Operands::add_strides() {
  for (OperandLayout& a : operands_) {
    for (int d = 0; d < context_.row_ndim(); ++d)
      a.row_strides.push_back(b_.param(fmt::format("{}_row{}", a.name, d), index_type(Kind::Int64)));
    const int count =
        context_.reduces() ? reduced_strides(context_.c, a.pattern) : stride_count(a.pattern, context_.c.ndim);
    for (int d = 0; d < count; ++d)
      a.strides.push_back(b_.param(fmt::format("{}_stride{}", a.name, d), index_type(Kind::Offset)));
  }
}

void Operands::add_scalars() {
  scalars_.resize(context_.graph.nodes().size(), none);
  int count = 0;
  for (std::size_t i = 0; i < scalars_.size(); ++i)
    if (const Node& n = context_.graph.nodes()[i]; n.op == Op::scalar)
      scalars_[i] = b_.param(fmt::format("s{}", count++), element_type(n.dtype));
  for (OperandLayout& a : operands_)
    if (!a.memory) a.first = b_.param(a.name + "_first", index_type(Kind::Int64));
  const char* const names[] = {"division_by_zero_code", "index_out_of_range_code"};
  for (const Fault f : all_faults)
    if (context_.traits.faults.has(f)) {
      const auto i = static_cast<std::size_t>(f);
      fault_codes_[i] = b_.param(names[i], index_type(Kind::UInt32));
    }
}

void Operands::report_faults() const {
  for (const Fault f : all_faults)
    if (context_.traits.faults.has(f)) b_.report_fault(f, fault_, fault_codes_[static_cast<std::size_t>(f)]);
}

// ---- Rows

void Operands::enter_row(Value row) {
  row_coordinates_.assign(static_cast<std::size_t>(context_.row_ndim()), none);
  Value rest = row;
  for (std::size_t d = row_coordinates_.size() - 1; d >= 1; --d) {
    const Value outer = b_.named(b_.div(rest, row_divisors_[d]), fmt::format("q{}", d));
    row_coordinates_[d] = b_.named(b_.sub(rest, b_.mul(outer, row_extents_[d])), fmt::format("r{}", d));
    rest = outer;
  }
  row_coordinates_[0] = rest;
}

Value Operands::row_offset(const OperandLayout& a) const {
  Value offset = b_.integer(Kind::Int64, 0);
  for (std::size_t d = 0; d < row_coordinates_.size(); ++d)
    offset = b_.add(offset, b_.mul(row_coordinates_[d], a.row_strides[d]));
  return offset;
}

Value Operands::pointer(const OperandLayout& a) const {
  if (!context_.reduces() || a.layout == Layout::Gathered) return a.pointer;
  return b_.named(b_.advance(a.pointer, row_offset(a)), a.name + "_row");
}

Value Operands::first(const OperandLayout& a) const {
  return context_.reduces() ? b_.add(a.first, row_offset(a)) : a.first;
}

Value Operands::load_row(const OperandLayout& a, Value guard) const {
  const Value step = context_.reduces() ? a.row_strides.back() : none;
  const int rows = context_.rows_of_thread();
  if (!a.memory) return b_.element(b_.ramp(first(a), step, rows), DType::Int64);
  const Value from = pointer(a), begin = b_.integer(Kind::Int64, 0);
  return b_.load(from, begin, rows, Access::Strided, guard, step);
}

void Operands::store_row(const OperandLayout& a, Value value, Value guard) const {
  const Value rows = b_.splat(b_.to_storage(value), context_.rows_of_thread());
  const Value to = pointer(a), begin = b_.integer(Kind::Int64, 0);
  b_.store(to, begin, rows, Access::Strided, guard, a.row_strides.back());
}

// ---- Vectors of the domain

/// Along each dim, of the vector's first element.
std::vector<Value> Operands::coordinates(const VectorPosition& at) const {
  const bool counts_vectors = at.width > 1 && !context_.scheme.row_per_element;
  Value rest = b_.mul_by(at.index, counts_vectors ? at.width : 1);
  std::vector<Value> found(static_cast<std::size_t>(context_.domain_ndim()), none);
  for (std::size_t d = found.size() - 1; d >= 1; --d) {
    const Value outer = b_.named(b_.div(rest, divisors_[d]), fmt::format("d{}", d));
    found[d] = b_.named(b_.convert(b_.sub(rest, b_.mul(outer, extents_[d])), Kind::Offset), fmt::format("c{}", d));
    rest = outer;
  }
  found[0] = b_.convert(rest, Kind::Offset);
  return found;
}

/// A warp's tiles are side by side along the innermost dim and the tile dim, so that it reads and writes whole sectors.
Value Operands::tile_offset(const OperandLayout& a, Value tile) const {
  const int inner = context_.c.ndim - 1, width = context_.c.vector_width;
  const Value along_inner = b_.rem_by(tile, warp_tiles_inner);
  const Value others = b_.div_by(tile, warp_tiles_inner);
  const Value along_tile_dim = b_.rem_by(others, warp_tiles_tile_dim);
  Value rest = b_.div_by(others, warp_tiles_tile_dim);
  std::vector<Value> at(static_cast<std::size_t>(context_.c.ndim), none);
  for (int d = inner; d >= 0; --d) {
    const auto dim = static_cast<std::size_t>(d);
    Value position = rest;
    if (d > 0) {
      const Value outer = b_.named(b_.div(rest, divisors_[dim]), fmt::format("d{}", d));
      position = b_.sub(rest, b_.mul(outer, extents_[dim]));
      rest = outer;
    }
    position = b_.mul_by(position, extent_step(context_.c, d));
    if (d == inner) position = b_.add(position, b_.mul_by(along_inner, width));
    if (d == context_.c.tile_dim) position = b_.add(position, b_.mul_by(along_tile_dim, width));
    at[dim] = b_.named(b_.convert(position, Kind::Offset), fmt::format("c{}", d));
  }
  return offset(a, at);
}

Value Operands::step(const OperandLayout& a, Value offset, int dim, Value steps) const {
  if (static_cast<std::size_t>(dim) >= a.strides.size()) return offset;  // the innermost dim of a broadcast operand
  const Value stride = a.strides[static_cast<std::size_t>(dim)];
  return b_.add(offset, b_.mul(b_.convert(steps, Kind::Offset), stride));
}

Value Operands::offset(const OperandLayout& a, const std::vector<Value>& at) const {
  Value offset = b_.integer(Kind::Offset, 0);
  for (std::size_t d = 0; d < a.strides.size(); ++d) offset = b_.add(offset, b_.mul(at[d], a.strides[d]));
  return a.layout == Layout::InnerContiguous ? b_.add(offset, at.back()) : offset;
}

/// Stride between consecutive elements of a vector.
Value Operands::element_stride(const OperandLayout& a) const {
  return context_.scheme.row_per_element ? a.row_strides.back() : a.strides.back();
}

Access Operands::access(const OperandLayout& a) const noexcept {
  const bool strided =
      context_.scheme.row_per_element ? a.pattern == AccessPattern::Strided : a.layout == Layout::Strided;
  return strided ? Access::Strided : a.layout == Layout::Contiguous ? Access::AlignedIndexed : Access::Aligned;
}

Value Operands::positions(const OperandLayout& a, Value at, int width) const {
  const Value begin = first(a), start = b_.add(begin, b_.convert(at, Kind::Int64));
  if (a.layout == Layout::InnerBroadcast) return b_.element(start, DType::Int64);
  const bool strided = access(a) == Access::Strided;
  const Value step = strided ? b_.convert(element_stride(a), Kind::Int64) : b_.integer(Kind::Int64, 1);
  return b_.element(b_.ramp(start, step, width, a.is_draw_index && !strided), DType::Int64);
}

/// The base that vectors are counted from: the row, or the thread's first vector, from which the others are at constant
/// offsets.
Value Operands::vectors(const OperandLayout& a, const VectorPosition& at) const {
  const Value row = pointer(a);
  if (at.thread == none) return row;
  // In 64 bits, so that the compiler sees that vectors stay aligned.
  const Value elements = b_.mul_by(b_.convert(at.thread, Kind::Int64), at.width);
  return b_.named(b_.advance(row, elements), a.name + "_thread");
}

Value Operands::load(const OperandLayout& a, const VectorPosition& at) const {
  if (a.layout == Layout::Uniform) return load_row(a, at.guard);
  if (a.layout == Layout::Contiguous) {
    if (a.memory)
      return b_.load(vectors(a, at), at.thread == none ? at.index : at.step, at.width, Access::AlignedIndexed,
                     at.guard);
    return positions(a, b_.mul_by(at.index, at.width), at.width);
  }
  return load_at(a, offset(a, coordinates(at)), at.width, at.guard);
}

Value Operands::load_at(const OperandLayout& a, Value at, int width, Value guard) const {
  if (!a.memory) return positions(a, at, width);
  if (a.layout == Layout::InnerBroadcast) width = 1;
  const Access how = access(a);
  return b_.load(pointer(a), at, width, how, guard, width > 1 && how == Access::Strided ? element_stride(a) : none);
}

void Operands::store(const OperandLayout& a, const VectorPosition& at, Value value) const {
  if (a.layout == Layout::Contiguous && at.thread != none) {
    const Value vector = b_.splat(b_.to_storage(value), at.width), to = vectors(a, at);
    b_.store(to, at.step, vector, Access::AlignedIndexed, at.guard);
    return;
  }
  const Value begin = a.layout == Layout::Contiguous ? at.index : offset(a, coordinates(at));
  store_at(a, begin, value, at.width, at.guard);
}

void Operands::store_at(const OperandLayout& a, Value at, Value value, int width, Value guard) const {
  const Value vector = b_.splat(b_.to_storage(value), width);
  const Access how = access(a);
  b_.store(pointer(a), at, vector, how, guard, width > 1 && how == Access::Strided ? element_stride(a) : none);
}

Value Operands::cached(const OperandLayout& a) const {
  const Value begin = b_.mul_by(b_.convert(cached_extent_, Kind::Int64), *a.row_cache);
  return b_.view(b_.row_cache(), begin, a.dtype);
}

Value Operands::load_cached(const OperandLayout& a, const VectorPosition& at) const {
  return b_.load(cached(a), at.index, at.width, Access::AlignedIndexed);
}

void Operands::store_cached(const OperandLayout& a, const VectorPosition& at, Value value) const {
  b_.store(cached(a), at.index, value, Access::AlignedIndexed, at.guard);
}

}  // namespace sinter::inline v1::jit::loops
