#include "row_worker.hpp"

#include <algorithm>

#include "streaming.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t few_lanes = 32, wide_lanes = 128;
constexpr std::size_t state_size = 8;

constexpr std::size_t in_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

/// Drops dims of extent 1 and merges adjacent dims that all operands traverse as one.
void merge_dims(LoopNest& nest) {
  int ndim = 0;
  nest.numel = 1;
  for (int d = 0; d < nest.ndim; ++d) {
    const std::int64_t extent = nest.extents[d];
    nest.numel *= extent;
    if (extent == 1) continue;
    const bool merges = ndim > 0 && std::ranges::all_of(nest.operands, [&](const NestOperand& o) {
                          return o.strides[ndim - 1] == o.strides[d] * extent;
                        });
    if (!merges) ++ndim;
    nest.extents[ndim - 1] = merges ? nest.extents[ndim - 1] * extent : extent;
    for (NestOperand& o : nest.operands) o.strides[ndim - 1] = o.strides[d];
  }
  if (ndim == 0) {
    ndim = 1;
    nest.extents[0] = 1;
    for (NestOperand& o : nest.operands) o.strides[0] = 1;
  }
  nest.ndim = ndim;
  nest.contiguous =
      ndim == 1 && std::ranges::all_of(nest.operands, [](const NestOperand& o) { return o.strides[0] == 1; });
}

std::int64_t offset_of(const NestOperand& o, const Box& box, int dims) {
  std::int64_t offset = 0;
  for (int d = 0; d < dims; ++d) offset += box.first[d] * o.strides[d];
  return offset;
}

}  // namespace

bool RowJob::in_place(const LoopNest& nest, bool across, const RowReduction& r) noexcept {
  const int inner = across ? nest.row_dims() - 1 : nest.ndim - 1;
  return r.leaf && (nest.operands[*r.leaf].strides[inner] == 1 || nest.extents[inner] == 1);
}

RowJob::RowJob(const RowParts& p, const LoopNest& n, const Boxes& b, const std::uint64_t* words, SharedFaults& f)
    : parts(p), nest(n), boxes(b), table(loop_table()), scalars(words), faults(f), columns(b.columns) {
  far = nest.numel * parts.array_bytes > fits_cache;
  streams = parts.stream_rule.applies(nest);
  const auto count = static_cast<std::size_t>(boxes.rows_in_tile);
  const auto elements = count * static_cast<std::size_t>(boxes.columns_in_tile);
  row_bytes = tile_bytes = state_bytes = span_bytes = 0;
  for (const std::uint8_t size : parts.row_sizes) rows.push_back(row_bytes), row_bytes += in_lines(count * size);
  boost::container::small_vector<bool, 16> in_use;
  for (const std::int32_t copy : parts.copy_of) in_use.push_back(copy < 0);
  std::size_t most = 0;
  for (const Stage& s : parts.stages) {
    most = std::max(most, s.reductions.size());
    for (const RowReduction& r : s.reductions)
      if (!in_place(nest, boxes.across, r)) in_use[r.tile] = true;
  }
  for (std::size_t t = 0; t < in_use.size(); ++t) {
    std::size_t& bytes = parts.tile_spans[t] ? span_bytes : tile_bytes;
    tiles.push_back(bytes);
    if (in_use[t]) bytes += in_lines(elements * parts.tile_sizes[t]);
  }
  state_bytes = most * 2 * in_lines(count * state_size);
}

runtime::Ref<runtime::Buffer> RowJob::allocate_spans() const {
  if (span_bytes == 0) return {};
  return runtime::Buffer::allocate(Device(), static_cast<std::size_t>(boxes.column_tiles) * span_bytes);
}

RowMemory RowWorker::own_memory(const RowJob& job) {
  std::byte* const all = own_.reserve(job.row_bytes + 2 * job.state_bytes + job.tile_bytes);
  return {all, all + job.row_bytes, all + job.row_bytes + 2 * job.state_bytes, nullptr};
}

RowMemory RowWorker::shared_memory(const RowJob& job, std::size_t sets) {
  std::byte* const all = shared_.reserve(job.row_bytes + sets * job.state_bytes);
  return {all, all + job.row_bytes, nullptr, nullptr};
}

std::byte* RowWorker::tile(std::uint32_t number, const Box& box) const {
  std::byte* const first = job_->parts.tile_spans[number]
                               ? memory_.spans + static_cast<std::size_t>(box.number) * job_->span_bytes
                               : memory_.tiles;
  return first + job_->tiles[number];
}

ReduceStates RowWorker::states_of(std::byte* states, std::size_t reduction) const {
  const std::size_t one = in_lines(static_cast<std::size_t>(job_->boxes.rows_in_tile) * state_size);
  return {states + 2 * reduction * one, states + (2 * reduction + 1) * one};
}

void RowWorker::run_rows(const RowJob& job, std::int64_t first, std::int64_t last) {
  job_ = &job;
  reducing_.assign(job.parts.stages.size(), TileProgram::Reducing::Done);
  RowMemory mine = own_memory(job);
  const auto spans = job.allocate_spans();
  if (spans) mine.spans = spans->data();
  for (std::int64_t tile = first; tile < last; ++tile) {
    const Box rows = job.boxes.at(tile, 0);
    const bool has_next = job.far && job.boxes.whole && tile + 1 < last;
    const Box next = has_next ? job.boxes.at(tile + 1, 0) : Box();
    for (std::size_t s = 0; s < job.parts.stages.size(); ++s) {
      begin_stage(job, s, rows, mine);
      if (job.boxes.whole) {
        memory_ = mine;
        compute(s, rows, job.far && s == 0, has_next ? &next : nullptr);
      } else {
        for (std::int64_t c = 0; c < job.boxes.column_tiles; ++c) {
          std::byte* const later = mine.states + job.state_bytes;
          const Box box = job.boxes.at(tile, c);
          run_box(job, s, box, {mine.rows, later, nullptr, mine.spans});
          merge(job, s, box, mine.states, later);
        }
      }
      end_stage(job, s, rows, mine);
    }
    end_rows(job, rows, mine);
  }
  if (job.streams) finish_streaming();
}

void RowWorker::prepare(const RowJob& job) {
  job_ = &job;
  memory_ = own_memory(job);
  memory_.spans = memory_.tiles;  // nothing is written
  const Box box = job.boxes.at(0, 0);
  const auto prepare_part = [&](const Part& part, bool over_rows) {
    make_nest(part, box, over_rows);
    if (nest_.numel > 0) part.program.prepare_part(nest_, streams(part));
  };
  for (const Stage& s : job.parts.stages) {
    if (s.rows) prepare_part(*s.rows, true);
    if (s.pass && !(may_reduce(*s.pass, box) && s.pass->program.prepare_reducing(nest_))) prepare_part(*s.pass, false);
  }
  for (const Part& copy : job.parts.copies) prepare_part(copy, false);
  if (job.parts.rows_after) prepare_part(*job.parts.rows_after, true);
}

void RowWorker::begin_stage(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory) {
  job_ = &job;
  memory_ = memory;
  const Stage& s = job.parts.stages[stage];
  if (s.rows) run_part(*s.rows, box, true, {});
  for (const RowPick& p : s.picks) pick(p, box);
  start(stage, box);
}

void RowWorker::run_box(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory) {
  job_ = &job;
  reducing_.assign(job.parts.stages.size(), TileProgram::Reducing::Done);
  memory_ = memory;
  memory_.tiles = own_memory(job).tiles;
  start(stage, box);
  compute(stage, box, job.far, nullptr);
  if (job.streams) finish_streaming();
}

void RowWorker::end_stage(const RowJob& job, std::size_t stage, const Box& box, RowMemory memory) {
  job_ = &job;
  memory_ = memory;
  finish(stage, box);
}

void RowWorker::end_rows(const RowJob& job, const Box& box, RowMemory memory) {
  job_ = &job;
  memory_ = memory;
  if (job.parts.rows_after) run_part(*job.parts.rows_after, box, true, {});
}

void RowWorker::merge(const RowJob& job, std::size_t stage, const Box& box, std::byte* states, std::byte* later) {
  job_ = &job;
  const auto& reductions = job.parts.stages[stage].reductions;
  for (std::size_t k = 0; k < reductions.size(); ++k)
    reducer(reductions[k]).merge(states_of(states, k), states_of(later, k), box.rows);
}

/// An operand's first element in the box, and its strides in the order of the nest's dims.
void RowWorker::set_operand(std::size_t k, const OperandSource& place, const Box& box) {
  const Boxes& boxes = job_->boxes;
  NestOperand& to = nest_.operands[k];
  const int dims = nest_.ndim;  // the box's, or those of its rows
  to.first = 0;
  switch (place.kind) {
    case OperandSource::Kind::Operand: {
      const NestOperand& from = job_->nest.operands[place.number];
      const std::int64_t offset = offset_of(from, box, boxes.dims);
      to.data = from.data ? from.data + offset * place.size : nullptr;
      to.first = from.first + (from.data ? 0 : offset);
      for (int i = 0; i < dims; ++i) to.strides[i] = from.strides[dims == boxes.dims ? boxes.order[i] : i];
      break;
    }
    case OperandSource::Kind::PerRow:
    case OperandSource::Kind::States:
    case OperandSource::Kind::Tile: {
      const bool is_tile = place.kind == OperandSource::Kind::Tile;
      to.data = address_of(place, box);
      std::int64_t stride = 1;
      for (int i = dims; i-- > 0;) {
        const int d = dims == boxes.dims ? boxes.order[i] : i;
        const bool counts = is_tile || d < boxes.row_dims;
        to.strides[i] = counts ? stride : 0;
        if (counts) stride *= box.extent[d];
      }
      break;
    }
    case OperandSource::Kind::Count:
      to.data = reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(&job_->columns));
      std::fill_n(to.strides, dims, 0);
      break;
  }
}

/// Where a value lies that is not the nest's.
std::byte* RowWorker::address_of(const OperandSource& place, const Box& box) const {
  switch (place.kind) {
    case OperandSource::Kind::Tile: return tile(place.number, box);
    case OperandSource::Kind::States: return static_cast<std::byte*>(states_of(memory_.states, place.number).first);
    default: return memory_.rows + job_->rows[place.number];
  }
}

void RowWorker::make_nest(const Part& part, const Box& box, bool over_rows, bool with_states) {
  const Boxes& boxes = job_->boxes;
  nest_.outputs = part.outputs;
  nest_.ndim = over_rows ? boxes.row_dims : boxes.dims;
  nest_.operands.resize(part.operands.size() + (with_states ? part.states.size() : 0), boost::container::default_init);
  for (int i = 0; i < nest_.ndim; ++i) nest_.extents[i] = box.extent[over_rows ? i : boxes.order[i]];
  std::size_t k = 0;
  for (const OperandSource& place : part.operands) set_operand(k++, place, box);
  if (with_states)
    for (const OperandSource& place : part.states) set_operand(k++, place, box);
  merge_dims(nest_);
}

void RowWorker::run_part(const Part& part, const Box& box, bool over_rows, RunOptions options) {
  make_nest(part, box, over_rows);
  options.streams = streams(part);
  if (nest_.numel > 0) part.program.run_part(nest_, job_->scalars, options, job_->faults);
}

/// From the box's elements to those of the next one, for each leaf that the pass prefetches. Null if there is no next
/// one, or it has the same elements.
const std::int64_t* RowWorker::bytes_ahead(const Part& pass, const Box& box, const Box* next) {
  if (next == nullptr) return nullptr;
  const int dims = job_->boxes.dims;
  bool any = false;
  ahead_.clear();
  for (const OperandSource& place : pass.prefetched) {
    const NestOperand& o = job_->nest.operands[place.number];
    ahead_.push_back((offset_of(o, *next, dims) - offset_of(o, box, dims)) * place.size);
    any = any || ahead_.back() != 0;
  }
  return any ? ahead_.data() : nullptr;
}

/// Whether the pass might reduce what it computes; nest_ is then over its rows. Tiny rows are reduced in another order.
bool RowWorker::may_reduce(const Part& pass, const Box& box) {
  if (pass.states.empty() || job_->boxes.across || box.columns <= tiny_row) return false;
  make_nest(pass, box, false, true);
  return nest_.numel > 0 && nest_.extents[nest_.ndim - 1] == box.columns;
}

/// Whether the part writes only the output that is streamed.
bool RowWorker::streams(const Part& part) const noexcept {
  return job_->streams && part.outputs == 1 && part.operands[0].kind == OperandSource::Kind::Operand;
}

void RowWorker::compute(std::size_t stage, const Box& box, bool far, const Box* next) {
  reduce_leaves(stage, box);
  const bool in_pass = job_->parts.stages[stage].pass && run_pass(stage, box, far, next);
  reduce_tiles(stage, box, in_pass);
}

/// Returns whether the pass has done the reductions that it can do.
bool RowWorker::run_pass(std::size_t stage, const Box& box, bool far, const Box* next) {
  using Reducing = TileProgram::Reducing;
  const Part& pass = *job_->parts.stages[stage].pass;
  Reducing& reducing = reducing_[stage];
  RunOptions options{.far = far, .ahead = bytes_ahead(pass, box, next)};
  if (reducing == Reducing::Done)
    reducing = may_reduce(pass, box) ? pass.program.run_reducing(nest_, job_->scalars, options, job_->faults)
                                     : Reducing::Never;
  if (reducing == Reducing::Done) return true;
  options.counts = reducing == Reducing::Never;
  run_part(pass, box, false, options);
  return false;
}

void RowWorker::start(std::size_t stage, const Box& box) {
  const auto& reductions = job_->parts.stages[stage].reductions;
  for (std::size_t k = 0; k < reductions.size(); ++k)
    reducer(reductions[k]).start(states_of(memory_.states, k), box.rows);
}

void RowWorker::finish(std::size_t stage, const Box& box) {
  const auto& reductions = job_->parts.stages[stage].reductions;
  for (std::size_t k = 0; k < reductions.size(); ++k)
    reducer(reductions[k])
        .finish(memory_.rows + job_->rows[reductions[k].result], states_of(memory_.states, k), box.rows);
}

void RowWorker::reduce_leaves(std::size_t stage, const Box& box) {
  if (box.columns == 0) return;
  const auto& reductions = job_->parts.stages[stage].reductions;
  for (std::size_t k = 0; k < reductions.size(); ++k) {
    const RowReduction& r = reductions[k];
    if (!r.leaf) continue;
    const ReduceStates states = states_of(memory_.states, k);
    if (RowJob::in_place(job_->nest, job_->boxes.across, r)) {
      reduce_in_place(r, states, box);
      continue;
    }
    const bool is_there = std::any_of(reductions.begin(), reductions.begin() + static_cast<std::ptrdiff_t>(k),
                                      [&](const RowReduction& other) { return other.tile == r.tile; });
    if (const std::int32_t copy = job_->parts.copy_of[r.tile]; !is_there)
      run_part(job_->parts.copies[static_cast<std::size_t>(copy)], box, false, {.far = job_->far});
    reduce_tile(r, states, box);
  }
}

/// Except for the reductions that the pass has done, if it has done them.
void RowWorker::reduce_tiles(std::size_t stage, const Box& box, bool in_pass) {
  if (box.columns == 0) return;
  const auto& reductions = job_->parts.stages[stage].reductions;
  for (std::size_t k = 0; k < reductions.size(); ++k)
    if (!reductions[k].leaf && !(in_pass && reductions[k].in_pass))
      reduce_tile(reductions[k], states_of(memory_.states, k), box);
}

void RowWorker::reduce_tile(const RowReduction& r, ReduceStates states, const Box& box) {
  const std::byte* from = tile(r.tile, box);
  if (!job_->boxes.across) return reducer(r).along(states, from, box.rows, box.columns, box.columns, box.position);
  const std::int64_t lanes = box.extent[job_->boxes.row_dims - 1];
  const Reducer& reduce = reducer(r);
  for (std::int64_t row = 0; row < box.rows; row += lanes) {
    const ReduceStates of_row{static_cast<std::byte*>(states.first) + row * reduce.first_size,
                              static_cast<std::byte*>(states.second) + row * 8};
    reduce_across(r, of_row, from, lanes, box.columns, lanes, box.position);
    from += lanes * box.columns * job_->parts.tile_sizes[r.tile];
  }
}

/// Over all but the innermost of the row dims and of the reduced dims.
void RowWorker::reduce_in_place(const RowReduction& r, ReduceStates states, const Box& box) {
  const Boxes& boxes = job_->boxes;
  const NestOperand& o = job_->nest.operands[*r.leaf];
  const std::int64_t size = job_->parts.tile_sizes[r.tile];
  const int row = boxes.row_dims - 1, column = boxes.dims - 1;
  const std::int64_t rows = box.extent[row], columns = box.extent[column];
  const std::byte* const first = o.data + offset_of(o, box, boxes.dims) * size;
  const Reducer& reduce = reducer(r);
  for (std::int64_t outer_row = 0; outer_row < box.rows / rows; ++outer_row) {
    const ReduceStates at{static_cast<std::byte*>(states.first) + outer_row * rows * reduce.first_size,
                          static_cast<std::byte*>(states.second) + outer_row * rows * 8};
    for (std::int64_t outer_column = 0; outer_column < box.columns / columns; ++outer_column) {
      std::int64_t offset = 0, left = outer_row;
      for (int d = row; d-- > 0; left /= box.extent[d]) offset += left % box.extent[d] * o.strides[d];
      left = outer_column;
      for (int d = column; d-- > boxes.row_dims; left /= box.extent[d]) offset += left % box.extent[d] * o.strides[d];
      const std::byte* const from = first + offset * size;
      const std::int64_t position = box.position + outer_column * columns;
      if (boxes.across)
        reduce_across(r, at, from, rows, columns, o.strides[column], position);
      else
        reduce.along(at, from, rows, columns, o.strides[row], position);
    }
  }
}

/// A few adjacent rows: several of their elements at once, as if they were more rows, which are then merged.
void RowWorker::reduce_across(const RowReduction& r, ReduceStates states, const std::byte* from, std::int64_t n,
                              std::int64_t count, std::int64_t pitch, std::int64_t position) {
  const Reducer& reduce = reducer(r);
  const bool has_places = r.op >= static_cast<int>(Op::argmax) - static_cast<int>(Op::sum);
  std::int64_t done = 0;
  if (n < few_lanes && pitch == n && !has_places && n * count >= 2 * wide_lanes) {
    const std::int64_t groups = wide_lanes / n, wide = groups * n;
    alignas(64) std::byte first[wide_lanes * state_size], second[wide_lanes * state_size];
    reduce.start({first, second}, wide);
    reduce.across({first, second}, from, wide, count / groups, wide, 0);
    for (std::int64_t g = 0; g < groups; ++g)
      reduce.merge(states, {first + g * n * reduce.first_size, second + g * n * 8}, n);
    done = count / groups * groups;
  }
  if (done < count)
    reduce.across(states, from + done * n * job_->parts.tile_sizes[r.tile], n, count - done, pitch, position + done);
}

}  // namespace sinter::inline v1::jit::cpu
