#include "operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::inline v1::jit::loops {

Frame::Frame(const Kernel& k, const KernelTraits& t, const KernelClass& kernel_class)
    : kernel(k),
      graph(k.graph),
      traits(t),
      c(kernel_class),
      scheme(kernel_class.rows),
      passes(k, !kernel_class.rows.kept) {}

bool Frame::must_be_inside() const noexcept {
  return traits.faults.any() || std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.op == Op::load; });
}

// ---- Parameters, in the order that KernelClass lists

Operands::Operands(const Frame& frame, Builder& b) : frame_(frame), b_(b) {
  if (frame.traits.faults.any()) fault_ = b.param("fault", index_type(Kind::FaultWord));
  add_operands();
  add_sizes();
  add_extents();
  add_strides();
  add_scalars();
}

Along Operands::along_of(std::size_t k) const {
  const KernelTraits::Access& a = frame_.traits.operands[k];
  if (a.array) return Along::Array;
  if (a.per_row) return Along::Row;
  switch (frame_.c.patterns[k]) {
    case Pattern::Uniform: return Along::Same;
    case Pattern::RowUniform: return Along::Broadcast;
    case Pattern::Strided: return Along::Strided;
    case Pattern::Crossed: return Along::Crossed;
    case Pattern::Rows: return Along::Unit;
    case Pattern::Linear: break;
  }
  if (!frame_.reduces()) return Along::Flat;
  return frame_.scheme.across ? Along::Strided : frame_.c.reduced == 1 ? Along::Flat : Along::Unit;
}

void Operands::add_operands() {
  const RowCache row_cache(frame_.traits, frame_.c);
  const std::size_t outputs = frame_.kernel.outputs.size();
  for (std::size_t k = 0; k < frame_.traits.operands.size(); ++k) {
    const KernelTraits::Access& a = frame_.traits.operands[k];
    OperandLayout o;
    o.output = k < outputs;
    o.number = o.output ? k : k - outputs;
    o.name = fmt::format("{}{}", o.output ? 'y' : 'x', o.number);
    o.dtype = storage(a.dtype);
    o.memory = a.memory;
    o.pattern = frame_.c.patterns[k];
    o.along = along_of(k);
    o.row_cache = row_cache.place(k);
    o.pointer = b_.param(o.name, o.memory ? pointer_type(o.dtype) : index_type(Kind::Unused));
    operands_.push_back(std::move(o));
  }
}

void Operands::add_sizes() {
  if (!frame_.reduces()) {
    columns_ = b_.param("count", index_type(Kind::Index));
    return;
  }
  if (frame_.scheme.split)
    for (int s = 0; s < frame_.stages(); ++s)
      parts_.push_back(b_.param(fmt::format("parts{}", s), pointer_type(DType::UInt8)));
  row_param("items"), row_param("rows");
  columns_ = b_.param("columns", index_type(Kind::Index));
  if (frame_.scheme.split) {
    row_param("splits");
    b_.param("part", index_type(Kind::Index));
    row_param("spread"), row_param("pass");
  }
  if (frame_.scheme.row_cache) cached_extent_ = b_.param("row_cache", index_type(Kind::Word));
}

void Operands::add_extents() {
  const auto add = [&](const char* prefix, int ndim, Kind extent, Kind divider, auto& extents, auto& dividers) {
    extents.resize(static_cast<std::size_t>(std::max(ndim, 1)), none), dividers = extents;
    for (int d = ndim - 1; d >= 1; --d) {
      extents[static_cast<std::size_t>(d)] = b_.param(fmt::format("{}extent{}", prefix, d), index_type(extent));
      dividers[static_cast<std::size_t>(d)] = b_.param(fmt::format("{}divide{}", prefix, d), index_type(divider));
    }
  };
  if (frame_.reduces()) add("row_", frame_.row_ndim(), Kind::Long, Kind::LongDivider, row_extents_, row_dividers_);
  add("", frame_.domain_ndim(), Kind::Index, Kind::Divider, extents_, dividers_);
}

void Operands::add_strides() {
  for (OperandLayout& a : operands_) {
    for (int d = 0; d < frame_.row_ndim(); ++d)
      a.row_strides.push_back(b_.param(fmt::format("{}_row{}", a.name, d), index_type(Kind::Long)));
    const int count = frame_.reduces() ? reduced_strides(frame_.c, a.pattern) : stride_count(a.pattern, frame_.c.ndim);
    for (int d = 0; d < count; ++d)
      a.strides.push_back(b_.param(fmt::format("{}_stride{}", a.name, d), index_type(Kind::Offset)));
  }
}

void Operands::add_scalars() {
  scalars_.resize(frame_.graph.nodes().size(), none);
  int number = 0;
  for (std::size_t i = 0; i < scalars_.size(); ++i)
    if (const Node& n = frame_.graph.nodes()[i]; n.op == Op::scalar)
      scalars_[i] = b_.param(fmt::format("s{}", number++), element_type(n.dtype));
  for (OperandLayout& a : operands_)
    if (!a.memory) a.first = b_.param(a.name + "_first", index_type(Kind::Long));
  const char* const names[] = {"fault_code", "outside_code"};
  for (const Fault f : all_faults)
    if (frame_.traits.faults.has(f)) {
      const auto number_of = static_cast<std::size_t>(f);
      fault_codes_[number_of] = b_.param(names[number_of], index_type(Kind::Word));
    }
}

void Operands::report_faults() const {
  for (const Fault f : all_faults)
    if (frame_.traits.faults.has(f)) b_.report(f, fault_, fault_codes_[static_cast<std::size_t>(f)]);
}

// ---- Rows

void Operands::enter_row(Value row) {
  row_coordinates_.assign(static_cast<std::size_t>(frame_.row_ndim()), none);
  Value rest = row;
  for (std::size_t d = row_coordinates_.size() - 1; d >= 1; --d) {
    const Value outer = b_.named(b_.quotient(rest, row_dividers_[d]), fmt::format("q{}", d));
    row_coordinates_[d] = b_.named(b_.sub(rest, b_.mul(outer, row_extents_[d])), fmt::format("r{}", d));
    rest = outer;
  }
  row_coordinates_[0] = rest;
}

Value Operands::row_offset(const OperandLayout& a) const {
  Value offset = b_.integer(Kind::Long, 0);
  for (std::size_t d = 0; d < row_coordinates_.size(); ++d)
    offset = b_.add(offset, b_.mul(row_coordinates_[d], a.row_strides[d]));
  return offset;
}

Value Operands::pointer(const OperandLayout& a) const {
  if (!frame_.reduces() || a.along == Along::Array) return a.pointer;
  return b_.named(b_.advance(a.pointer, row_offset(a)), a.name + "_row");
}

Value Operands::first(const OperandLayout& a) const {
  return frame_.reduces() ? b_.add(a.first, row_offset(a)) : a.first;
}

Value Operands::load_row(const OperandLayout& a, Value guard) const {
  const Value step = frame_.reduces() ? a.row_strides.back() : none;
  const int rows = frame_.rows_of_thread();
  if (!a.memory) return b_.element(b_.ramp(first(a), step, rows), DType::Int64);
  const Value from = pointer(a), begin = b_.integer(Kind::Long, 0);
  return b_.load(from, begin, rows, Access::Strided, guard, step);
}

void Operands::store_row(const OperandLayout& a, Value value, Value guard) const {
  const Value rows = b_.splat(b_.stored(value), frame_.rows_of_thread());
  const Value to = pointer(a), begin = b_.integer(Kind::Long, 0);
  b_.store(to, begin, rows, Access::Strided, guard, a.row_strides.back());
}

// ---- Vectors of the domain

/// Along each dim, of the vector's first element.
std::vector<Value> Operands::coordinates(const Place& place) const {
  const bool counts_vectors = place.lanes > 1 && !frame_.scheme.across;
  Value rest = b_.times(place.position, counts_vectors ? place.lanes : 1);
  std::vector<Value> found(static_cast<std::size_t>(frame_.domain_ndim()), none);
  for (std::size_t d = found.size() - 1; d >= 1; --d) {
    const Value outer = b_.named(b_.quotient(rest, dividers_[d]), fmt::format("d{}", d));
    found[d] = b_.named(b_.convert(b_.sub(rest, b_.mul(outer, extents_[d])), Kind::Offset), fmt::format("c{}", d));
    rest = outer;
  }
  found[0] = b_.convert(rest, Kind::Offset);
  return found;
}

/// A warp's tiles are side by side along the innermost dim and the tile dim, so that it reads and writes whole sectors.
Value Operands::tile_offset(const OperandLayout& a, Value tile) const {
  const int inner = frame_.c.ndim - 1, lanes = frame_.c.lanes;
  const Value along = b_.remainder(tile, warp_tiles_along);
  const Value others = b_.over(tile, warp_tiles_along);
  const Value across = b_.remainder(others, warp_tiles_across);
  Value rest = b_.over(others, warp_tiles_across);
  std::vector<Value> at(static_cast<std::size_t>(frame_.c.ndim), none);
  for (int d = inner; d >= 0; --d) {
    const auto dim = static_cast<std::size_t>(d);
    Value position = rest;
    if (d > 0) {
      const Value outer = b_.named(b_.quotient(rest, dividers_[dim]), fmt::format("d{}", d));
      position = b_.sub(rest, b_.mul(outer, extents_[dim]));
      rest = outer;
    }
    position = b_.times(position, extent_step(frame_.c, d));
    if (d == inner) position = b_.add(position, b_.times(along, lanes));
    if (d == frame_.c.tile_dim) position = b_.add(position, b_.times(across, lanes));
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
  return a.along == Along::Unit ? b_.add(offset, at.back()) : offset;
}

/// Stride between consecutive lanes of a vector.
Value Operands::lane_stride(const OperandLayout& a) const {
  return frame_.scheme.across ? a.row_strides.back() : a.strides.back();
}

Access Operands::access(const OperandLayout& a) const noexcept {
  const bool strided = frame_.scheme.across ? a.pattern == Pattern::Strided : a.along == Along::Strided;
  return strided ? Access::Strided : a.along == Along::Flat ? Access::Vectors : Access::Vector;
}

Value Operands::positions(const OperandLayout& a, Value at, int lanes) const {
  const bool neighbours = !frame_.scheme.across && a.along != Along::Strided;
  const Value step = neighbours ? b_.integer(Kind::Long, 1) : b_.convert(lane_stride(a), Kind::Long);
  const Value begin = first(a), start = b_.add(begin, b_.convert(at, Kind::Long));
  return b_.element(a.along == Along::Broadcast ? start : b_.ramp(start, step, lanes), DType::Int64);
}

/// The base that vectors are counted from: the row, or the thread's first vector, from which the others are at constant
/// offsets.
Value Operands::vectors(const OperandLayout& a, const Place& place) const {
  const Value row = pointer(a);
  if (place.thread == none) return row;
  // In 64 bits, so that the compiler sees that vectors stay aligned.
  const Value elements = b_.times(b_.convert(place.thread, Kind::Long), place.lanes);
  return b_.named(b_.advance(row, elements), a.name + "_thread");
}

Value Operands::load(const OperandLayout& a, const Place& place) const {
  if (a.along == Along::Same) return load_row(a, place.guard);
  if (a.along == Along::Flat) {
    if (a.memory)
      return b_.load(vectors(a, place), place.thread == none ? place.position : place.step, place.lanes,
                     Access::Vectors, place.guard);
    return positions(a, b_.times(place.position, place.lanes), place.lanes);
  }
  return load_at(a, offset(a, coordinates(place)), place.lanes, place.guard);
}

Value Operands::load_at(const OperandLayout& a, Value at, int vector, Value guard) const {
  if (!a.memory) return positions(a, at, vector);
  const int lanes = a.along == Along::Broadcast ? 1 : vector;
  const Access how = access(a);
  return b_.load(pointer(a), at, lanes, how, guard, lanes > 1 && how == Access::Strided ? lane_stride(a) : none);
}

void Operands::store(const OperandLayout& a, const Place& place, Value value) const {
  if (a.along == Along::Flat && place.thread != none) {
    const Value lanes = b_.splat(b_.stored(value), place.lanes), to = vectors(a, place);
    b_.store(to, place.step, lanes, Access::Vectors, place.guard);
    return;
  }
  const Value at = a.along == Along::Flat ? place.position : offset(a, coordinates(place));
  store_at(a, at, value, place.lanes, place.guard);
}

void Operands::store_at(const OperandLayout& a, Value at, Value value, int vector, Value guard) const {
  const Value lanes = b_.splat(b_.stored(value), vector);
  const Access how = access(a);
  b_.store(pointer(a), at, lanes, how, guard, vector > 1 && how == Access::Strided ? lane_stride(a) : none);
}

Value Operands::cached(const OperandLayout& a) const {
  const Value begin = b_.times(b_.convert(cached_extent_, Kind::Long), *a.row_cache);
  return b_.view(b_.row_cache(), begin, a.dtype);
}

Value Operands::load_cached(const OperandLayout& a, const Place& place) const {
  return b_.load(cached(a), place.position, place.lanes, Access::Vectors);
}

void Operands::store_cached(const OperandLayout& a, const Place& place, Value value) const {
  b_.store(cached(a), place.position, value, Access::Vectors, place.guard);
}

}  // namespace sinter::inline v1::jit::loops
