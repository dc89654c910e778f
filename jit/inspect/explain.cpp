// A plan in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../graph/lower.hpp"
#include "../graph/shapes.hpp"
#include "../plan/product.hpp"
#include "../plan/row_walks.hpp"
#include "../run/evaluator.hpp"
#include "../run/runner.hpp"
#include "repeated.hpp"

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

std::string in_time(double seconds) {
  constexpr std::string_view units[] = {"s", "ms", "us", "ns"};
  std::size_t unit = 0;
  while (seconds < 1 && unit + 1 < std::size(units)) seconds *= 1000, ++unit;
  return fmt::format("{:.3g} {}", seconds, units[unit]);
}

bool is_computed(const Node& n) noexcept { return n.arity > 0; }

/// What a user would count: neither conversions, which promotion inserts, nor the arithmetic that finds an index's
/// place. Of a graph that was lowered, what takes complex elements apart and puts them together belongs to reading and
/// writing them.
class Operations {
 public:
  explicit Operations(const Graph& g, bool lowered = false)
      : graph_(g), lowered_(lowered), is_place_(g.nodes().size(), false) {
    for (const Node& n : g.nodes())
      if (n.op == Op::load && adds_offsets(n)) is_place_[static_cast<std::size_t>(g.operands(n)[1].node)] = true;
  }

  bool contains(const Node& n) const {
    if (!is_computed(n) || n.op == Op::cast || n.op == Op::axis_offset || n.op == Op::class_index) return false;
    if (lowered_ && (n.op == Op::real || n.op == Op::imag || n.op == Op::complex)) return false;
    const bool is_number = n.op == Op::complex && n.attribute == weak_result;
    return !is_number && !is_place_[static_cast<std::size_t>(&n - graph_.nodes().data())];
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(graph_.nodes(), [&](const Node& n) { return contains(n); }));
  }

 private:
  /// Whether a place is the sum of an index's offset and that of the other axes.
  bool adds_offsets(const Node& load) const {
    const Node& place = graph_[graph_.operands(load)[1]];
    const auto is_offset = [&](Operand o) { return graph_[o].op == Op::axis_offset; };
    return place.op == Op::add && std::ranges::any_of(graph_.operands(place), is_offset);
  }

  const Graph& graph_;
  bool lowered_;
  std::vector<bool> is_place_;
};

/// Elements of memory that a tensor stands for: an expanded dim holds one.
double stored_elements(const runtime::TensorImpl& t) {
  if (is_index(t)) return 0;
  double n = 1;
  for (int i = 0; i < t.rank(); ++i)
    n *= static_cast<double>(t.strides[i] == 0 ? std::min<std::int64_t>(t.shape[i], 1) : t.shape[i]);
  return n;
}

std::string layout(const runtime::TensorImpl& t, const Shape& kernel) {
  if (is_index(t)) return "positions, computed without memory";
  const bool expanded = std::ranges::find(t.strides, 0) != t.strides.end();
  if (t.shape != kernel || (expanded && t.numel > 1)) return "broadcast";
  return t.contiguous ? "contiguous" : fmt::format("strides {}", to_string(t.strides));
}

/// What the kernels of a plan read and write, in bytes, by the shapes that they meet.
class Traffic {
 public:
  /// `rows`: how the rows of each kernel are walked; empty where that is not known.
  Traffic(const Plan& plan, const PlanShapes& shapes, Leaves leaves, std::span<const RowPlan> rows = {})
      : plan_(plan), shapes_(shapes), leaves_(leaves) {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k)
      add(plan.kernels[k], shapes.kernels[k], k < rows.size() && rows[k].rereads);
  }
  double read = 0, written = 0, temporary = 0;
  double moved() const { return read + written; }

 private:
  double temporary_bytes(std::uint32_t number) const {
    return static_cast<double>(shapes_.temporaries[number].numel()) *
           static_cast<double>(size_of(plan_.temporaries[number]));
  }

  double bytes(const Slot& s, const Shape& shape) const {
    if (s.kind == Slot::Kind::Temporary) return temporary_bytes(s.number);
    const runtime::TensorImpl& t = *leaves_[s.number];  // of an array one element for each of the kernel's
    const double elements = s.kind == Slot::Kind::Array ? static_cast<double>(shape.numel()) : stored_elements(t);
    return elements * static_cast<double>(size_of(t.dtype));
  }

  void add(const Kernel& kernel, const Shape& shape, bool rereads) {
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
      read += bytes(kernel.inputs[i], shape) * (rereads ? std::max(RowWalks(kernel, true).reads(i), 1) : 1);
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      const Slot& s = kernel.outputs[i];
      const Shape& of_output = (s.kind == Slot::Kind::Output ? shapes_.outputs : shapes_.temporaries)[s.number];
      written += static_cast<double>(of_output.numel()) *
                 static_cast<double>(size_of(kernel.graph[kernel.graph.outputs()[i]].dtype));
      if (s.kind == Slot::Kind::Temporary) temporary += temporary_bytes(s.number);
    }
  }

  const Plan& plan_;
  const PlanShapes& shapes_;
  Leaves leaves_;
};

/// "add, exp, mul"; neighbours that repeat as "add x 3", and at most so many that the line stays readable.
std::string computed(const Graph& g) {
  constexpr std::size_t shown = 12;
  std::vector<std::pair<std::string, int>> runs;
  for (const Node& n : g.nodes()) {
    if (!is_computed(n)) continue;
    const std::string what = n.op == Op::cast ? fmt::format("cast to {}", name(n.dtype)) : std::string(name(n.op));
    if (runs.empty() || runs.back().first != what) runs.emplace_back(what, 0);
    ++runs.back().second;
  }
  if (runs.empty()) return "a copy";
  std::vector<std::string> words;
  auto left = static_cast<std::size_t>(std::ranges::count_if(g.nodes(), is_computed));
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
        evaluation_(inspect(expression)),
        row_plans_(reshapes(expression.graph) ? row_plans(expression, evaluation_) : std::vector<RowPlan>()),
        lowered_(lower(expression.graph)),
        written_(Operations(recorded_).count()),
        in_all_(Operations(lowered_, true).count()),
        repeated_(written_ - Operations(evaluation_.graph()).count()) {}

  std::string text() {
    head();
    for (const Evaluation::Part& part : evaluation_.parts)
      for (std::size_t k = 0; k < part.plan().kernels.size(); ++k) kernel(part, k);
    memory();
    temporaries();
    repeated();
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
      const Graph& g = part.plan().graph;
      for (std::size_t i = 0; i < part.outputs().size(); ++i)
        line("{} {} on {}", name(g[g.outputs()[i]].dtype), to_string(part.shapes.outputs[i]), to_string(device_));
      kernels += part.plan().kernels.size();
      fused_operations_ += Operations(g, true).count();
    }
    // Of operations that are made of others, those that the user wrote.
    const std::size_t told = in_all_ == written_ ? fused_operations_ : written_ - repeated_;
    line("{} in {}", counted(told, "operation"), counted(kernels, "kernel"));
  }

  void kernel(const Part& part, std::size_t index) {
    const Kernel& k = part.plan().kernels[index];
    const Shape& shape = part.shapes.kernels[index];
    line("  {} over {}", k.name, to_string(shape));
    std::string heading = "computes";
    item(heading, computed(k.graph));
    if (k.rows) rows(row_plans_[index]);
    if (k.is_product) line("    {:<10} {}", "by", device_.is_cpu() ? "OpenBLAS" : "cuBLASLt");
    heading = "reads";
    std::vector<DType> dtypes(k.inputs.size());
    for (const Node& n : k.graph.nodes())
      if (n.op == Op::leaf || n.op == Op::index || n.op == Op::array) dtypes[n.attribute] = n.dtype;
    constexpr std::size_t shown = 10;
    const std::size_t listed = k.inputs.size() <= shown + 1 ? k.inputs.size() : shown;
    for (std::size_t i = 0; i < listed; ++i)
      item(heading, input(k.inputs[i], dtypes[i], k.is_product ? nullptr : &shape));
    if (listed < k.inputs.size()) item(heading, counted(k.inputs.size() - listed, "more array"));
    const auto is_scalar = [](const Node& n) { return n.op == Op::scalar; };
    if (const auto scalars = static_cast<std::size_t>(std::ranges::count_if(k.graph.nodes(), is_scalar)))
      item(heading, counted(scalars, "number") + ", given at each launch");
    heading = "writes";
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
      const DType dtype = k.graph[k.graph.outputs()[i]].dtype;
      const bool is_output = k.outputs[i].kind == Slot::Kind::Output;
      const Shape& of_output = (is_output ? part.shapes.outputs : part.shapes.temporaries)[k.outputs[i].number];
      const std::uint32_t number = is_output ? part.outputs()[k.outputs[i].number] : k.outputs[i].number;
      item(heading,
           fmt::format("{} {}: {} {}", is_output ? "output" : "temporary", number, name(dtype), to_string(of_output)));
    }
  }

  void rows(const RowPlan& plan) {
    std::string heading = "rows";
    item(heading,
         fmt::format("{} of {}, {} through each", plan.rows, counted(static_cast<std::size_t>(plan.columns), "element"),
                     counted(static_cast<std::size_t>(plan.walks), "walk")));
    if (device_.is_cpu()) return;
    heading = "threads";
    item(heading, plan.scheme);
    if (plan.launches > 1)
      item(heading, fmt::format("{} launches, as blocks that share a row pass on what they know of it", plan.launches));
  }

  /// `kernel` is the shape that it runs over; null for a matrix product.
  std::string input(const Slot& s, DType dtype, const Shape* kernel) const {
    if (s.kind == Slot::Kind::Temporary) return fmt::format("temporary {}: {}", s.number, name(dtype));
    const runtime::TensorImpl& t = *leaves_[s.number];
    const auto uses = std::ranges::count(leaves_, &t);
    return fmt::format("leaf {}: {} {}, {}{}", s.number, name(dtype), to_string(t.shape),
                       s.kind == Slot::Kind::Array ? "read at computed places" : layout(t, kernel ? *kernel : t.shape),
                       uses > 1 ? fmt::format(", {} times in the expression", uses) : "");
  }

  Plan eager_plan(const Part& part) const {
    if (!reshapes(recorded_)) return schedule_eager(part_of(recorded_, part.outputs()));
    if (multiplies(recorded_)) return schedule_products(recorded_, shapes_of_leaves(leaves_), true);
    return schedule_rows_eager(recorded_, shapes_of_leaves(leaves_));
  }

  /// On the CPU rows are read again from the cache.
  std::span<const RowPlan> rows_on_gpu() const {
    return device_.is_cpu() ? std::span<const RowPlan>() : std::span(row_plans_);
  }

  void memory() {
    double fused = 0, eager = 0;
    std::size_t fused_passes = 0, eager_passes = 0;
    for (const Part& part : evaluation_.parts) {
      fused += Traffic(part.plan(), part.shapes, leaves_, rows_on_gpu()).moved();
      fused_passes += part.plan().kernels.size();
      const Plan plan = eager_plan(part);
      const Shape* const outputs = reshapes(recorded_) ? nullptr : &part.shapes.outputs[0];
      eager += Traffic(plan, plan_shapes(plan, outputs, leaves_), leaves_).moved();
      eager_passes += plan.kernels.size();
    }
    line("memory: {} read and written in {}", in_bytes(fused), counted(fused_passes, "pass"));
    roofline(fused);
    if (eager_passes <= fused_passes) return;
    line("        one kernel per operation would move {} in {}{}", in_bytes(eager), counted(eager_passes, "pass"),
         fused > 0 ? fmt::format(", {:.1f} times as much", eager / fused) : "");
  }

  /// What no kernel can undercut where caches hold nothing of it.
  void roofline(double bytes) {
    const double bandwidth = device_.is_cuda() ? runtime::gpu(device_.index()).bandwidth() : 0;
    if (bandwidth > 0)
      line("        {} at the memory's {}/s, if nothing is in caches", in_time(bytes / bandwidth), in_bytes(bandwidth));
  }

  void temporaries() {
    std::size_t count = 0;
    double bytes = 0;
    for (const Part& part : evaluation_.parts) {
      count += part.plan().temporaries.size();
      bytes += Traffic(part.plan(), part.shapes, leaves_).temporary;
    }
    if (count == 0) return line("temporaries: none");
    line("temporaries: {} ({}), the values that pass from one kernel to a later one", count, in_bytes(bytes));
  }

  /// Values that would be computed once if stored in a Tensor.
  void repeated() {
    constexpr std::size_t shown = 5;
    for (const Part& part : evaluation_.parts) {
      const std::vector<Repeated> all = recomputed_values(part.plan(), part.shapes);
      for (std::size_t i = 0; i < std::min(all.size(), shown); ++i) {
        const Repeated& r = all[i];
        const double bytes = static_cast<double>(r.shape.numel()) * static_cast<double>(size_of(r.dtype));
        line("computed again: {} in {}{}", name(r.op), counted(static_cast<std::size_t>(r.kernels), "kernel"),
             r.operations == 0
                 ? ""
                 : ", with " + counted(static_cast<std::size_t>(r.operations), "operation") + " before it");
        line("        a Tensor of it would be computed once, for at most {} to write and to read {} times",
             in_bytes(bytes), r.kernels);
      }
      if (all.size() > shown) line("        and {}", counted(all.size() - shown, "more value"));
    }
  }

  void as_written() {
    std::size_t contracted = 0;
    for (const Part& part : evaluation_.parts)
      contracted += static_cast<std::size_t>(std::ranges::count(part.plan().graph.nodes(), Op::fma, &Node::op));
    contracted -=
        std::min(contracted, static_cast<std::size_t>(std::ranges::count(lowered_.nodes(), Op::fma, &Node::op)));
    made_of_others();
    if (in_all_ == fused_operations_ && repeated_ == 0 && contracted == 0) return;
    line("simplified: {} {}, {} left", counted(in_all_, "operation"), in_all_ == written_ ? "as written" : "in all",
         fused_operations_);
    if (repeated_ > 0) line("  {}, computed once", counted(repeated_, "common subexpression"));
    if (contracted > 0) line("  {} contracted to fma: x * y + z, rounded once", counted(contracted, "product"));
  }

  /// Names the operations that are computed as several others.
  void made_of_others() {
    const auto count = [&](auto is_one) {
      return static_cast<std::size_t>(std::ranges::count_if(recorded_.nodes(), is_one));
    };
    const auto composites = count([](const Node& n) { return is_composite(n.op); });
    const Operations written(recorded_);
    const auto on_complex = count([&](const Node& n) {
      const bool moves = n.op == Op::load || n.op == Op::real || n.op == Op::imag;
      return written.contains(n) && !moves &&
             std::ranges::any_of(recorded_.operands(n), [&](Operand o) { return is_complex(recorded_[o].dtype); });
    });
    if (composites > 0) line("composite: {} made of others, {} in all", counted(composites, "operation"), in_all_);
    if (on_complex > 0)
      line("complex: {} on real and imaginary parts, {} in all", counted(on_complex, "operation"), in_all_);
  }

  void notes() {
    if (evaluation_.parts.size() > 1) line("note: outputs of different shapes take kernels of their own");
    for (const Part& part : evaluation_.parts)
      for (const std::string& note : part.plan().notes) line("note: {}", note);
  }

  const Graph& recorded_;
  Leaves leaves_;
  Device device_;
  Evaluation evaluation_;
  std::vector<RowPlan> row_plans_;  // of the kernels of the only part
  Graph lowered_;
  std::size_t written_, in_all_, repeated_;  // operations
  std::size_t fused_operations_ = 0;
  std::string text_;
};

}  // namespace

std::string explain(const Recorded& expression) {
  const runtime::DefaultFloats floats;
  return Explanation(expression).text();
}

}  // namespace sinter::inline v1::jit
