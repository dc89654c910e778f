#include "runner.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <optional>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/order.hpp>
#include "../plan/faults.hpp"
#include "../plan/nest.hpp"
#include "../plan/overlap.hpp"
#include "../plan/plan_shapes.hpp"
#include "../plan/product.hpp"
#include "../stats/stats.hpp"
#include "memory_index.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The destination of one output.
struct Target {
  Shape shape;
  DType dtype = DType::Bool;
  TensorRef array;              // written by kernels; null until the first one that writes to a new array
  TensorImpl* given = nullptr;  // the caller's; differs from `array` if that is a temporary
};
using Targets = small_vector<Target, 2>;

/// An array for a kernel to write. If nothing runs, it has an address, which determines vector widths, but no memory.
TensorRef make_array(const Shape& shape, DType dtype, const Call& call) {
  if (call.runs) return runtime::empty(shape, dtype, call.device);
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
    if (call.row_reports) call.row_reports->emplace_back();
    return;
  }
  LoopNest nest;
  fill_nest(nest, kernel.kernel(), operands, shape);
  if (call.runs) [[likely]] {
    const auto run = [&] { return kernel.run(nest, aliased, call.scalars, call.device); };
    const RunFaults faults = runtime::order_matters.load(std::memory_order_relaxed)
                                 ? run_in_order(kernel.kernel(), operands, call, run)
                                 : run();
    if (faults.any() && !call.faulting_kernel) call.faulting_kernel = &kernel.kernel(), call.faults = faults;
  } else if (call.texts) {
    call.texts->texts.push_back(kernel.source(nest, aliased, call.texts->print));
  } else if (call.row_reports) {
    call.row_reports->push_back(kernel.kernel().rows ? kernel.row_report(nest, aliased, call.device) : RowReport());
  } else if (call.later) {
    call.later->push_back([&kernel, nest, aliased, device = call.device] { kernel.prepare(nest, aliased, device); });
  } else {
    kernel.prepare(nest, aliased, call.device);
  }
}

/// A BLAS runs it, so there is nothing to compile.
void run_product(const Kernel& kernel, std::span<TensorImpl* const> operands, const Call& call) {
  if (call.row_reports) call.row_reports->emplace_back();
  if (!call.runs) return;
  run_in_order(kernel, operands, call, [&] {
    multiply(kernel, operands, call.scalars);
    return RunFaults();
  });
  ThreadStats::count(stats().launches);
}

/// Runs the kernels of a plan in order, with the temporaries between them.
class PlanRun {
 public:
  PlanRun(const ExecutablePlan& plan, const PlanShapes& shapes, Targets& targets, bool aliased, const Call& call)
      : plan_(plan),
        shapes_(shapes),
        targets_(targets),
        aliased_(aliased),
        call_(call),
        temporaries_(plan.plan.temporaries.size()) {}

  void run() {
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      const Kernel& kernel = plan_.kernels[k]->kernel();
      for (const Slot& s : kernel.outputs)
        if (s.kind == Slot::Kind::Temporary)
          temporaries_[s.number] = make_array(shapes_.temporaries[s.number], plan_.plan.temporaries[s.number], call_);
      gather(kernel);
      const std::span operands(operands_.data(), operands_.size());
      if (kernel.is_product)
        run_product(kernel, operands, call_);
      else
        run_kernel(*plan_.kernels[k], operands, shapes_.kernels[k], aliased_, call_);
      for (const Slot& s : kernel.inputs)
        if (s.kind == Slot::Kind::Temporary && plan_.plan.last_use[s.number] == k) temporaries_[s.number] = TensorRef();
    }
  }

 private:
  TensorImpl* array(const Slot& s) {
    switch (s.kind) {
      case Slot::Kind::Leaf:
      case Slot::Kind::Array: return call_.leaves[s.number];
      case Slot::Kind::Temporary: return temporaries_[s.number].get();
      case Slot::Kind::Output: break;
    }
    return array_of(targets_[plan_.outputs[s.number]], call_);
  }

  void gather(const Kernel& kernel) {
    operands_.clear();
    for (const Slot& s : kernel.outputs) operands_.push_back(array(s));
    for (const Slot& s : kernel.inputs) operands_.push_back(array(s));
  }

  const ExecutablePlan& plan_;
  const PlanShapes& shapes_;
  Targets& targets_;
  const bool aliased_;
  const Call& call_;
  std::vector<TensorRef> temporaries_;
  small_vector<TensorImpl*, 16> operands_;
};

void capture_plan(const CompiledGraph& compiled, const ExecutablePlan& plan, const PlanShapes& shapes,
                  const Call& call) {
  CapturedPlan seen{compiled.shared_from_this(), &plan, shapes, {}};
  for (std::size_t i = 0; i < call.leaves.size(); ++i) seen.leaves.push_back(TensorRef::share(call.leaves[i]));
  call.seen->push_back(std::move(seen));
}

/// One plan and the outputs that it computes.
void run_plan(const ExecutablePlan& plan, Targets& targets, bool aliased, const Call& call) {
  const Shape& shape = targets[plan.outputs[0]].shape;
  if (plan.kernels.size() != 1 && shape.numel() > 0) {
    const PlanShapes shapes = plan_shapes(plan.plan, &shape, call.leaves);
    return PlanRun(plan, shapes, targets, aliased, call).run();
  }
  for (const std::uint32_t output : plan.outputs) array_of(targets[output], call);
  if (shape.numel() == 0) return;
  const Executable& only = *plan.kernels[0];
  small_vector<TensorImpl*, 16> operands;
  for (const Slot& s : only.kernel().outputs) operands.push_back(targets[plan.outputs[s.number]].array.get());
  for (const Slot& s : only.kernel().inputs) operands.push_back(call.leaves[s.number]);
  run_kernel(only, {operands.data(), operands.size()}, shape, aliased, call);
}

/// Whether the last kernel writes the plan's output, so that everything has been read when it is written.
bool last_kernel_writes(const ExecutablePlan& plan, std::uint32_t output) {
  for (const Slot& s : plan.plan.kernels.back().outputs)
    if (s.kind == Slot::Kind::Output && s.number == output) return true;
  return false;
}

/// Whether an output shares memory with an array that it, or another output, gathers from.
bool overlaps_array(const TensorImpl& to, const CompiledGraph& compiled, std::size_t output, const Call& call) {
  return std::ranges::any_of(compiled.arrays(output),
                             [&](std::uint32_t leaf) { return overlap(to, *call.leaves[leaf]) != Overlap::None; });
}

/// How the array of an output overlaps with the leaves of a plan that computes it and others.
Overlap worst_overlap(const TensorImpl& to, std::size_t output, const CompiledGraph& compiled,
                      const ExecutablePlan& plan, const MemoryIndex& leaves, const Call& call) {
  const bool reads_first = plan.kernels.size() == 1 || last_kernel_writes(plan, static_cast<std::uint32_t>(output));
  Overlap worst = Overlap::None;
  const bool copies = leaves.any_candidate(to, [&](std::size_t leaf) {
    const Overlap with = overlap(to, *call.leaves[leaf]);
    worst = std::max(worst, with);
    return with == Overlap::Some || (with == Overlap::Same && (!reads_first || compiled.is_array(leaf)));
  });
  return copies ? Overlap::Some : worst;
}

/// How output i overlaps with what is read from then on, where each output has its own plan, which run in order.
Overlap worst_overlap(std::size_t i, const CompiledGraph& compiled, const Targets& targets, const Call& call) {
  const TensorImpl& to = *targets[i].given;
  Overlap worst = Overlap::None;
  const ExecutablePlan& plan = compiled.plan_of_output(i);
  const bool reads_first = plan.kernels.size() == 1 || last_kernel_writes(plan, 0);
  for (std::size_t o = i; o < compiled.outputs(); ++o) {
    if (overlaps_array(to, compiled, o, call)) return Overlap::Some;
    for (const std::uint32_t leaf : compiled.leaves(o)) {
      const Overlap with = overlap(to, *call.leaves[leaf]);
      if (with == Overlap::Some || (with == Overlap::Same && (!reads_first || o != i))) return Overlap::Some;
      worst = std::max(worst, with);
    }
  }
  return worst;
}

/// Sets the outputs' destinations, except those in new arrays; returns whether some kernel reads and writes the same
/// memory.
bool choose_arrays(const CompiledGraph& compiled, Targets& targets, const ExecutablePlan* joint_plan,
                   const Call& call) {
  bool aliased = false;
  std::optional<MemoryIndex> leaves;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    if (t.given) {
      if (joint_plan && !leaves) leaves.emplace(call.leaves);
      const Overlap with = joint_plan ? worst_overlap(*t.given, i, compiled, *joint_plan, *leaves, call)
                                      : worst_overlap(i, compiled, targets, call);
      aliased |= with == Overlap::Same;
      if (with != Overlap::Some) t.array = TensorRef::share(t.given);
    }
  }
  return aliased;
}

/// Returns the results to the caller.
void finish(Targets& targets, const Call& call) {
  if (!call.runs) return;
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
void run_general(const CompiledGraph& compiled, const Call& call) {
  Targets targets(compiled.outputs());
  bool same_shape = true;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    t.shape = output_shape(compiled, i, call.leaves);
    t.dtype = compiled.dtype(i);
    if (call.outputs && call.outputs[i]) {
      t.given = call.outputs[i].get();
      check_output(*t.given, t.shape, call.device);
      t.shape = t.given->shape;
    }
    same_shape &= t.shape == targets[0].shape;
  }
  if (call.outputs) check_outputs_disjoint({call.outputs, targets.size()});
  const ExecutablePlan* joint_plan = same_shape ? &compiled.joint_plan() : nullptr;
  const bool aliased = choose_arrays(compiled, targets, joint_plan, call);
  if (call.seen)
    for (std::size_t i = 0; i < (joint_plan ? 1 : targets.size()); ++i) {
      const ExecutablePlan& plan = joint_plan ? *joint_plan : compiled.plan_of_output(i);
      capture_plan(compiled, plan, plan_shapes(plan.plan, &targets[i].shape, call.leaves), call);
    }
  if (joint_plan) {
    run_plan(*joint_plan, targets, aliased, call);
  } else {
    for (std::size_t i = 0; i < targets.size(); ++i) run_plan(compiled.plan_of_output(i), targets, aliased, call);
  }
  finish(targets, call);
}

/// Whether an output may be a leaf's memory, element for element: each element is read before it is written. In a
/// product, only the addend is read so.
bool writes_in_place(const Kernel& kernel, std::size_t output, const TensorImpl& to, const Call& call) {
  if (kernel.is_product)
    return std::ranges::none_of(std::span(kernel.inputs).first(2), [&](const Slot& s) {
      return s.kind == Slot::Kind::Leaf && overlap(to, *call.leaves[s.number]) != Overlap::None;
    });
  return !kernel.rows || kernel.rows->axis_mapping[output] == AxisMapping::Domain;
}

/// The fast path of almost every evaluation: one output of one kernel, without temporaries. `domain` is the shape that
/// the kernel runs over. Returns false, without having run anything, if the path does not apply.
template <bool reduces>
bool run_single_kernel(const CompiledGraph& compiled, const Call& call, const ExecutablePlan& plan, const Shape& shape,
                       const Shape& domain, TensorImpl* given) {
  bool aliased = false;
  if (given && !compiled.arrays(0).empty() && overlaps_array(*given, compiled, 0, call)) return false;
  if (given)
    for (const std::uint32_t leaf : compiled.leaves(0)) {
      const Overlap with = overlap(*given, *call.leaves[leaf]);
      if (with == Overlap::Some) return false;
      if (reduces && with == Overlap::Same && !writes_in_place(plan.plan.kernels[0], 0, *given, call)) return false;
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

bool last_writes_in_place(const ExecutablePlan& plan, std::uint32_t output, const TensorImpl& to, const Call& call) {
  const Kernel& last = plan.plan.kernels.back();
  for (std::size_t i = 0; i < last.outputs.size(); ++i)
    if (last.outputs[i] == Slot{Slot::Kind::Output, output}) return writes_in_place(last, i, to, call);
  return false;
}

/// Sets the destinations of given outputs. One of another shape receives a copy.
bool choose_arrays(const CompiledGraph& compiled, const ExecutablePlan& plan, Targets& targets, const Call& call) {
  bool aliased = false;
  std::optional<MemoryIndex> leaves;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    Overlap with = Overlap::Some;
    if (t.given && t.given->shape == t.shape) {
      if (!leaves) leaves.emplace(call.leaves);
      with = worst_overlap(*t.given, i, compiled, plan, *leaves, call);
      if (with == Overlap::Same && !last_writes_in_place(plan, static_cast<std::uint32_t>(i), *t.given, call))
        with = Overlap::Some;
    }
    aliased |= with == Overlap::Same;
    if (with != Overlap::Some) t.array = TensorRef::share(t.given);
  }
  return aliased;
}

/// run_directly for a kernel that reduces.
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

/// A compiled graph that reshapes, whose outputs may differ in shape.
void run_shaped(const CompiledGraph& compiled, const Call& call) {
  const ExecutablePlan& plan = compiled.plan_for(call.leaves);
  const bool is_one = plan.kernels.size() == 1 && plan.plan.kernels[0].rows && compiled.outputs() == 1 && call.runs;
  if (is_one && run_rows_directly(compiled, call, plan)) return;
  const PlanShapes shapes = plan_shapes(plan.plan, nullptr, call.leaves);
  Targets targets(compiled.outputs());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    t.shape = shapes.outputs[i];
    t.dtype = compiled.dtype(i);
    t.given = call.outputs ? call.outputs[i].get() : nullptr;
    if (t.given) check_output(*t.given, t.shape, call.device);
  }
  if (call.outputs) check_outputs_disjoint({call.outputs, targets.size()});
  const bool aliased = choose_arrays(compiled, plan, targets, call);
  if (call.seen) capture_plan(compiled, plan, shapes, call);
  PlanRun(plan, shapes, targets, aliased, call).run();
  finish(targets, call);
}

void run_on_device(const CompiledGraph& compiled, const Call& call) {
  if (compiled.depends_on_shapes()) [[unlikely]]
    return run_shaped(compiled, call);
  if (compiled.outputs() == 1 && call.runs) [[likely]] {
    const ExecutablePlan& plan = compiled.joint_plan();
    if (plan.kernels.size() == 1) [[likely]] {
      const Shape shape = output_shape(compiled, 0, call.leaves);
      TensorImpl* const given = call.outputs[0].get();
      if (given) check_output(*given, shape, call.device);
      if (run_single_kernel<false>(compiled, call, plan, shape, shape, given)) return;
    }
  }
  run_general(compiled, call);
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
