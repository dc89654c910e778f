#include "run_on_mesh.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <runtime/collective/call.hpp>
#include <sinter/runtime/communicator.hpp>
#include "cuts.hpp"
#include "mesh_plans.hpp"
#include "run_ranks.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;
using RankParts = std::vector<TensorRef>;  // by rank of this process

TensorRef with_shape(const TensorRef& t, const Shape& shape) {
  return t->shape == shape ? t : runtime::view(*t, shape, contiguous_strides(shape));
}

/// One evaluation.
class MeshRun {
 public:
  MeshRun(const CompiledGraph& compiled, const MeshPlan& plan, const Call& call)
      : compiled_(compiled),
        plan_(plan),
        call_(call),
        mesh_(Mesh::of(call.device)),
        left_(plan.last_uses.size() - call.leaves.size()) {}

  void run() {
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) {
      call_.runs() ? combine(plan_.steps[s]) : show(plan_.steps[s]);
      drop_last_used_in(s);
    }
    run_last();
  }

 private:
  TensorImpl* value(std::uint32_t number) const {
    return number < call_.leaves.size() ? call_.leaves[number] : left_[number - call_.leaves.size()].get();
  }
  TensorRef& left(const StepResult& result) { return left_[result.value - call_.leaves.size()]; }
  void drop_last_used_in(std::uint32_t step) {
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (plan_.last_uses[call_.leaves.size() + i] == step) left_[i] = TensorRef();
  }

  RankResults run(const RankEvaluation& what, std::span<const Result> results, bool marks_outputs, int ranks,
                  const MeshNames* names = nullptr) {
    std::vector<TensorImpl*> leaves;
    for (const std::uint32_t number : what.leaves) leaves.push_back(value(number));
    Call own = call_;
    own.leaves = leaves;
    own.names = names;
    own.marks_outputs = marks_outputs;
    return run_ranks(what.compiled ? *what.compiled : compiled_, own, mesh_, what.leaf_axes, results, ranks);
  }

  /// Each rank computes its parts of all cuts in one evaluation, then the mesh's communicator combines them.
  void combine(const MeshStep& step) {
    const BucketArrays buckets(step.sum_parts, step.buckets, mesh_);
    std::vector<Result> results(step.outputs);
    for (std::size_t i = 0; i < step.sums.size(); ++i) results[step.results[step.sums[i]].output].array = buckets[i];
    for (const StepResult& r : step.results)
      if (r.kind == StepResult::Kind::Shards)
        results[r.output] = {r.axis, empty_placed(r.shape, r.axis, r.dtype, mesh_)};
    RankResults parts;
    if (step.parts) parts = run(*step.parts, results, buckets.overlap(), step.ranks);
    if (!step.sums.empty()) {
      const runtime::Subject subject(step.sums_name);
      buckets.all_reduce();
    }
    for (const StepResult& r : step.results)
      left(r) = combined(r, results, part_count(r) == 0 ? std::span<RankParts>() : std::span(parts).subspan(r.output));
  }
  TensorRef combined(const StepResult& r, std::span<const Result> results, std::span<RankParts> parts) const {
    switch (r.kind) {
      case StepResult::Kind::Sum: return with_shape(results[r.output].array, r.shape);
      case StepResult::Kind::Shards: return results[r.output].array;
      case StepResult::Kind::Copies: return runtime::replicated_from_copies(std::move(parts[0]), mesh_);
      case StepResult::Kind::Count: return runtime::iota_tensor(r.shape, mesh_);
      case StepResult::Kind::Reduction: break;
    }
    return with_shape(reduce(*r.gathered, parts), r.shape);
  }

  /// Each rank evaluates the same graph over the parts of all ranks.
  TensorRef reduce(const StepResult::Gathered& how, std::span<const RankParts> parts) const {
    const runtime::Subject subject(how.subject);
    std::vector<TensorRef> gathered;
    for (std::size_t i = 0; i < how.parts.size(); ++i) gathered.push_back(gather(how, parts[i], how.parts[i]));
    RankResults made = evaluate(how, std::move(gathered), {.device = mesh_});
    return runtime::replicated_from_copies(std::move(made[0]), mesh_);
  }
  RankResults evaluate(const StepResult::Gathered& how, std::vector<TensorRef> gathered, Call call) const {
    if (how.numbers_ranks) gathered.push_back(runtime::iota_tensor({how.rows, 1}, mesh_));
    std::vector<TensorImpl*> leaves;
    for (const TensorRef& t : gathered) leaves.push_back(t.get());
    call.leaves = leaves;
    const std::vector<int> axes(leaves.size(), no_axis);
    const Result each_makes_its_own;
    return run_ranks(*how.compiled, call, mesh_, axes, {&each_makes_its_own, 1});
  }

  /// (ranks with rows, elements of a part), replicated.
  TensorRef gather(const StepResult::Gathered& how, const RankParts& parts, DType dtype) const {
    const std::int64_t elements = how.counts[0];
    RankParts from, to;
    for (int i = 0; i < mesh_.local_size(); ++i) {
      const TensorRef& part = parts[static_cast<std::size_t>(i)];
      const Device device = mesh_.device(mesh_.first_local_rank() + i);
      from.push_back(part ? with_shape(part, {elements}) : runtime::empty({0}, dtype, device));
      to.push_back(runtime::empty({how.rows, elements}, dtype, device));
    }
    mesh_.communicator().all_gather(from, to, how.counts);
    return runtime::replicated_from_copies(std::move(to), mesh_);
  }

  /// Shows the visitor what the step computes and sends; the values have the right shapes and dtypes.
  void show(const MeshStep& step) {
    if (mesh_.size() > 1) show_collectives(step);
    if (step.parts) {
      const MeshNames names{step.parts->leaves, values_of(step)};
      (void)run(*step.parts, std::vector<Result>(step.outputs), false, step.ranks, &names);
    }
    for (const StepResult& r : step.results)
      if (r.gathered) show_reduction(r);
    for (const StepResult& r : step.results)
      left(r) = r.kind == StepResult::Kind::Count ? runtime::iota_tensor(r.shape, mesh_)
                                                  : empty_placed(r.shape, r.axis, r.dtype, mesh_);
  }
  /// By output of the parts' evaluation.
  static std::vector<std::uint32_t> values_of(const MeshStep& step) {
    std::vector<std::uint32_t> values(step.outputs);
    for (const StepResult& r : step.results)
      for (std::uint32_t part = 0; part < part_count(r); ++part) values[r.output + part] = r.value;
    return values;
  }
  void show_reduction(const StepResult& r) const {
    std::vector<TensorRef> gathered;
    for (const DType dtype : r.gathered->parts)
      gathered.push_back(runtime::empty_replicated({r.gathered->rows, r.gathered->counts[0]}, dtype, mesh_));
    const MeshNames names{std::vector<std::uint32_t>(gathered.size() + 1, r.value), {r.value}, true};
    Call own = call_;
    own.names = &names;
    (void)evaluate(*r.gathered, std::move(gathered), own);
  }
  void show_collectives(const MeshStep& step) const {
    for (const Bucket& b : step.buckets)
      call_.visitor->collective({.kind = Collective::Kind::AllReduce,
                                 .op = step.results[step.sums[b.sums[0]]].op,
                                 .dtype = b.dtype,
                                 .elements = static_cast<double>(b.elements),
                                 .ranks = mesh_.size(),
                                 .values = static_cast<int>(b.sums.size())});
    for (const StepResult& r : step.results)
      if (r.gathered) show_gathers(r);
  }
  void show_gathers(const StepResult& r) const {
    const auto elements = static_cast<double>(r.shape.numel());
    for (std::size_t i = 0; i < r.gathered->parts.size(); ++i) {
      const bool is_extreme = r.gathered->numbers_ranks && i == 0;
      const Op op = !is_extreme ? r.op : r.op == Op::argmax ? Op::amax : Op::amin;
      call_.visitor->collective({Collective::Kind::AllGather, op, r.gathered->parts[i], elements, mesh_.size()});
    }
  }

  /// Where the ranks write an output.
  Result result(std::size_t i) const {
    const MeshOutput& output = plan_.outputs[i];
    const TensorRef given = call_.outputs ? call_.outputs[i] : TensorRef();
    if (given && !output.is_copied) return {output.axis, given};
    return {output.axis,
            call_.runs() ? empty_placed(output.shape, output.axis, compiled_.dtype(i), mesh_) : TensorRef()};
  }

  void run_last() {
    std::vector<Result> results;
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i)
      if (!plan_.outputs[i].value) results.push_back(result(i));
    if (plan_.last) {
      const MeshNames names{call_.runs() ? std::vector<std::uint32_t>() : plan_.last->leaves, {}};
      (void)run(*plan_.last, results, false, mesh_.size(), &names);
    }
    if (!call_.runs()) return;
    for (std::size_t i = 0, computed = 0; i < plan_.outputs.size(); ++i) {
      TensorRef& given = call_.outputs[i];
      const std::optional<std::uint32_t>& own = plan_.outputs[i].value;
      TensorRef made = own ? std::move(left_[*own - call_.leaves.size()]) : std::move(results[computed++].array);
      if (!given)
        given = std::move(made);
      else if (given != made)
        copy(*given, *made);
      else
        given->buffer->touch();
    }
  }

  const CompiledGraph& compiled_;
  const MeshPlan& plan_;
  const Call& call_;
  const Mesh mesh_;
  std::vector<TensorRef> left_;  // by steps: the values beyond the leaves
};

void check_outputs(const MeshPlan& plan, const Call& call) {
  if (!call.outputs) return;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    if (const TensorImpl* const given = call.outputs[i].get()) check_output(*given, plan.outputs[i].shape, call.device);
  check_outputs_disjoint({call.outputs, plan.outputs.size()});
}

}  // namespace

void run_on_mesh(const CompiledGraph& compiled, const Call& call) {
  const std::shared_ptr<const MeshPlan> plan = mesh_plan_for(compiled, call);
  check_outputs(*plan, call);
  MeshRun(compiled, *plan, call).run();
}

}  // namespace sinter::inline v1::jit
