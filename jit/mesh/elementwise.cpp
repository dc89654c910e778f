#include "elementwise.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <exception>

#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/shards.hpp>
#include "../plan/nest.hpp"
#include "../plan/overlap.hpp"
#include "placement.hpp"
#include "run_ranks.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::Shards;
using runtime::TensorImpl;
using runtime::TensorRef;

constexpr int axes_disagree = -4;

const Shards* shards_of(const TensorImpl& t) noexcept { return t.buffer ? t.buffer->shards() : nullptr; }

/// The axis, from the end, along which leaves are sharded; `no_axis` if none is, `axes_disagree` if they differ.
int common_axis(const CompiledGraph& compiled, const Call& call, const Shape& shape) noexcept {
  int along = no_axis;
  for (const std::uint32_t leaf : compiled.leaves(0)) {
    const TensorImpl& t = *call.leaves[leaf];
    if (!shards_of(t)) return axes_disagree;
    const int axis = runtime::sharded_axis_from_end(t);
    if (axis == no_axis) continue;
    if ((along != no_axis && along != axis) || extent_from_end(t.shape, axis) != extent_from_end(shape, axis))
      return axes_disagree;
    along = axis;
  }
  return along;
}

/// An operand of the kernel, and the current rank's part of it.
struct ShardedOperand {
  const Shards* shards;
  const TensorImpl* of;
  int axis;           // of the view, along which a rank takes its part; no_axis: it takes the whole operand
  std::int64_t step;  // elements from one row to the next if the rank slices a replicated operand, else 0
  TensorImpl view;    // like `of`, without the buffer
};
/// Kernels with more operands take the general path.
constexpr std::size_t max_operands = 17;
using ShardedOperands = boost::container::static_vector<ShardedOperand, max_operands>;

void set_operand(ShardedOperand& p, const TensorImpl& t, int along, std::int64_t rows) {
  p.shards = shards_of(t), p.of = &t;
  const bool has_part = along != no_axis && along < t.ndim() && extent_from_end(t.shape, along) == rows;
  p.axis = has_part ? t.ndim() - 1 - along : no_axis;
  p.step = has_part && p.shards->replicated ? t.strides.begin()[p.axis] : 0;
  p.view.dtype = t.dtype;
  p.view.shape = t.shape;
  p.view.strides = t.strides;
  p.view.first = 0;
}

/// One evaluation.
class Launches {
 public:
  Launches(const Executable& kernel, const Call& call, ShardedOperands& parts, int along, std::int64_t rows)
      : kernel_(kernel), call_(call), parts_(parts), mesh_(parts[0].shards->mesh), along_(along), rows_(rows) {}

  /// For an existing output. False if a rank would overwrite elements that it has yet to read.
  bool find_overlaps() {
    writes_given_ = true;
    for (int i = 0; i < mesh_.local_size(); ++i) {
      if (!set_rank(i)) continue;
      const Overlap worst = worst_overlap();
      if (worst == Overlap::Some) return false;
      aliases_ |= worst == Overlap::Same;
    }
    return true;
  }

  void run() {
    std::exception_ptr failed;
    for (int i = 0; i < mesh_.local_size(); ++i) try {
        if (set_rank(i)) launch(i);
      } catch (...) {
        if (!failed) failed = std::current_exception();
      }
    if (failed) std::rethrow_exception(failed);
  }

 private:
  /// Sets the views to those of rank i of this process. Returns whether it has elements.
  bool set_rank(int i) {
    std::int64_t first = 0;
    if (along_ != no_axis) {
      const int rank = mesh_.first_local_rank() + i;
      first = mesh_.first_row(rows_, rank);
      set_rows(mesh_.first_row(rows_, rank + 1) - first);
    } else {
      set_rows(1);
    }
    if (parts_[0].view.numel == 0) return false;
    for (ShardedOperand& p : parts_) {
      const TensorImpl& array = *p.shards->local[static_cast<std::size_t>(i)];
      p.view.data = array.data + (p.of->first + first * p.step) * static_cast<std::int64_t>(size_of(p.view.dtype));
    }
    return true;
  }

  /// A loop nest is made once for each number of rows; launch() sets its addresses for each rank.
  void set_rows(std::int64_t rows) {
    if (has_rows_ == rows) return;
    has_rows_ = rows;
    has_nest_ = false;
    for (ShardedOperand& p : parts_) {
      if (p.axis != no_axis) const_cast<std::int64_t*>(p.view.shape.begin())[p.axis] = rows;
      p.view.numel = p.view.shape.numel();
      p.view.contiguous = runtime::is_contiguous(p.view.shape, p.view.strides);
    }
  }

  Overlap worst_overlap() const noexcept {
    Overlap worst = Overlap::None;
    for (std::size_t k = 1; k < parts_.size(); ++k) worst = std::max(worst, overlap(parts_[0].view, parts_[k].view));
    return worst;
  }

  void launch(int i) {
    if (!has_nest_) {
      small_vector<TensorImpl*, 16> operands;
      for (ShardedOperand& p : parts_) operands.push_back(&p.view);
      make_nest(nest_, {operands.data(), operands.size()}, 1, {});
      has_nest_ = true;
    }
    for (std::size_t k = 0; k < parts_.size(); ++k) nest_.operands[k].data = parts_[k].view.data;
    const Device device = mesh_.device(mesh_.first_local_rank() + i);
    const bool aliased = aliases_ && worst_overlap() == Overlap::Same;
    RunFaults faults;
    if (runtime::order_matters.load(std::memory_order_relaxed)) {
      small_vector<runtime::BufferAccess, 16> uses;
      for (const ShardedOperand& p : parts_) uses.push_back({buffer(p, i), uses.empty()});
      const runtime::DependencyGuard ordered(device, {uses.data(), uses.size()});
      faults = kernel_.run(nest_, aliased, call_.scalars, device);
    } else {
      faults = kernel_.run(nest_, aliased, call_.scalars, device);
    }
    if (writes_given_) buffer(parts_[0], i)->touch();
    if (faults.any()) throw_fault(kernel_.kernel(), faults);
  }
  static runtime::Buffer* buffer(const ShardedOperand& p, int i) noexcept {
    return p.shards->local[static_cast<std::size_t>(i)]->buffer.get();
  }

  const Executable& kernel_;
  const Call& call_;
  ShardedOperands& parts_;
  const Mesh& mesh_;
  const int along_;
  const std::int64_t rows_;
  std::int64_t has_rows_ = -1;
  bool has_nest_ = false, aliases_ = false, writes_given_ = false;
  LoopNest nest_;
};

/// Whether ranks would repeat costly parts: then the general path plans by shapes.
bool repeats_on_ranks(const ExecutablePlan& plan, const Shape& shape, const Call& call) {
  if (plan.costly_parts.empty()) return false;
  const Mesh mesh = Mesh::of(call.device);
  const bool is_cpu = mesh.device(mesh.first_local_rank()).is_cpu();
  return repeats(plan.costly_parts, shape, call.leaves, row_values(shape.numel() / mesh.size(), is_cpu));
}

}  // namespace

bool run_elementwise_on_mesh(const CompiledGraph& compiled, const Call& call) {
  if (!call.runs() || compiled.depends_on_shapes() || compiled.outputs() != 1 || !compiled.arrays(0).empty())
    return false;
  const ExecutablePlan& plan = compiled.plan_for_one_shape();
  if (plan.kernels.size() != 1 || compiled.leaves(0).empty()) return false;
  if (plan.plan.kernels[0].inputs.size() >= max_operands) return false;
  const runtime::DefaultFloatEnvironment floats;
  if (compiled.constrains_scalars()) check_scalars(compiled, call.scalars);
  const Shape shape = output_shape(compiled, 0, call.leaves);
  const int along = common_axis(compiled, call, shape);
  if (along == axes_disagree || repeats_on_ranks(plan, shape, call)) return false;
  TensorRef& out = call.outputs[0];
  if (out) {
    check_output(*out, shape, call.device);
    if (!shards_of(*out) || runtime::sharded_axis_from_end(*out) != along || !(out->shape == shape)) return false;
  }
  const TensorRef made = out ? TensorRef() : empty_placed(shape, along, compiled.dtype(0), call.device);
  const std::int64_t rows = along == no_axis ? 1 : extent_from_end(shape, along);
  const Kernel& kernel = plan.plan.kernels[0];
  ShardedOperands parts;
  set_operand(parts.emplace_back(), out ? *out : *made, along, rows);
  for (const Slot& s : kernel.inputs) set_operand(parts.emplace_back(), *call.leaves[s.number], along, rows);
  Launches launches(*plan.kernels[0], call, parts, along, rows);
  if (out && !launches.find_overlaps()) return false;
  launches.run();
  if (out)
    out->buffer->touch();
  else
    out = made;
  return true;
}

}  // namespace sinter::inline v1::jit
