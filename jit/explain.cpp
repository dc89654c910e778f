// A plan in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include <sinter/jit/inspect.hpp>
#include "evaluator.hpp"
#include "lower.hpp"
#include "runner.hpp"

namespace sinter::inline v1::jit {

namespace {

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with('s') ? "es" : "s");
}

std::string in_bytes(double bytes) {
  constexpr std::string_view units[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

bool is_operation(const Node& n) noexcept { return n.arity > 0; }

std::size_t operations(const Graph& g) {
  return static_cast<std::size_t>(std::ranges::count_if(g.nodes(), is_operation));
}

/// Elements of memory that a tensor stands for: an expanded dim holds one.
double stored_elements(const runtime::TensorImpl& t) {
  if (t.data == nullptr) return 0;
  double n = 1;
  for (int i = 0; i < t.rank(); ++i)
    n *= static_cast<double>(t.strides[i] == 0 ? std::min<std::int64_t>(t.shape[i], 1) : t.shape[i]);
  return n;
}

std::string layout(const runtime::TensorImpl& t, const Shape& kernel) {
  if (t.data == nullptr && t.numel > 0) return "positions, computed without memory";
  const bool expanded = std::ranges::find(t.strides, 0) != t.strides.end();
  if (t.shape != kernel || (expanded && t.numel > 1)) return "broadcast";
  return t.contiguous ? "contiguous" : fmt::format("strides {}", to_string(t.strides));
}

/// What the kernels of a plan read and write, in bytes, by the shapes that they run over.
class Traffic {
 public:
  Traffic(const Plan& plan, std::span<const Shape> shapes, Leaves leaves) {
    temporary_elements_.resize(plan.temporaries.size());
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) add(plan, plan.kernels[k], shapes[k], leaves);
  }
  double read = 0, written = 0, temporary = 0;
  double moved() const { return read + written; }

 private:
  void add(const Plan& plan, const Kernel& kernel, const Shape& shape, Leaves leaves) {
    for (const Slot& s : kernel.inputs)
      if (s.kind == Slot::Kind::Leaf)
        read += stored_elements(*leaves[s.number]) * static_cast<double>(size_of(leaves[s.number]->dtype));
      else
        read += temporary_elements_[s.number] * static_cast<double>(size_of(plan.temporaries[s.number]));
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      const auto elements = static_cast<double>(shape.numel());
      const double bytes = elements * static_cast<double>(size_of(kernel.graph[kernel.graph.outputs()[i]].dtype));
      written += bytes;
      if (kernel.outputs[i].kind != Slot::Kind::Temporary) continue;
      temporary_elements_[kernel.outputs[i].number] = elements;
      temporary += bytes;
    }
  }

  std::vector<double> temporary_elements_;
};

/// Operations of a graph that repeat an earlier one with the same operands.
std::size_t repeated_operations(const Graph& g) {
  std::map<std::tuple<Op, DType, std::uint64_t, std::vector<NodeId>>, NodeId> known;
  std::vector<NodeId> first;
  std::size_t repeated = 0;
  for (NodeId i = 0; const Node& n : g.nodes()) {
    std::vector<NodeId> operands;
    for (Operand o : g.operands(n)) operands.push_back(first[static_cast<std::size_t>(o.node)]);
    const auto [place, is_new] = known.try_emplace({n.op, n.dtype, n.attribute, std::move(operands)}, i++);
    first.push_back(place->second);
    repeated += !is_new && is_operation(n);
  }
  return repeated;
}

/// "add, exp, mul"; neighbours that repeat as "add x 3", and at most so many that the line stays readable.
std::string computed(const Graph& g) {
  constexpr std::size_t shown = 12;
  std::vector<std::pair<std::string, int>> runs;
  for (const Node& n : g.nodes()) {
    if (!is_operation(n)) continue;
    const std::string what = n.op == Op::cast ? fmt::format("cast to {}", name(n.dtype)) : std::string(name(n.op));
    if (runs.empty() || runs.back().first != what) runs.emplace_back(what, 0);
    ++runs.back().second;
  }
  if (runs.empty()) return "a copy";
  std::vector<std::string> words;
  std::size_t left = operations(g);
  for (const auto& [what, times] : runs) {
    if (words.size() == shown) break;
    words.push_back(times == 1 ? what : fmt::format("{} x {}", what, times));
    left -= static_cast<std::size_t>(times);
  }
  return fmt::format("{}{}", fmt::join(words, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

class Explanation {
 public:
  explicit Explanation(const Recorded& expression)
      : recorded_(expression.graph),
        leaves_(expression.leaves),
        device_(expression.device),
        evaluation_(inspect(expression)) {}

  std::string text() {
    head();
    for (const Evaluation::Part& part : evaluation_.parts)
      for (std::size_t k = 0; k < part.plan->kernels.size(); ++k) kernel(part, k);
    memory();
    temporaries();
    as_written();
    notes();
    return std::move(text_);
  }

 private:
  using Part = Evaluation::Part;

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(arguments)...);
    text_ += '\n';
  }
  /// The heading the first time, then blanks.
  void item(std::string& heading, std::string_view what) {
    line("    {:<10} {}", heading, what);
    heading.clear();
  }

  void head() {
    std::size_t kernels = 0;
    for (const Part& part : evaluation_.parts) {
      const Graph& g = part.plan->graph;
      for (std::size_t i = 0; i < part.outputs.size(); ++i)
        line("{} {} on {}", name(g[g.outputs()[i]].dtype), to_string(part.shape), to_string(device_));
      kernels += part.plan->kernels.size();
      fused_operations_ += operations(g);
    }
    line("{} in {}", counted(fused_operations_, "operation"), counted(kernels, "kernel"));
  }

  void kernel(const Part& part, std::size_t index) {
    const Kernel& k = part.plan->kernels[index];
    const Shape& shape = part.kernel_shapes[index];
    line("  {} over {}", k.name, to_string(shape));
    std::string heading = "computes";
    item(heading, computed(k.graph));
    heading = "reads";
    std::vector<DType> dtypes(k.inputs.size());
    for (const Node& n : k.graph.nodes())
      if (n.op == Op::leaf || n.op == Op::index) dtypes[n.attribute] = n.dtype;
    constexpr std::size_t shown = 10;
    const std::size_t listed = k.inputs.size() <= shown + 1 ? k.inputs.size() : shown;
    for (std::size_t i = 0; i < listed; ++i) item(heading, input(k.inputs[i], dtypes[i], shape));
    if (listed < k.inputs.size()) item(heading, counted(k.inputs.size() - listed, "more array"));
    const auto is_scalar = [](const Node& n) { return n.op == Op::scalar; };
    if (const auto scalars = static_cast<std::size_t>(std::ranges::count_if(k.graph.nodes(), is_scalar)))
      item(heading, counted(scalars, "number") + ", given at each launch");
    heading = "writes";
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
      const DType dtype = k.graph[k.graph.outputs()[i]].dtype;
      const bool is_output = k.outputs[i].kind == Slot::Kind::Output;
      const std::uint32_t number = is_output ? part.outputs[k.outputs[i].number] : k.outputs[i].number;
      item(heading,
           fmt::format("{} {}: {} {}", is_output ? "output" : "temporary", number, name(dtype), to_string(shape)));
    }
  }

  std::string input(const Slot& s, DType dtype, const Shape& kernel) const {
    if (s.kind == Slot::Kind::Temporary) return fmt::format("temporary {}: {}", s.number, name(dtype));
    const runtime::TensorImpl& t = *leaves_[s.number];
    const auto uses = std::ranges::count(leaves_, &t);
    return fmt::format("leaf {}: {} {}, {}{}", s.number, name(dtype), to_string(t.shape), layout(t, kernel),
                       uses > 1 ? fmt::format(", {} times in the expression", uses) : "");
  }

  void memory() {
    double fused = 0, eager = 0;
    std::size_t fused_passes = 0, eager_passes = 0;
    for (const Part& part : evaluation_.parts) {
      fused += Traffic(*part.plan, part.kernel_shapes, leaves_).moved();
      fused_passes += part.plan->kernels.size();
      const Plan plan = schedule_eager(part_of(recorded_, part.outputs));
      eager += Traffic(plan, kernel_shapes(plan, part.shape, leaves_), leaves_).moved();
      eager_passes += plan.kernels.size();
    }
    line("memory: {} read and written in {}", in_bytes(fused), counted(fused_passes, "pass"));
    if (eager_passes <= fused_passes) return;
    line("        one kernel per operation would move {} in {}{}", in_bytes(eager), counted(eager_passes, "pass"),
         fused > 0 ? fmt::format(", {:.1f} times as much", eager / fused) : "");
  }

  void temporaries() {
    std::size_t count = 0;
    double bytes = 0;
    for (const Part& part : evaluation_.parts) {
      count += part.plan->temporaries.size();
      bytes += Traffic(*part.plan, part.kernel_shapes, leaves_).temporary;
    }
    if (count == 0) return line("temporaries: none");
    line("temporaries: {} ({}), the values that pass from one kernel to a later one", count, in_bytes(bytes));
  }

  void as_written() {
    const std::size_t written = operations(recorded_);
    const std::size_t repeated = repeated_operations(recorded_);
    std::size_t contracted = 0;
    for (const Part& part : evaluation_.parts)
      contracted += static_cast<std::size_t>(std::ranges::count(part.plan->graph.nodes(), Op::fma, &Node::op));
    const Graph lowered = lower(recorded_);
    contracted -=
        std::min(contracted, static_cast<std::size_t>(std::ranges::count(lowered.nodes(), Op::fma, &Node::op)));
    const auto composites = static_cast<std::size_t>(
        std::ranges::count_if(recorded_.nodes(), [](const Node& n) { return is_composite(n.op); }));
    if (composites > 0)
      line("composite: {} made of others, {} in all", counted(composites, "operation"), operations(lowered));
    if (written == fused_operations_ && repeated == 0 && contracted == 0) return;
    line("simplified: {} as written, {} left", counted(written, "operation"), fused_operations_);
    if (repeated > 0) line("  {}, computed once", counted(repeated, "common subexpression"));
    if (contracted > 0) line("  {} contracted to fma: x * y + z, rounded once", counted(contracted, "product"));
  }

  void notes() {
    if (evaluation_.parts.size() > 1) line("note: outputs of different shapes take kernels of their own");
    for (const Part& part : evaluation_.parts)
      for (const std::string& note : part.plan->notes) line("note: {}", note);
  }

  const Graph& recorded_;
  Leaves leaves_;
  Device device_;
  Evaluation evaluation_;
  std::size_t fused_operations_ = 0;
  std::string text_;
};

}  // namespace

std::string explain(const Recorded& expression) { return Explanation(expression).text(); }

}  // namespace sinter::inline v1::jit
