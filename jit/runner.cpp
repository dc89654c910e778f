#include "runner.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include <sinter/runtime/order.hpp>
#include "faults.hpp"
#include "nest.hpp"
#include "overlap.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// Where one output goes.
struct Target {
  Shape shape;
  TensorRef array;              // what kernels write
  TensorImpl* given = nullptr;  // what the caller gave; differs from `array` where that is a temporary
};
using Targets = small_vector<Target, 2>;

/// An array for a kernel to write. Where nothing runs it has an address, which decides on vectors, but no memory.
TensorRef make_array(const Shape& shape, DType dtype, const Call& call) {
  if (call.runs) return runtime::empty(shape, dtype, call.device);
  constexpr std::uintptr_t aligned_address = 4096;
  TensorRef t = runtime::index_tensor(shape, call.device);
  t->dtype = dtype;
  t->data = reinterpret_cast<std::byte*>(aligned_address);
  return t;
}

/// Where several streams take part. Gives what Executable::run does.
bool run_in_order(const Executable& kernel, const LoopNest& nest, std::span<TensorImpl* const> operands, bool aliased,
                  const Call& call) {
  const std::size_t outputs = kernel.kernel().outputs.size();
  small_vector<runtime::Use, 16> uses;
  for (std::size_t i = 0; i < operands.size(); ++i) uses.push_back({operands[i]->buffer.get(), i < outputs});
  const runtime::Ordered ordered(call.device, {uses.data(), uses.size()});
  return kernel.run(nest, aliased, call.scalars, call.device);
}

void run_kernel(const Executable& kernel, std::span<TensorImpl* const> operands, bool aliased, const Call& call) {
  if (operands[0]->numel == 0) return;
  LoopNest nest;
  make_nest(nest, operands, static_cast<int>(kernel.kernel().outputs.size()));
  if (call.runs) [[likely]] {
    const bool right = runtime::order_matters.load(std::memory_order_relaxed)
                           ? run_in_order(kernel, nest, operands, aliased, call)
                           : kernel.run(nest, aliased, call.scalars, call.device);
    if (!right && !call.faulted) call.faulted = &kernel.kernel();
  } else if (call.texts) {
    call.texts->push_back(kernel.source(nest, aliased));
  } else if (call.later) {
    call.later->push_back([&kernel, nest, aliased, device = call.device] { kernel.prepare(nest, aliased, device); });
  } else {
    kernel.prepare(nest, aliased, call.device);
  }
}

/// The shape of a kernel that writes no output: what its inputs broadcast to. `temporaries` are those written so far.
Shape inner_shape(const Kernel& kernel, Leaves leaves, std::span<const Shape> temporaries) {
  Shape shape;
  for (const Slot& s : kernel.inputs) {
    const Shape& with = s.kind == Slot::Kind::Leaf ? leaves[s.number]->shape : temporaries[s.number];
    if (!broadcast(shape, with)) throw ShapeError("the operands of " + kernel.name + " do not broadcast");
  }
  return shape;
}

bool is_output(const Slot& s) noexcept { return s.kind == Slot::Kind::Output; }

/// The kernels of a plan in order, with the temporaries between them.
class PlanRun {
 public:
  PlanRun(const ReadyPlan& plan, Targets& targets, bool aliased, const Call& call)
      : plan_(plan),
        targets_(targets),
        aliased_(aliased),
        call_(call),
        temporaries_(plan.plan.temporaries.size()),
        shapes_(temporaries_.size()) {}

  void run() {
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      const Kernel& kernel = plan_.kernels[k]->kernel();
      allocate(kernel);
      gather(kernel);
      run_kernel(*plan_.kernels[k], {operands_.data(), operands_.size()}, aliased_, call_);
      for (const Slot& s : kernel.inputs)
        if (s.kind == Slot::Kind::Temporary && plan_.plan.last_use[s.number] == k) temporaries_[s.number] = TensorRef();
    }
  }

 private:
  TensorImpl* array(const Slot& s) const {
    switch (s.kind) {
      case Slot::Kind::Leaf: return call_.leaves[s.number];
      case Slot::Kind::Temporary: return temporaries_[s.number].get();
      case Slot::Kind::Output: break;
    }
    return targets_[plan_.outputs[s.number]].array.get();
  }

  void gather(const Kernel& kernel) {
    operands_.clear();
    for (const Slot& s : kernel.outputs) operands_.push_back(array(s));
    for (const Slot& s : kernel.inputs) operands_.push_back(array(s));
  }

  void allocate(const Kernel& kernel) {
    const Shape* shape = nullptr;
    bool any = false;
    for (const Slot& s : kernel.outputs)
      if (s.kind == Slot::Kind::Output)
        shape = &targets_[plan_.outputs[s.number]].shape;
      else
        any = true;
    if (!any) return;
    const Shape kernel_shape = shape ? *shape : inner_shape(kernel, call_.leaves, shapes_);
    for (const Slot& s : kernel.outputs) {
      if (s.kind != Slot::Kind::Temporary) continue;
      shapes_[s.number] = kernel_shape;
      temporaries_[s.number] = make_array(kernel_shape, plan_.plan.temporaries[s.number], call_);
    }
  }

  const ReadyPlan& plan_;
  Targets& targets_;
  const bool aliased_;
  const Call& call_;
  std::vector<TensorRef> temporaries_;
  std::vector<Shape> shapes_;  // of the temporaries written so far
  small_vector<TensorImpl*, 16> operands_;
};

/// One plan for the outputs that it names.
void run_plan(const ReadyPlan& plan, Targets& targets, bool aliased, const Call& call) {
  if (targets[plan.outputs[0]].shape.numel() == 0) return;
  if (plan.kernels.size() != 1) return PlanRun(plan, targets, aliased, call).run();
  const Executable& only = *plan.kernels[0];
  small_vector<TensorImpl*, 16> operands;
  for (const Slot& s : only.kernel().outputs) operands.push_back(targets[plan.outputs[s.number]].array.get());
  for (const Slot& s : only.kernel().inputs) operands.push_back(call.leaves[s.number]);
  run_kernel(only, {operands.data(), operands.size()}, aliased, call);
}

/// Whether the last kernel writes the plan's output, so that everything has been read when it is written.
bool last_kernel_writes(const ReadyPlan& plan, std::uint32_t output) {
  for (const Slot& s : plan.plan.kernels.back().outputs)
    if (s.kind == Slot::Kind::Output && s.number == output) return true;
  return false;
}

/// How output i overlaps with what else is written, and read from then on; `together` is null where outputs have plans
/// of their own, which run in their order.
Overlap worst_overlap(std::size_t i, const Recipe& recipe, const Targets& targets, const ReadyPlan* together,
                      const Call& call) {
  const TensorImpl& to = *targets[i].given;
  Overlap worst = Overlap::None;
  for (std::size_t j = 0; j < i; ++j)
    if (targets[j].given && overlap(to, *targets[j].given) != Overlap::None) return Overlap::Some;
  const ReadyPlan& plan = together ? *together : recipe.alone(i);
  const auto output = static_cast<std::uint32_t>(together ? i : 0);
  const bool reads_first = plan.kernels.size() == 1 || last_kernel_writes(plan, output);
  for (std::size_t o = together ? 0 : i; o < recipe.outputs(); ++o)
    for (const std::uint32_t leaf : recipe.leaves(o)) {
      const Overlap with = overlap(to, *call.leaves[leaf]);
      const bool in_place = reads_first && (together || o == i);
      if (with == Overlap::Some || (with == Overlap::Same && !in_place)) return Overlap::Some;
      worst = std::max(worst, with);
    }
  return worst;
}

/// Sets where outputs are written; returns whether some kernel reads and writes the same memory.
bool choose_arrays(const Recipe& recipe, Targets& targets, const ReadyPlan* together, const Call& call) {
  bool aliased = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    if (t.given) {
      const Overlap with = worst_overlap(i, recipe, targets, together, call);
      aliased |= with == Overlap::Same;
      if (with != Overlap::Some) {
        t.array = TensorRef::share(t.given);
        continue;
      }
    }
    t.array = make_array(t.shape, recipe.dtype(i), call);
  }
  return aliased;
}

/// Hands the results to the caller.
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
void run_any(const Recipe& recipe, const Call& call) {
  Targets targets(recipe.outputs());
  bool same_shape = true;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& t = targets[i];
    t.shape = output_shape(recipe, i, call.leaves);
    if (call.outputs && call.outputs[i]) {
      t.given = call.outputs[i].get();
      check_output(*t.given, t.shape, call.device);
      t.shape = t.given->shape;
    }
    same_shape &= t.shape == targets[0].shape;
  }
  const ReadyPlan* together = same_shape ? &recipe.together() : nullptr;
  const bool aliased = choose_arrays(recipe, targets, together, call);
  if (together) {
    run_plan(*together, targets, aliased, call);
  } else {
    for (std::size_t i = 0; i < targets.size(); ++i) run_plan(recipe.alone(i), targets, aliased, call);
  }
  finish(targets, call);
}

/// One output of one kernel, which needs no temporary: almost every evaluation. False: nothing was done.
bool run_directly(const Recipe& recipe, const Call& call, const ReadyPlan& plan, const Shape& shape,
                  TensorImpl* given) {
  bool aliased = false;
  if (given)
    for (const std::uint32_t leaf : recipe.leaves(0)) {
      const Overlap with = overlap(*given, *call.leaves[leaf]);
      if (with == Overlap::Some) return false;
      aliased |= with == Overlap::Same;
    }
  TensorRef made;
  if (!given) made = runtime::empty(shape, recipe.dtype(0), call.device);
  small_vector<TensorImpl*, 16> operands(1 + plan.plan.kernels[0].inputs.size(), boost::container::default_init);
  TensorImpl** operand = operands.data();
  *operand++ = given ? given : made.get();
  for (const Slot& s : plan.plan.kernels[0].inputs) *operand++ = call.leaves[s.number];
  run_kernel(*plan.kernels[0], {operands.data(), operands.size()}, aliased, call);
  if (!given)
    call.outputs[0] = std::move(made);
  else if (given->buffer)
    given->buffer->touch();
  return true;
}

}  // namespace

std::vector<Shape> kernel_shapes(const Plan& plan, const Shape& outputs, Leaves leaves) {
  std::vector<Shape> shapes, temporaries(plan.temporaries.size());
  for (const Kernel& k : plan.kernels) {
    const bool writes_output = std::ranges::any_of(k.outputs, is_output);
    shapes.push_back(writes_output ? outputs : inner_shape(k, leaves, temporaries));
    for (const Slot& s : k.outputs)
      if (s.kind == Slot::Kind::Temporary) temporaries[s.number] = shapes.back();
  }
  return shapes;
}

namespace {

void run_all(const Recipe& recipe, const Call& call) {
  if (recipe.outputs() == 1 && call.runs) [[likely]] {
    const ReadyPlan& plan = recipe.together();
    if (plan.kernels.size() == 1) [[likely]] {
      const Shape shape = output_shape(recipe, 0, call.leaves);
      TensorImpl* const given = call.outputs[0].get();
      if (given) check_output(*given, shape, call.device);
      if (run_directly(recipe, call, plan, shape, given)) return;
    }
  }
  run_any(recipe, call);
}

}  // namespace

void run(const Recipe& recipe, const Call& call) {
  const runtime::DefaultFloats floats;  // scalars are converted on the way
  for (const auto [number, dtype] : recipe.narrow_scalars())
    check_fits(static_cast<std::int64_t>(call.scalars[number].bits), dtype);
  run_all(recipe, call);
  if (call.faulted) [[unlikely]]
    throw Error(fault_message(*call.faulted));
}

}  // namespace sinter::inline v1::jit
