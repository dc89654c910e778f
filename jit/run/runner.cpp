#include "runner.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <optional>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/order.hpp>
#include "../plan/faults.hpp"
#include "../plan/nest.hpp"
#include "../plan/plan_shapes.hpp"
#include "../plan/product.hpp"
#include "../plan/reuse.hpp"
#include "../stats/stats.hpp"
#include "in_place.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The destination of one output.
struct Target {
  Shape shape;
  DType dtype = DType::Bool;
  TensorRef array;              // written by a kernel; null before it writes to a new array
  TensorImpl* given = nullptr;  // the caller's; differs from `array` if that is a temporary
  bool is_in_place = false;     // the array is also one that the kernel reads
};
using Targets = small_vector<Target, 2>;

/// An array for a kernel to write. If nothing runs, it has an address, which determines vector widths, but no memory.
TensorRef make_array(const Shape& shape, DType dtype, const Call& call) {
  if (call.runs()) return runtime::empty(shape, dtype, call.device);
  constexpr std::uintptr_t aligned_address = 4096;
  TensorRef t = runtime::iota_tensor(shape, call.device);
  t->dtype = dtype;
  t->data = reinterpret_cast<std::byte*>(aligned_address);
  return t;
}

TensorImpl* array_of(Target& target, const Call& call) {
  if (!target.array) target.array = make_array(target.shape, target.dtype, call);
  return target.array.get();
}

bool writes_output(const Kernel& kernel) {
  return std::ranges::find(kernel.outputs, Slot::Kind::Output, &Slot::kind) != kernel.outputs.end();
}

/// Runs a kernel, by run(), in order with the work of other streams.
template <class F>
RunFaults run_in_order(const Kernel& kernel, std::span<TensorImpl* const> operands, const Call& call, F run) {
  small_vector<runtime::BufferAccess, 16> uses;
  for (std::size_t i = 0; i < operands.size(); ++i)
    uses.push_back({operands[i]->buffer.get(), i < kernel.outputs.size()});
  runtime::DependencyGuard ordered(call.device, {uses.data(), uses.size()});
  const RunFaults faults = run();
  if (call.marks_outputs && writes_output(kernel)) ordered.mark_end();
  return faults;
}

/// The loop nest of a kernel that runs over this shape.
void fill_nest(LoopNest& nest, const Kernel& kernel, std::span<TensorImpl* const> operands, const Shape& shape) {
  if (kernel.rows)
    make_row_nest(nest, operands, kernel, shape);
  else
    make_nest(nest, operands, static_cast<int>(kernel.outputs.size()), kernel.arrays);
}

void run_kernel(const Executable& kernel, std::span<TensorImpl* const> operands, const Shape& shape, bool aliased,
                const Call& call) {
  const std::size_t outputs = kernel.kernel().outputs.size();
  if (std::ranges::all_of(operands.first(outputs), [](const TensorImpl* t) { return t->numel == 0; })) {
    if (call.visitor) call.visitor->kernel(kernel, nullptr, aliased, call.device);
    return;
  }
  LoopNest nest;
  fill_nest(nest, kernel.kernel(), operands, shape);
  if (call.visitor) [[unlikely]]
    return call.visitor->kernel(kernel, &nest, aliased, call.device);
  const auto run = [&] { return kernel.run(nest, aliased, call.scalars, call.device); };
  const RunFaults faults = runtime::order_matters.load(std::memory_order_relaxed)
                               ? run_in_order(kernel.kernel(), operands, call, run)
                               : run();
  if (faults.any() && !call.faulting_kernel) call.faulting_kernel = &kernel.kernel(), call.faults = faults;
}

/// A BLAS runs it.
void run_product(const Executable& product, std::span<TensorImpl* const> operands, const Call& call) {
  if (call.visitor) return call.visitor->kernel(product, nullptr, false, call.device);
  run_in_order(product.kernel(), operands, call, [&] {
    multiply(product.kernel(), operands, call.scalars);
    return RunFaults();
  });
  ThreadStats::count(stats().launches);
}

/// Runs the kernels of a plan in order, with the temporaries between them.
class PlanRun {
 public:
  PlanRun(const ExecutablePlan& plan, const PlanShapes& shapes, Targets& targets, const Call& call)
      : plan_(plan), shapes_(shapes), targets_(targets), call_(call), temporaries_(plan.plan.temporaries.size()) {}

  void run() {
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      const Kernel& kernel = plan_.kernels[k]->kernel();
      const bool reuses = make_outputs(k);
      gather(kernel);
      const std::span operands(operands_.data(), operands_.size());
      if (kernel.is_product)
        run_product(*plan_.kernels[k], operands, call_);
      else
        run_kernel(*plan_.kernels[k], operands, shapes_.kernels[k], reuses || is_in_place(kernel), call_);
      for (const Slot& s : kernel.inputs)
        if (s.kind == Slot::Kind::Temporary && plan_.plan.last_use[s.number] == k) temporaries_[s.number] = TensorRef();
    }
  }

 private:
  /// Makes the arrays that a kernel writes, but for given ones. Returns whether one may be in the place of what it
  /// reads: the kernel is then the variant for that even if all are given, so that one variant serves all evaluations.
  bool make_outputs(std::size_t k) {
    const Kernel& kernel = plan_.plan.kernels[k];
    const ReusedTemporaries reused = reused_temporaries(plan_.plan, shapes_, k);
    bool reuses = false;
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      const Slot& s = kernel.outputs[i];
      const bool is_temporary = s.kind == Slot::Kind::Temporary;
      TensorRef& made = is_temporary ? temporaries_[s.number] : targets_[s.number].array;
      reuses |= reused[i].has_value();
      if (made) continue;
      if (reused[i])
        made = temporaries_[*reused[i]];
      else if (is_temporary)
        made = make_array(shapes_.temporaries[s.number], plan_.plan.temporaries[s.number], call_);
    }
    return reuses;
  }

  TensorImpl* array(const Slot& s) {
    switch (s.kind) {
      case Slot::Kind::Leaf:
      case Slot::Kind::Array: return call_.leaves[s.number];
      case Slot::Kind::Temporary: return temporaries_[s.number].get();
      case Slot::Kind::Output: break;
    }
    return array_of(targets_[s.number], call_);
  }
  bool is_in_place(const Kernel& kernel) const {
    return std::ranges::any_of(
        kernel.outputs, [&](const Slot& s) { return s.kind == Slot::Kind::Output && targets_[s.number].is_in_place; });
  }

  void gather(const Kernel& kernel) {
    operands_.clear();
    for (const Slot& s : kernel.outputs) operands_.push_back(array(s));
    for (const Slot& s : kernel.inputs) operands_.push_back(array(s));
  }

  const ExecutablePlan& plan_;
  const PlanShapes& shapes_;
  Targets& targets_;
  const Call& call_;
  std::vector<TensorRef> temporaries_;
  small_vector<TensorImpl*, 16> operands_;
};

CapturedPlan captured(const CompiledGraph& compiled, const ExecutablePlan& plan, const PlanShapes& shapes,
                      const Call& call) {
  CapturedPlan seen{compiled.shared_from_this(), &plan, shapes, {}, std::nullopt};
  if (call.names) seen.names = *call.names;
  for (TensorImpl* t : call.leaves) seen.leaves.push_back(TensorRef::share(t));
  return seen;
}

/// The outputs' destinations. One of another shape than the output receives a copy, as does one that overlaps with what
/// is still to be read.
Targets targets_for(const CompiledGraph& compiled, const ExecutablePlan& plan, std::span<const Shape> shapes,
                    const Call& call) {
  Targets targets(compiled.outputs());
  std::optional<MemoryIndex> leaves;
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    t.shape = shapes[i];
    t.dtype = compiled.dtype(i);
    t.given = call.outputs ? call.outputs[i].get() : nullptr;
    if (!t.given) continue;
    check_output(*t.given, t.shape, call.device);
    if (!(t.given->shape == t.shape)) continue;
    if (!leaves) leaves.emplace(call.leaves);
    const Overlap with = overlap_with_reads(*t.given, i, compiled, plan, call.leaves, *leaves);
    t.is_in_place = with == Overlap::Same;
    if (with != Overlap::Some) t.array = TensorRef::share(t.given);
  }
  if (call.outputs) check_outputs_disjoint({call.outputs, targets.size()});
  return targets;
}

/// Returns the results to the caller.
void finish(Targets& targets, const Call& call) {
  if (!call.runs()) return;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    if (!t.given)
      call.outputs[i] = std::move(t.array);
    else if (t.array.get() != t.given)
      copy(*t.given, *t.array);
    else if (t.given->buffer)
      t.given->buffer->touch();
  }
}

/// Any number of outputs, kernels and overlaps.
void run_plan(const CompiledGraph& compiled, const ExecutablePlan& plan, const PlanShapes& shapes, const Call& call) {
  Targets targets = targets_for(compiled, plan, shapes.outputs, call);
  if (call.visitor) call.visitor->plan(captured(compiled, plan, shapes, call));
  if (call.runs() && std::ranges::all_of(shapes.outputs, [](const Shape& s) { return s.numel() == 0; }))
    std::ranges::for_each(targets, [&](Target& t) { array_of(t, call); });  // what only leads to them is not computed
  else
    PlanRun(plan, shapes, targets, call).run();
  finish(targets, call);
}

/// Whether the only output shares memory with an array that it gathers from.
bool overlaps_array(const TensorImpl& to, const CompiledGraph& compiled, const Call& call) {
  return std::ranges::any_of(compiled.arrays(0),
                             [&](std::uint32_t leaf) { return overlap(to, *call.leaves[leaf]) != Overlap::None; });
}

/// The fast path of almost every evaluation: one output of one kernel, without temporaries. `domain` is the shape that
/// the kernel runs over. Returns false, without having run anything, if the path does not apply.
template <bool reduces>
bool run_single_kernel(const CompiledGraph& compiled, const Call& call, const ExecutablePlan& plan, const Shape& shape,
                       const Shape& domain, TensorImpl* given) {
  bool aliased = false;
  if (given && overlaps_array(*given, compiled, call)) return false;
  if (given)
    for (const std::uint32_t leaf : compiled.leaves(0)) {
      const Overlap with = overlap(*given, *call.leaves[leaf]);
      if (with == Overlap::Some) return false;
      if (reduces && with == Overlap::Same && !writes_in_place(plan.plan.kernels[0], 0, *given, call.leaves))
        return false;
      aliased |= with == Overlap::Same;
    }
  TensorRef made;
  if (!given) made = runtime::empty(shape, compiled.dtype(0), call.device);
  small_vector<TensorImpl*, 16> operands(1 + plan.plan.kernels[0].inputs.size(), boost::container::default_init);
  TensorImpl** operand = operands.data();
  *operand++ = given ? given : made.get();
  for (const Slot& s : plan.plan.kernels[0].inputs) *operand++ = call.leaves[s.number];
  run_kernel(*plan.kernels[0], {operands.data(), operands.size()}, domain, aliased, call);
  if (!given)
    call.outputs[0] = std::move(made);
  else if (given->buffer)
    given->buffer->touch();
  return true;
}

/// run_single_kernel for a kernel that reduces.
bool run_rows_directly(const CompiledGraph& compiled, const Call& call, const ExecutablePlan& plan) {
  const Kernel& kernel = plan.plan.kernels[0];
  const Shape domain = shape_by_inputs(kernel, call.leaves), shape = output_shape(kernel, 0, domain);
  TensorImpl* const given = call.outputs[0].get();
  if (given) {
    check_output(*given, shape, call.device);
    if (!(given->shape == shape)) return false;
  }
  return run_single_kernel<true>(compiled, call, plan, shape, domain, given);
}

/// A plan for the leaves' shapes. Its outputs may differ in shape. `elements` are those of the largest kernel, roughly.
void run_shaped(const CompiledGraph& compiled, const Call& call, std::int64_t elements) {
  const RowValues rows = compiled.row_values_for(call.leaves, elements, call.device.is_cpu());
  const ExecutablePlan& plan = compiled.plan_for(call.leaves, rows);
  const bool is_one = plan.kernels.size() == 1 && plan.plan.kernels[0].rows && compiled.outputs() == 1 && call.runs();
  if (is_one && run_rows_directly(compiled, call, plan)) return;
  run_plan(compiled, plan, plan_shapes(plan.plan, nullptr, call.leaves), call);
}

/// Without arrays that are gathered from, of which a kernel may read a few elements.
std::int64_t largest_leaf(const CompiledGraph& compiled, Leaves leaves) noexcept {
  std::int64_t elements = 0;
  for (std::uint32_t i = 0; i < leaves.size(); ++i)
    if (!compiled.is_array(i)) elements = std::max(elements, leaves[i]->numel);
  return elements;
}

/// The shape that an elementwise graph computes all outputs in; nullopt if they differ in shape.
std::optional<Shape> shape_of_all(const CompiledGraph& compiled, const Call& call) {
  std::optional<Shape> all;
  bool is_one = true;
  for (std::size_t i = 0; i < compiled.outputs(); ++i) {
    Shape shape = output_shape(compiled, i, call.leaves);
    if (const TensorImpl* given = call.outputs ? call.outputs[i].get() : nullptr) {
      check_output(*given, shape, call.device);
      shape = given->shape;
    }
    if (!all) all = shape;
    is_one &= *all == shape;
  }
  return is_one ? all : std::nullopt;
}

/// Whether the plan for all shapes would repeat costly parts.
bool repeats(const ExecutablePlan& plan, const Shape& shape, const Call& call) noexcept {
  if (plan.costly_parts.empty()) return false;
  const RowValues rows = row_values(shape.numel(), call.device.is_cpu());
  return rows != RowValues::Recomputed && repeats(plan.costly_parts, shape.numel(), call.leaves, rows);
}

void run_elementwise(const CompiledGraph& compiled, const Call& call) {
  const std::optional<Shape> shape = shape_of_all(compiled, call);
  if (!shape) return run_shaped(compiled, call, largest_leaf(compiled, call.leaves));
  const ExecutablePlan& plan = compiled.plan_for_one_shape();
  if (repeats(plan, *shape, call)) return run_shaped(compiled, call, shape->numel());
  run_plan(compiled, plan, plan_shapes(plan.plan, &*shape, call.leaves), call);
}

void run_on_device(const CompiledGraph& compiled, const Call& call) {
  if (compiled.depends_on_shapes()) [[unlikely]]
    return run_shaped(compiled, call, largest_leaf(compiled, call.leaves));
  if (compiled.outputs() == 1 && call.runs()) [[likely]] {
    const ExecutablePlan& plan = compiled.plan_for_one_shape();
    if (plan.kernels.size() == 1) [[likely]] {
      const Shape shape = output_shape(compiled, 0, call.leaves);
      TensorImpl* const given = call.outputs[0].get();
      if (given) check_output(*given, shape, call.device);
      if (repeats(plan, shape, call)) [[unlikely]]
        return run_shaped(compiled, call, shape.numel());
      if (run_single_kernel<false>(compiled, call, plan, shape, shape, given)) return;
    }
  }
  run_elementwise(compiled, call);
}

}  // namespace

void run(const CompiledGraph& compiled, const Call& call) {
  const runtime::DefaultFloatEnvironment floats;  // scalars are converted
  if (compiled.constrains_scalars()) check_scalars(compiled, call.scalars);
  run_on_device(compiled, call);
  if (call.faulting_kernel) [[unlikely]]
    throw_fault(*call.faulting_kernel, call.faults);
}

}  // namespace sinter::inline v1::jit
