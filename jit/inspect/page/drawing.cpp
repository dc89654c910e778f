#include "drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "../kernel_words.hpp"
#include "../words.hpp"
#include "html.hpp"

namespace sinter::inline v1::jit::page {
namespace {

constexpr std::size_t max_kernels = 24;
constexpr std::size_t max_steps = 60;  // past this many, each box lists its operations
constexpr std::size_t max_inputs = 8;  // of a kernel; further ones share one node
constexpr std::size_t max_outputs = 8;
constexpr std::size_t line_length = 28;  // characters

/// Breaks words into lines of about this length, with a limit on their number.
std::vector<std::string> wrapped(std::string_view text) {
  constexpr std::size_t max_lines = 6;
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!lines.back().empty() && lines.back().size() + 1 + end > line_length) {
      if (lines.size() == max_lines) return lines.back() += " ...", lines;
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

class Painter {
 public:
  Painter(const report::Report& r, Detail detail)
      : report_(r),
        count_(std::min(r.kernels.size(), max_kernels)),
        has_steps_(detail == Detail::Steps),
        has_temporaries_(detail == Detail::Kernels) {
    std::size_t steps = 0;
    for (const report::Kernel& k : r.kernels)
      steps += static_cast<std::size_t>(std::ranges::count_if(k.steps, &report::GraphNode::is_computed));
    has_steps_ &= steps <= max_steps;
  }

  Drawing draw() {
    for (std::size_t k = 0; k < count_; ++k) kernel(k);
    drawing_.left_out = report_.kernels.size() - count_;
    return std::move(drawing_);
  }

 private:
  using Kind = Drawing::Kind;

  int node(Kind kind, std::vector<std::string> lines, int kernel = -1) {
    drawing_.nodes.push_back({kind, std::move(lines), kernel});
    return static_cast<int>(drawing_.nodes.size()) - 1;
  }
  void edge(int from, int to, std::string label = "") { drawing_.edges.push_back({from, to, std::move(label)}); }

  void kernel(std::size_t number) {
    const report::Kernel& k = report_.kernels[number];
    drawing_.boxes.push_back({number + 1, fmt::format("{}. {}", number + 1, clipped(k.name, 36))});
    nodes_.assign(k.steps.size(), -1);
    all_ = -1;
    if (has_steps_) steps(k, static_cast<int>(number));
    const bool is_empty = std::ranges::all_of(nodes_, [](int n) { return n < 0; });
    if (is_empty) all_ = summary(k, static_cast<int>(number));
    inputs(k);
    outputs(k);
  }

  int summary(const report::Kernel& k, int number) {
    const bool repeats = std::ranges::any_of(k.steps, &report::GraphNode::is_repeated);
    return node(repeats ? Kind::Repeated : Kind::Summary, wrapped(computed(k)), number);
  }

  void steps(const report::Kernel& k, int number) {
    for (std::size_t i = 0; i < k.steps.size(); ++i) {
      const report::GraphNode& s = k.steps[i];
      if (!s.is_computed) continue;
      nodes_[i] = node(s.is_repeated ? Kind::Repeated : Kind::Step, {s.name}, number);
      for (const int o : s.operands)
        if (nodes_[static_cast<std::size_t>(o)] >= 0) edge(nodes_[static_cast<std::size_t>(o)], nodes_[i]);
    }
  }

  /// The nodes that read an input.
  std::vector<int> readers(const report::Kernel& k, int input) const {
    if (all_ >= 0) return {all_};
    std::vector<int> found;
    for (std::size_t i = 0; i < k.steps.size(); ++i) {
      const bool reads = nodes_[i] >= 0 && std::ranges::any_of(k.steps[i].operands, [&](int o) {
                           return k.steps[static_cast<std::size_t>(o)].input == input;
                         });
      if (reads) found.push_back(nodes_[i]);
    }
    return found;
  }

  void inputs(const report::Kernel& k) {
    const std::size_t shown = k.inputs.size() <= max_inputs ? k.inputs.size() : max_inputs - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const report::Input& in = k.inputs[i];
      const int from = in.kind == Slot::Kind::Temporary ? temporary(in) : leaf(in);
      std::string label = in.kind == Slot::Kind::Temporary && !has_temporaries_
                              ? fmt::format("{}, {}", in.name, in_bytes(in.bytes))
                              : in_bytes(in.bytes);
      if (from < 0) continue;
      for (const int to : readers(k, static_cast<int>(i))) edge(from, to, std::exchange(label, ""));
    }
    if (shown == k.inputs.size()) return;
    double bytes = 0;
    for (std::size_t i = shown; i < k.inputs.size(); ++i) bytes += k.inputs[i].bytes;
    const int rest = node(Kind::Leaf, {counted(k.inputs.size() - shown, "more array")});
    edge(rest, first_of_kernel(), in_bytes(bytes));
  }
  int first_of_kernel() const {
    if (all_ >= 0) return all_;
    return *std::ranges::find_if(nodes_, [](int n) { return n >= 0; });
  }

  int leaf(const report::Input& in) {
    const auto [known, is_new] = leaves_.try_emplace(in.number, -1);
    if (is_new)
      known->second =
          node(Kind::Leaf, {clipped(in.name, line_length), fmt::format("{} {}", name(in.dtype), to_string(in.shape))});
    return known->second;
  }

  /// The node that a temporary comes from; -1 if its kernel is not drawn.
  int temporary(const report::Input& in) const {
    const auto known = temporaries_.find(in.number);
    return known == temporaries_.end() ? -1 : known->second;
  }

  void outputs(const report::Kernel& k) {
    std::size_t left_out = 0, shown = 0;
    for (const report::Output& o : k.outputs) {
      const int step = all_ >= 0 ? all_ : nodes_[static_cast<std::size_t>(o.step)];
      const int from = step >= 0 ? step : first_of_kernel();
      const bool is_temporary = o.kind == report::Output::Kind::Temporary;
      const bool has_node = (!is_temporary || has_temporaries_) && shown < max_outputs;
      const int made = has_node ? output(o, from) : from;
      if (is_temporary) temporaries_[o.number] = made;
      shown += has_node;
      left_out += !has_node && !is_temporary;
    }
    if (left_out > 0) edge(first_of_kernel(), node(Kind::Output, {counted(left_out, "more output")}));
  }
  int output(const report::Output& o, int from) {
    const Kind kind = o.kind == report::Output::Kind::Temporary ? Kind::Temporary : Kind::Output;
    const int made = node(kind, {o.name, fmt::format("{} {}", name(o.dtype), to_string(o.shape))});
    edge(from, made, in_bytes(o.bytes));
    return made;
  }

  const report::Report& report_;
  const std::size_t count_;
  bool has_steps_;
  const bool has_temporaries_;
  Drawing drawing_;
  std::vector<int> nodes_;  // of the kernel's steps; -1: not drawn
  int all_ = -1;            // the node that represents all of them
  std::map<std::uint32_t, int> leaves_;
  std::map<std::uint32_t, int> temporaries_;
};

}  // namespace

Drawing drawing_of(const report::Report& report, Detail detail) { return Painter(report, detail).draw(); }

std::string_view css_class(Drawing::Kind kind) noexcept {
  switch (kind) {
    case Drawing::Kind::Leaf: return "leaf";
    case Drawing::Kind::Output: return "output";
    case Drawing::Kind::Temporary: return "temporary";
    case Drawing::Kind::Step: return "step";
    case Drawing::Kind::Repeated: return "repeated";
    case Drawing::Kind::Summary: break;
  }
  return "summary";
}

}  // namespace sinter::inline v1::jit::page
