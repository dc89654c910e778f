#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <runtime/registry.hpp>
#include <runtime/text.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/mesh.hpp>
#include "../evaluate/evaluator.hpp"
#include "../functions/functions.hpp"
#include "../infer/shapes.hpp"
#include "../passes/lower.hpp"
#include "../plan/product.hpp"
#include "../plan/reuse.hpp"
#include "dot.hpp"
#include "operations.hpp"
#include "repeated.hpp"
#include "traffic.hpp"

namespace sinter::inline v1::jit::report {
namespace {

std::string layout(const runtime::TensorImpl& t, const Shape& kernel) {
  if (lacks_memory(t)) return "iota tensor without memory";
  const bool expanded = std::ranges::find(t.strides, 0) != t.strides.end();
  if (t.shape != kernel || (expanded && t.numel > 1)) return "broadcast";
  return t.contiguous ? "contiguous" : fmt::format("strides {}", to_string(t.strides));
}

/// A name without control characters.
std::string printed(const std::string& name) {
  const auto prints = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7F'; };
  return std::ranges::all_of(name, prints) ? name : runtime::quote(name);
}

/// A plan whose kernels the evaluation runs.
struct PlanInUse {
  const ExecutablePlan& ready;
  const PlanShapes& shapes;
  Leaves leaves;
  std::span<const RowReport> row_reports;
  const CapturedPlan& captured;

  const Plan& plan() const noexcept { return ready.plan; }
  /// A leaf's number in the whole evaluation.
  std::size_t number(std::size_t leaf) const noexcept { return captured.names ? captured.names->leaves[leaf] : leaf; }
};

class Builder {
 public:
  explicit Builder(const Recorded& expression)
      : expression_(expression), inspection_(inspect(expression)), lowered_(lower(expression.graph)) {}

  Report build() {
    report_.device = expression_.device;
    device();
    results();
    plans();
    if (!expression_.device.is_mesh()) eager();
    count();
    return std::move(report_);
  }

 private:
  void device() {
    Device d = expression_.device;
    if (d.is_mesh()) d = Mesh::of(d).device(Mesh::of(d).first_local_rank());
    report_.runs_on_cpu = d.is_cpu();
    if (report_.runs_on_cpu) return;
    gpu_ = &runtime::gpu(d.index());
    report_.bandwidth = gpu_->bandwidth();
    report_.arithmetic_rate = gpu_->arithmetic_rate(DType::Float32);
  }

  void results() {
    for (std::size_t i = 0; i < inspection_.outputs.size(); ++i)
      report_.results.push_back({inspection_.compiled->dtype(i), inspection_.outputs[i]});
  }

  /// The kernels; of a mesh those of the first rank of this process: others run the same over their own shards.
  void plans() {
    if (expression_.device.is_mesh()) report_.ranks = Mesh::of(expression_.device).size();
    report_.collectives = inspection_.collectives;
    std::span<const RowReport> rows = inspection_.row_reports;
    for (const CapturedPlan& plan : inspection_.plans) {
      std::vector<runtime::TensorImpl*> leaves;
      for (const runtime::TensorRef& t : plan.leaves) leaves.push_back(t.get());
      const std::size_t kernels = plan.ready->kernels.size();
      add({*plan.ready, plan.shapes, leaves, rows.first(kernels), plan});
      rows = rows.subspan(kernels);
    }
  }

  void eager() {
    const Plan plan = schedule_eager(expression_.graph, shapes_of_leaves(expression_.leaves));
    const PlanShapes shapes = plan_shapes(plan, nullptr, expression_.leaves);
    report_.eager_bytes = bytes_moved(plan, shapes, expression_.leaves);
    report_.eager_kernels = plan.kernels.size();
  }

  void add(const PlanInUse& part) {
    const std::size_t first = report_.kernels.size();
    const Repetitions again = repetitions(part.plan(), part.shapes);
    for (std::size_t k = 0; k < part.plan().kernels.size(); ++k) {
      add_kernel(part, k);
      for (std::size_t i = 0; i < again.nodes[k].size(); ++i)
        report_.kernels.back().steps[i].is_repeated = again.nodes[k][i];
    }
    for (const jit::Repeated& r : again.values) add_repeated(r);
    if (first > 0 && first < report_.kernels.size()) report_.boundaries.push_back({first - 1, first, step_boundary()});
    for (Boundary b : boundaries_of(part.plan(), part.shapes, blas(), inspection_.compiled->eager()))
      report_.boundaries.push_back({b.before + first, b.after + first, std::move(b.reason)});
    report_.temporaries += part.plan().temporaries.size();
  }
  std::string step_boundary() const {
    return report_.collectives.empty() ? "each rank evaluates the first before the rest"
                                       : "the mesh's ranks communicate between them";
  }
  std::string_view blas() const { return report_.runs_on_cpu || runtime::gpus_are_virtual() ? "OpenBLAS" : "cuBLASLt"; }

  void add_kernel(const PlanInUse& part, std::size_t number) {
    const jit::Kernel& k = part.plan().kernels[number];
    const Shape& shape = part.shapes.kernels[number];
    Kernel made{.name = k.name, .shape = shape, .library = k.is_product ? std::string(blas()) : ""};
    if (k.rows) made.rows = part.row_reports[number];
    made.has_compiled_loops = report_.runs_on_cpu && part.ready.kernels[number]->is_compiled_for_cpu();
    const bool rereads = !report_.runs_on_cpu && made.rows && made.rows->rereads;  // the CPU rereads from its cache
    const KernelTraffic traffic = traffic_of(part.plan(), number, part.shapes, part.leaves, rereads);
    made.bytes_read = traffic.bytes_read(), made.bytes_written = traffic.bytes_written();
    made.steps = steps(k);
    made.inputs = inputs(part, k, shape, traffic.read);
    made.outputs = outputs(part, k, traffic.written);
    for (const Node& n : k.graph.nodes()) made.numbers += n.op == Op::scalar;
    arithmetic(made, k);
    memory(part, k, number, made.outputs);
    report_.kernels.push_back(std::move(made));
  }

  /// A temporary is freed after the last kernel that reads it, unless an output takes its place.
  void memory(const PlanInUse& part, const jit::Kernel& k, std::size_t number, const std::vector<Output>& written) {
    const ReusedTemporaries reused = reused_temporaries(part.plan(), part.shapes, number);
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i].kind == Output::Kind::Temporary) report_.temporary_bytes += written[i].bytes;
      if (!reused[i]) allocated_ += written[i].bytes;
    }
    report_.peak_bytes = std::max(report_.peak_bytes, allocated_);
    std::set<std::uint32_t> freed;  // a kernel may read one several times
    for (const Slot& s : k.inputs)
      if (s.kind == Slot::Kind::Temporary && part.plan().last_use[s.number] == number) freed.insert(s.number);
    for (const std::optional<std::uint32_t>& t : reused)
      if (t) freed.erase(*t);
    for (const std::uint32_t t : freed)
      allocated_ -= static_cast<double>(part.shapes.temporaries[t].numel()) *
                    static_cast<double>(size_of(part.plan().temporaries[t]));
  }

  void arithmetic(Kernel& made, const jit::Kernel& k) const {
    std::vector<Shape> shapes;
    for (const Input& i : made.inputs) shapes.push_back(i.shape);
    const Arithmetic a = arithmetic_of(k, made.shape, shapes);
    made.operations = a.operations;
    // A BLAS may use tensor cores, whose rate no device attribute gives.
    if (gpu_ && !k.is_product) made.arithmetic_rate = gpu_->arithmetic_rate(a.dtype);
  }

  static std::vector<GraphNode> steps(const jit::Kernel& k) {
    std::vector<GraphNode> all;
    for (const Node& n : k.graph.nodes()) {
      GraphNode s{.name = std::string(operation_name(n)), .is_computed = is_computed(n)};
      if (n.op == Op::cast) s.name = fmt::format("cast to {}", name(n.dtype));
      if (n.op == Op::constant) s.name = constant_text(n);
      if (n.op == Op::scalar) s.name = "number";
      if (is_leaf(n.op)) s.input = static_cast<int>(n.attribute);
      for (const Operand o : k.graph.operands(n)) s.operands.push_back(o.node);
      all.push_back(std::move(s));
    }
    return all;
  }

  std::vector<Input> inputs(const PlanInUse& part, const jit::Kernel& k, const Shape& shape,
                            std::span<const double> bytes) const {
    std::vector<DType> dtypes(k.inputs.size());
    for (const Node& n : k.graph.nodes())
      if (is_leaf(n.op)) dtypes[n.attribute] = n.dtype;
    std::vector<Input> all;
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
      const Slot& s = k.inputs[i];
      Input made{.kind = s.kind, .number = s.number, .dtype = dtypes[i], .bytes = bytes[i]};
      if (s.kind == Slot::Kind::Temporary)
        temporary(part, made);
      else
        leaf(part, made, k.is_product ? nullptr : &shape);
      all.push_back(std::move(made));
    }
    return all;
  }

  void temporary(const PlanInUse& part, Input& made) const {
    made.shape = part.shapes.temporaries[made.number];
    made.number += static_cast<std::uint32_t>(report_.temporaries);
    made.name = fmt::format("temporary {}", made.number);
  }
  /// `kernel` is the shape that it runs over; null for a matrix product.
  void leaf(const PlanInUse& part, Input& made, const Shape* kernel) const {
    const runtime::TensorImpl& t = *part.leaves[made.number];
    made.shape = t.shape;
    made.layout = made.kind == Slot::Kind::Array ? "gathered" : layout(t, kernel ? *kernel : t.shape);
    made.uses = 0;
    for (std::size_t i = 0; i < part.leaves.size(); ++i) made.uses += part.leaves[i] == &t;
    made.name = leaf_name(part, made.number);
  }
  bool is_named(std::size_t leaf) const noexcept {
    return leaf < expression_.names.size() && !expression_.names[leaf].empty();
  }
  /// Leaves beyond the expression's are what the steps of a mesh left.
  std::string leaf_name(const PlanInUse& part, std::uint32_t leaf) const {
    const std::size_t written = expression_.leaves.size();
    std::size_t found = part.number(leaf);
    for (std::size_t i = 0; i < part.leaves.size() && !is_named(found); ++i)
      if (part.leaves[i]->buffer && part.leaves[i]->buffer == part.leaves[leaf]->buffer && is_named(part.number(i)))
        found = part.number(i);
    if (is_named(found)) return printed(expression_.names[found]);
    if (found < written) return fmt::format("leaf {}", found);
    if (part.captured.names->reduces_parts && part.leaves[leaf]->data == nullptr) return "ranks";
    return fmt::format("{}value {}", part.captured.names->reduces_parts ? "parts of " : "", found - written);
  }
  /// The name of what a kernel writes, by its number in the plan.
  std::string output_name(const PlanInUse& part, const Output& made) const {
    switch (made.kind) {
      case Output::Kind::Result: return fmt::format("output {}", made.number);
      case Output::Kind::Temporary: return fmt::format("temporary {}", made.number);
      case Output::Kind::Value: break;
    }
    const MeshNames& names = *part.captured.names;
    return fmt::format("{}value {}", names.reduces_parts ? "" : "part of ",
                       names.values[made.number] - expression_.leaves.size());
  }

  std::vector<Output> outputs(const PlanInUse& part, const jit::Kernel& k, std::span<const double> bytes) const {
    std::vector<Output> all;
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
      const Slot& s = k.outputs[i];
      const bool is_output = s.kind == Slot::Kind::Output;
      const Operand from = k.graph.outputs()[i];
      Output made{.kind = Output::Kind::Temporary, .number = s.number, .dtype = k.graph[from].dtype};
      made.shape = (is_output ? part.shapes.outputs : part.shapes.temporaries)[s.number];
      made.bytes = bytes[i], made.step = from.node;
      const bool is_value = part.captured.names && !part.captured.names->values.empty();
      if (is_output) made.kind = is_value ? Output::Kind::Value : Output::Kind::Result;
      if (!is_output) made.number += static_cast<std::uint32_t>(report_.temporaries);
      made.name = output_name(part, made);
      all.push_back(std::move(made));
    }
    return all;
  }

  void add_repeated(const jit::Repeated& r) {
    const auto elements = static_cast<double>(r.shape.numel());
    report_.repeated.push_back({.name = std::string(name(r.op)),
                                .kernels = static_cast<std::size_t>(r.kernels),
                                .operations = static_cast<std::size_t>(r.operations),
                                .bytes = elements * static_cast<double>(size_of(r.dtype)),
                                .spared = elements * r.weight * (r.kernels - 1)});
  }

  /// A plan with products has the graph as recorded, so the operations that are left are counted in its kernels.
  static std::size_t operations_in(const CapturedPlan& part) {
    const Plan& plan = part.ready->plan;
    if (std::ranges::none_of(plan.kernels, &jit::Kernel::is_product)) return Operations(plan.graph, true).count();
    std::size_t count = 0;
    for (const jit::Kernel& k : plan.kernels) count += Operations(k.graph, true).count();
    for (const jit::Repeated& r : repetitions(plan, part.shapes).values)
      count -= static_cast<std::size_t>((r.kernels - 1) * (r.operations + 1));
    return count;
  }

  void count() {
    Counts& c = report_.counts;
    const Graph& g = expression_.graph;
    c.written = Operations(g).count();
    c.in_all = Operations(lowered_, true).count();
    c.merged = c.written - Operations(inspection_.compiled->graph()).count();
    for (const CapturedPlan& part : inspection_.plans) {
      c.fused += operations_in(part);
      c.contracted += static_cast<std::size_t>(std::ranges::count(part.ready->plan.graph.nodes(), Op::fma, &Node::op));
    }
    c.contracted -=
        std::min(c.contracted, static_cast<std::size_t>(std::ranges::count(lowered_.nodes(), Op::fma, &Node::op)));
    c.composite =
        static_cast<std::size_t>(std::ranges::count_if(g.nodes(), [](const Node& n) { return is_composite(n.op); }));
    const Operations written(g);
    c.on_complex = static_cast<std::size_t>(std::ranges::count_if(g.nodes(), [&](const Node& n) {
      const bool moves = n.op == Op::load || n.op == Op::real || n.op == Op::imag;
      return written.contains(n) && !moves &&
             std::ranges::any_of(g.operands(n), [&](Operand o) { return is_complex(g[o].dtype); });
    }));
  }

  const Recorded& expression_;
  const Inspection inspection_;
  const Graph lowered_;
  const runtime::GpuBackend* gpu_ = nullptr;
  double allocated_ = 0;  // by the kernels so far: results, and temporaries that are still needed
  Report report_;
};

}  // namespace

double Report::bytes() const noexcept {
  double sum = 0;
  for (const Kernel& k : kernels) sum += k.bytes();
  return sum;
}

Report report_of(const Recorded& expression) { return Builder(expression).build(); }

Bound bound_of(const Report& report, const Kernel& kernel) noexcept {
  if (report.bandwidth <= 0 || kernel.arithmetic_rate <= 0 || kernel.bytes() <= 0) return Bound::Unknown;
  return kernel.intensity() * report.bandwidth > kernel.arithmetic_rate ? Bound::Compute : Bound::Memory;
}

}  // namespace sinter::inline v1::jit::report
