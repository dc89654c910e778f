#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <runtime/collective/together.hpp>
#include <runtime/environment.hpp>
#include <runtime/fork.hpp>
#include <sinter/jit/prepare.hpp>
#include <sinter/runtime/error.hpp>
#include "../cache/epochs.hpp"
#include "../graph/same_arrays.hpp"
#include "../infer/check_shapes.hpp"
#include "../mesh/run_on_mesh.hpp"
#include "../run/runner.hpp"
#include "evaluator.hpp"
#include "preparation.hpp"

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// SINTER_FUSION=off makes the whole program evaluate node by node.
bool fusion_is_off() {
  static constinit runtime::NoDestructor<const bool> off;
  return off.get([] { return new bool(runtime::is_off("SINTER_FUSION")); });
}

bool is_eager(Mode mode) { return mode == Mode::Eager || fusion_is_off(); }

bool on_one_device(Leaves leaves) {
  return std::ranges::all_of(leaves, [&](const TensorImpl* t) { return t->device == leaves[0]->device; });
}

/// Compiles what running would need.
struct Preparer final : KernelVisitor {
  bool visits_all_ranks() const noexcept override { return true; }
  void kernel(const Executable& kernel, const LoopNest* nest, bool aliased, Device device) override {
    if (nest) kernel.prepare(*nest, aliased, device);
  }
};
constinit Preparer preparer;

/// The key of a compiled graph in its call-site cache: everything beyond the type that it depends on: how it
/// runs; the outputs' dtypes; for each leaf, the first leaf that is the same array and whether it lacks memory; the
/// leaves' dtypes if the type leaves them open; the axes of its reductions, and the functions that it calls.
class CallSiteKey {
 public:
  CallSiteKey(const Bound& tree, const TensorRef* outputs, bool eager, bool converts) : program_(*tree.program) {
    const Leaves leaves(tree.leaves, program_.leaves);
    words_.resize(1 + program_.outputs + leaves.size() * (program_.any_typed ? 2 : 1) + 4 * program_.attributes.size(),
                  boost::container::default_init);
    std::uint16_t* word = words_.data();
    *word++ = static_cast<std::uint16_t>(eager | converts << 1);
    for (std::size_t i = 0; i < program_.outputs; ++i)
      *word++ = outputs && outputs[i] ? static_cast<std::uint16_t>(outputs[i]->dtype) : any_dtype;
    same_arrays(leaves, word);
    for (const TensorImpl* t : leaves) {
      if (!t) [[unlikely]]
        throw_empty_expression();
      one_device_ &= t->device == leaves[0]->device;
      *word++ |= runtime::lacks_memory(*t) ? memoryless_flag : 0;
    }
    if (program_.any_typed)
      for (const TensorImpl* t : leaves) *word++ = static_cast<std::uint16_t>(t->dtype);
    for (const std::uint16_t number : program_.attributes) {
      std::memcpy(word, &tree.scalars[number].bits, sizeof(std::uint64_t));
      word += 4;
    }
  }

  operator CompiledGraphKey() const noexcept { return {words_.data(), words_.size()}; }
  bool one_device() const noexcept { return one_device_; }

 private:
  static constexpr std::uint16_t memoryless_flag = 1 << 15;

  const Program& program_;
  bool one_device_ = true;
  small_vector<std::uint16_t, 64> words_;
};

/// The recorded graph with its outputs converted to the dtypes of the arrays that they are written to.
Graph cast_outputs(Graph recorded, const TensorRef* outputs, bool converts) {
  std::vector<std::uint8_t> dtypes(recorded.outputs().size(), any_dtype);
  for (std::size_t i = 0; outputs && i < dtypes.size(); ++i) {
    if (!outputs[i]) continue;
    if (!converts) check_castable(recorded[recorded.outputs()[i]].dtype, *outputs[i]);
    dtypes[i] = static_cast<std::uint8_t>(outputs[i]->dtype);
  }
  return with_output_dtypes(std::move(recorded), dtypes);
}

/// Valid until the caller's EpochGuard ends.
const CompiledGraph& compiled_graph_of(const Bound& tree, const TensorRef* outputs, bool eager, bool converts) {
  const CallSiteKey key(tree, outputs, eager, converts);
  if (!key.one_device()) [[unlikely]]
    throw_devices_differ(Recorded(tree).graph, {tree.leaves, tree.program->leaves});
  if (const CompiledGraph* known = find_compiled_graph(*tree.site, key)) [[likely]]
    return *known;
  const auto made = compiled_graph_for(cast_outputs(Recorded(tree).graph, outputs, converts), eager, true);
  add_compiled_graph(*tree.site, key, *made);
  return *made;
}

Call call_of(const Bound& tree, TensorRef* outputs, Mode mode, Device device) noexcept {
  const Leaves leaves(tree.leaves, tree.program->leaves);
  return {.leaves = leaves,
          .scalars = tree.scalars,
          .outputs = outputs,
          .device = leaves.empty() ? device : leaves[0]->device,
          .is_typed = true,
          .visitor = mode == Mode::Prepare ? &preparer : nullptr};
}

std::shared_ptr<const CompiledGraph> compiled_graph_of(const Recorded& recorded, const TensorRef* outputs, bool eager) {
  if (!on_one_device(recorded.leaves)) throw_devices_differ(recorded.graph, recorded.leaves);
  return compiled_graph_for(cast_outputs(recorded.graph, outputs, false), eager, false);
}

/// Checks that an array can have this shape, as an evaluation does when it allocates one.
Shape checked_shape(const CompiledGraph& compiled, std::size_t output, Leaves leaves) {
  const Shape shape = output_shape(compiled, output, leaves);
  check_shape(shape, size_of(compiled.dtype(output)));
  return shape;
}

Call call_of(const Recorded& recorded, TensorRef* outputs, Mode mode) noexcept {
  return {.leaves = recorded.leaves,
          .scalars = recorded.scalars.data(),
          .outputs = outputs,
          .device = recorded.device,
          .visitor = mode == Mode::Prepare ? &preparer : nullptr};
}

/// The graph specialized for scalars that are equal. Never on a mesh of several processes, all of which must plan the
/// same graph, whatever each has evaluated before.
const CompiledGraph& specialize(const CompiledGraph& found, const Scalar* scalars, Device device, bool runs) {
  if (device.is_mesh() && Mesh::of(device).local_size() < Mesh::of(device).size()) return found;
  return found.specialized_for(scalars, runs);
}

void run_compiled_graph(const CompiledGraph& compiled, const Call& call) {
  if (!call.device.is_mesh()) [[likely]]
    return run(compiled, call);
  if (!call.runs()) return run_on_mesh(compiled, call);
  runtime::together(Mesh::of(call.device), [&] { run_on_mesh(compiled, call); });
}

void run_specialized(const CompiledGraph& found, const Call& call) {
  run_compiled_graph(specialize(found, call.scalars, call.device, call.runs()), call);
}

/// On a mesh, what ranks evaluate is prepared by the calling thread.
template <class F>
std::future<void> prepared_now(F prepare) {
  std::promise<void> done;
  try {
    prepare();
    done.set_value();
  } catch (const CompileError&) {
    done.set_exception(std::current_exception());
  } catch (const CudaError&) {
    done.set_exception(std::current_exception());
  }
  return done.get_future();
}

}  // namespace

std::future<void> prepare_async(const Bound& tree, Device device) {
  if (call_of(tree, nullptr, Mode::Prepare, device).device.is_mesh())
    return prepared_now([&] { evaluate(tree, nullptr, Mode::Prepare, device); });
  const EpochGuard reading;
  const CompiledGraph& compiled = compiled_graph_of(tree, nullptr, is_eager(Mode::Prepare), false);
  return start_preparing(compiled.shared_from_this(), call_of(tree, nullptr, Mode::Prepare, device));
}

std::future<void> prepare_recorded_async(const Recorded& recorded) {
  if (recorded.device.is_mesh()) return prepared_now([&] { evaluate_recorded(recorded, nullptr, Mode::Prepare); });
  return start_preparing(compiled_graph_of(recorded, nullptr, is_eager(Mode::Prepare)),
                         call_of(recorded, nullptr, Mode::Prepare));
}

void evaluate(const Bound& tree, TensorRef* outputs, Mode mode, Device device) {
  const EpochGuard reading;
  const CompiledGraph& compiled = compiled_graph_of(tree, outputs, is_eager(mode), false);
  run_specialized(compiled, call_of(tree, outputs, mode, device));
}

void evaluate_converting(const Bound& tree, TensorRef& output) {
  const EpochGuard reading;
  const CompiledGraph& compiled = compiled_graph_of(tree, &output, false, true);
  run_specialized(compiled, call_of(tree, &output, Mode::Fused, output->device));
}

void evaluate_recorded(const Recorded& recorded, TensorRef* outputs, Mode mode) {
  const EpochGuard reading;
  const auto compiled = compiled_graph_of(recorded, outputs, is_eager(mode));
  run_specialized(*compiled, call_of(recorded, outputs, mode));
}

Shape result_shape(const Bound& tree) {
  const EpochGuard reading;
  return checked_shape(compiled_graph_of(tree, nullptr, fusion_is_off(), false), 0,
                       {tree.leaves, tree.program->leaves});
}

Shape result_shape(const Recorded& recorded) {
  if (!on_one_device(recorded.leaves)) throw_devices_differ(recorded.graph, recorded.leaves);
  const Operand output = recorded.graph.outputs()[0];
  const Shape shape = output_shape(recorded.graph, output, recorded.leaves);
  check_shape(shape, size_of(recorded.graph[output].dtype));
  return shape;
}

namespace {

struct TextPrinter final : KernelVisitor {
  explicit TextPrinter(PrintSource& p) : print(p) {}
  void kernel(const Executable& kernel, const LoopNest* nest, bool aliased, Device) override {
    if (nest) texts.push_back(kernel.source(*nest, aliased, print));
  }

  PrintSource& print;
  std::vector<runtime::KernelSource> texts;
};

struct Inspector final : KernelVisitor {
  void plan(CapturedPlan seen) override { found.plans.push_back(std::move(seen)); }
  void kernel(const Executable& kernel, const LoopNest* nest, bool aliased, Device device) override {
    found.row_reports.push_back(nest && kernel.kernel().rows ? kernel.row_report(*nest, aliased, device) : RowReport());
  }
  void collective(const Collective& c) override { found.collectives.push_back(c); }

  Inspection found;
};

}  // namespace

std::vector<runtime::KernelSource> kernel_texts(const Recorded& recorded, PrintSource& print) {
  TextPrinter printer(print);
  Call call = call_of(recorded, nullptr, Mode::Prepare);
  call.visitor = &printer;
  run_specialized(*compiled_graph_of(recorded, nullptr, fusion_is_off()), call);
  return std::move(printer.texts);
}

Inspection inspect(const Recorded& recorded) {
  Inspector inspector;
  Inspection& found = inspector.found;
  found.owner = compiled_graph_of(recorded, nullptr, fusion_is_off());
  found.compiled = &specialize(*found.owner, recorded.scalars.data(), recorded.device, false);
  if (found.compiled->depends_on_shapes()) check_shapes(found.compiled->graph(), recorded.leaves);
  for (std::size_t i = 0; i < found.compiled->outputs(); ++i)
    found.outputs.push_back(checked_shape(*found.compiled, i, recorded.leaves));
  Call call = call_of(recorded, nullptr, Mode::Prepare);
  call.visitor = &inspector;
  run_compiled_graph(*found.compiled, call);
  return std::move(found);
}

}  // namespace sinter::inline v1::jit
