#include "elementwise.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <exception>

#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/pieces.hpp>
#include "../plan/nest.hpp"
#include "../plan/overlap.hpp"
#include "placement.hpp"
#include "run_positions.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::Pieces;
using runtime::TensorImpl;
using runtime::TensorRef;

constexpr int disagree = -2;

const Pieces* pieces_of(const TensorImpl& t) noexcept { return t.buffer ? t.buffer->pieces() : nullptr; }

/// The axis, from the end, along which the leaves that are in pieces are so; `whole` where none is.
int common_axis(const Recipe& recipe, const Call& call, const Shape& shape) noexcept {
  int along = whole;
  for (const std::uint32_t leaf : recipe.leaves(0)) {
    const TensorImpl& t = *call.leaves[leaf];
    if (!pieces_of(t)) return disagree;
    const int axis = runtime::split_axis(t);
    if (axis == whole) continue;
    if ((along != whole && along != axis) || extent_from_end(t.shape, axis) != extent_from_end(shape, axis))
      return disagree;
    along = axis;
  }
  return along;
}

/// An operand of the kernel, and what a position has of it.
struct Part {
  const Pieces* pieces;
  const TensorImpl* of;
  int axis;           // of the view, along which a position has a part of it; whole: it has all
  std::int64_t step;  // elements from one row to the next, where the part is one of what every position has
  TensorImpl view;    // as `of`, without the buffer
};
/// Kernels of more operands go the longer way.
constexpr std::size_t most_operands = 17;
using OperandParts = boost::container::static_vector<Part, most_operands>;

void set_part(Part& p, const TensorImpl& t, int along, std::int64_t rows) {
  p.pieces = pieces_of(t), p.of = &t;
  const bool has_part = along != whole && along < t.rank() && extent_from_end(t.shape, along) == rows;
  p.axis = has_part ? t.rank() - 1 - along : whole;
  p.step = has_part && p.pieces->replicated ? t.strides.begin()[p.axis] : 0;
  p.view.dtype = t.dtype;
  p.view.shape = t.shape;
  p.view.strides = t.strides;
  p.view.first = 0;
}

/// All of one evaluation.
class Launches {
 public:
  Launches(const Executable& kernel, const Call& call, OperandParts& parts, int along, std::int64_t rows)
      : kernel_(kernel), call_(call), parts_(parts), mesh_(parts[0].pieces->mesh), along_(along), rows_(rows) {}

  /// For an output that was there before. False where a position would write what it has still to read.
  bool find_overlaps() {
    writes_given_ = true;
    for (int i = 0; i < mesh_.local(); ++i) {
      if (!set_position(i)) continue;
      const Overlap worst = worst_overlap();
      if (worst == Overlap::Some) return false;
      aliases_ |= worst == Overlap::Same;
    }
    return true;
  }

  void run() {
    std::exception_ptr failed;
    for (int i = 0; i < mesh_.local(); ++i) try {
        if (set_position(i)) launch(i);
      } catch (...) {
        if (!failed) failed = std::current_exception();
      }
    if (failed) std::rethrow_exception(failed);
  }

 private:
  /// Makes the views those of a position of this process. Whether it has elements.
  bool set_position(int i) {
    std::int64_t first = 0;
    if (along_ != whole) {
      const int position = mesh_.first() + i;
      first = mesh_.first_row(rows_, position);
      set_rows(mesh_.first_row(rows_, position + 1) - first);
    } else {
      set_rows(1);
    }
    if (parts_[0].view.numel == 0) return false;
    for (Part& p : parts_) {
      const TensorImpl& array = *p.pieces->local[static_cast<std::size_t>(i)];
      p.view.data = array.data + (p.of->first + first * p.step) * static_cast<std::int64_t>(size_of(p.view.dtype));
    }
    return true;
  }

  /// A nest is made once for each number of rows; what it says of memory is the position's.
  void set_rows(std::int64_t rows) {
    if (has_rows_ == rows) return;
    has_rows_ = rows;
    has_nest_ = false;
    for (Part& p : parts_) {
      if (p.axis != whole) const_cast<std::int64_t*>(p.view.shape.begin())[p.axis] = rows;
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
      for (Part& p : parts_) operands.push_back(&p.view);
      make_nest(nest_, {operands.data(), operands.size()}, 1, {});
      has_nest_ = true;
    }
    for (std::size_t k = 0; k < parts_.size(); ++k) nest_.operands[k].data = parts_[k].view.data;
    const Device device = mesh_.device(mesh_.first() + i);
    const bool aliased = aliases_ && worst_overlap() == Overlap::Same;
    RunFaults met;
    if (runtime::order_matters.load(std::memory_order_relaxed)) {
      small_vector<runtime::Use, 16> uses;
      for (const Part& p : parts_) uses.push_back({buffer(p, i), uses.empty()});
      const runtime::Ordered ordered(device, {uses.data(), uses.size()});
      met = kernel_.run(nest_, aliased, call_.scalars, device);
    } else {
      met = kernel_.run(nest_, aliased, call_.scalars, device);
    }
    if (writes_given_) buffer(parts_[0], i)->touch();
    if (met.any()) throw_fault(kernel_.kernel(), met);
  }
  static runtime::Buffer* buffer(const Part& p, int i) noexcept {
    return p.pieces->local[static_cast<std::size_t>(i)]->buffer.get();
  }

  const Executable& kernel_;
  const Call& call_;
  OperandParts& parts_;
  const Mesh& mesh_;
  const int along_;
  const std::int64_t rows_;
  std::int64_t has_rows_ = -1;
  bool has_nest_ = false, aliases_ = false, writes_given_ = false;
  LoopNest nest_;
};

}  // namespace

bool run_elementwise_on_mesh(const Recipe& recipe, const Call& call) {
  if (!call.runs || recipe.reshapes() || recipe.outputs() != 1 || !recipe.arrays(0).empty()) return false;
  const ReadyPlan& plan = recipe.together();
  if (plan.kernels.size() != 1 || recipe.leaves(0).empty()) return false;
  if (plan.plan.kernels[0].inputs.size() >= most_operands) return false;
  const runtime::DefaultFloats floats;
  if (recipe.limits_scalars()) check_scalars(recipe, call.scalars);
  const Shape shape = output_shape(recipe, 0, call.leaves);
  const int along = common_axis(recipe, call, shape);
  if (along == disagree) return false;
  TensorRef& out = call.outputs[0];
  if (out) {
    check_output(*out, shape, call.device);
    if (!pieces_of(*out) || runtime::split_axis(*out) != along || !(out->shape == shape)) return false;
  }
  const TensorRef made = out ? TensorRef() : empty_placed(shape, along, recipe.dtype(0), call.device);
  const std::int64_t rows = along == whole ? 1 : extent_from_end(shape, along);
  const Kernel& kernel = plan.plan.kernels[0];
  OperandParts parts;
  set_part(parts.emplace_back(), out ? *out : *made, along, rows);
  for (const Slot& s : kernel.inputs) set_part(parts.emplace_back(), *call.leaves[s.number], along, rows);
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
