// Scheduling of elementwise graphs. The sequence of nodes is cut into segments, each of which becomes a kernel; values
// that cross a cut become temporaries.
#include <fmt/format.h>

#include <algorithm>

#include "../functions/functions.hpp"
#include "../passes/complex_parts.hpp"
#include "class_key.hpp"
#include "cost_model.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

namespace {

// The driver accepts 32,764 bytes of parameters. Each operand has a pointer and at most max_ndim strides; the remainder
// is for extents and their multipliers.
constexpr int parameter_bytes = 32764 - 1024;
constexpr int operand_bytes = 8 * (1 + max_ndim);
constexpr int scalar_bytes = 8;
// A kernel with more operands than a ClassKey holds would always run as its generic class.
constexpr int max_operands = static_cast<int>(ClassKey::max_operands);
// Peak size of one element's live values: 192 words do not spill if a thread handles one element.
constexpr int max_live_bytes = 4 * 192;

/// A step of the evaluation: computes a node or, if `output` >= 0, stores it as that output.
struct Item {
  NodeId node;
  int output = -1;
};

std::string_view short_name(DType t) noexcept {
  switch (t) {
    case DType::Bool: return "bool";
    case DType::UInt8: return "u8";
    case DType::Int8: return "i8";
    case DType::UInt16: return "u16";
    case DType::Int16: return "i16";
    case DType::UInt32: return "u32";
    case DType::Int32: return "i32";
    case DType::UInt64: return "u64";
    case DType::Int64: return "i64";
    case DType::Float16: return "f16";
    case DType::BFloat16: return "bf16";
    case DType::Float32: return "f32";
    case DType::Float64: return "f64";
    case DType::Complex64: return "c64";
    case DType::Complex128: return "c128";
  }
  return "";
}

/// A hash of what the kernel's text depends on: scalars are numbered parameters, and whether a result is weak in
/// promotion has no effect any more.
Hash text_hash(const Graph& graph) {
  Graph numbered;
  for (std::uint32_t scalars = 0; const Node& n : graph.nodes()) {
    if (n.op == Op::scalar)
      numbered.scalar(n.dtype, category(n.dtype), scalars++);
    else
      numbered.node(n.op, n.dtype, graph.operands(n), has_parameter(n.op) ? n.attribute : 0);
  }
  for (Operand o : graph.outputs()) numbered.output(o);
  return hash(numbered);
}

}  // namespace

std::string kernel_name(const Graph& graph) {
  constexpr int named = 5;
  constexpr std::size_t longest_name = 24;  // of a device function
  std::string operations;
  int count = 0, casts = 0;
  for (const Node& n : graph.nodes()) {
    casts += n.op == Op::cast;
    if (n.op >= Op::load && !is_of_parts(n.op) && count++ < named)
      operations += fmt::format("_{}", operation_name(n).substr(0, longest_name));
  }
  if (count > named) operations += fmt::format("_and_{}", count - named);
  if (count == 0) operations = casts > 0 ? "_cast" : "_copy";
  const DType result = graph[graph.outputs()[0]].dtype;
  return fmt::format("sinter{}_{}_{:04x}", operations, short_name(result), text_hash(graph).low >> 48);
}

namespace {

class Scheduler {
 public:
  explicit Scheduler(const Graph& graph) : graph_(graph), of_node_(graph.nodes().size()) {}

  Plan run() {
    make_items();
    measure_crossings();
    std::size_t begin = 0;
    while (begin < items_.size()) {
      const std::size_t limit = furthest(begin);
      const std::size_t end = limit == items_.size() ? limit : best_cut(begin, limit);
      build(begin, end);
      if (limit < items_.size()) plan_.kernels.back().limit = cut_reason();
      begin = end;
    }
    return std::move(plan_);
  }

 private:
  struct NodeState {
    bool needed = false;
    bool free = false;
    int defined = -1;     // the item that computes it
    int last_use = -1;    // the last item that reads it
    int counted_in = -1;  // the last sweep that counted it as an input
    int built_in = -1;    // the kernel that `built` belongs to
    Operand built;
    std::uint32_t temporary = 0;  // its number, if it is one
  };

  NodeState& state(NodeId id) { return of_node_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  bool is_source(NodeId id) const { return node(id).arity == 0; }

  /// Whether a node is recomputed in each kernel that reads it: nodes without operands, and conversions and negations
  /// of those.
  bool is_free(NodeId id) const {
    const Node& n = node(id);
    if (n.arity == 0) return true;
    if (n.arity > 1 || weight(n.op) > 1) return false;
    const NodeId operand = graph_.operands(n)[0].node;
    if (is_of_parts(n.op)) return true;
    return is_source(operand);
  }

  /// Calls f with every source and computed value that node `id` reads, directly or through free nodes.
  template <class F>
  void for_each_input(NodeId id, F f) {
    if (is_source(id)) return f(id);
    for (Operand o : graph_.operands(node(id)))
      if (state(o.node).free && !is_source(o.node))
        f(graph_.operands(node(o.node))[0].node);
      else
        f(o.node);
  }
  template <class F>
  void for_each_read(const Item& item, F f) {
    if (item.output >= 0 && !state(item.node).free) return f(item.node);
    for_each_input(item.node, f);
  }

  void make_items() {
    const auto nodes = graph_.nodes();
    for (Operand o : graph_.outputs()) state(o.node).needed = true;
    for (std::size_t i = nodes.size(); i-- > 0;)
      if (of_node_[i].needed)
        for (Operand o : graph_.operands(nodes[i])) state(o.node).needed = true;
    std::vector<std::vector<int>> stores(nodes.size());
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i)
      stores[static_cast<std::size_t>(graph_.outputs()[i].node)].push_back(static_cast<int>(i));
    std::vector<Item> last;
    for (NodeId id = 0; id < static_cast<NodeId>(nodes.size()); ++id) {
      NodeState& s = state(id);
      s.free = is_free(id);
      if (s.needed && !s.free) {
        s.defined = static_cast<int>(items_.size());
        items_.push_back({id});
      }
      for (int output : stores[static_cast<std::size_t>(id)]) (s.free ? last : items_).push_back({id, output});
    }
    items_.insert(items_.end(), last.begin(), last.end());
  }

  /// crossing_[i]: the bytes per element of values that are computed before item i and read by it or later.
  void measure_crossings() {
    for (std::size_t i = 0; i < items_.size(); ++i)
      for_each_read(items_[i], [&](NodeId id) { state(id).last_use = static_cast<int>(i); });
    crossing_.assign(items_.size() + 1, 0);
    for (const Item& item : items_) {
      const NodeState& s = state(item.node);
      if (item.output >= 0 || s.last_use <= s.defined) continue;
      const auto bytes = static_cast<std::int64_t>(size_of(node(item.node).dtype));
      crossing_[static_cast<std::size_t>(s.defined) + 1] += bytes;
      if (static_cast<std::size_t>(s.last_use) + 1 < crossing_.size())
        crossing_[static_cast<std::size_t>(s.last_use) + 1] -= bytes;
    }
    for (std::size_t i = 1; i < crossing_.size(); ++i) crossing_[i] += crossing_[i - 1];
  }

  /// The end of the longest segment from `begin` within the limits; at least one item.
  std::size_t furthest(std::size_t begin) {
    ++sweep_;
    int total_weight = 0, inputs = 0, scalars = 0, open = 0, stores = 0, live = 0;
    for (std::size_t i = begin; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const bool computes = item.output < 0;
      for_each_read(item, [&](NodeId id) {
        NodeState& s = state(id);
        const bool inside = s.defined >= static_cast<int>(begin);
        if (inside && s.last_use == static_cast<int>(i) && s.counted_in != sweep_) {
          s.counted_in = sweep_;  // counted once even if an item reads it twice
          --open;
          live -= static_cast<int>(size_of(node(id).dtype));
        } else if (!inside && s.counted_in != sweep_) {
          s.counted_in = sweep_;
          const Op op = node(id).op;
          inputs += op != Op::scalar && op != Op::constant;
          scalars += op == Op::scalar;
        }
      });
      if (computes) {
        total_weight += weight(node(item.node).op);
        if (state(item.node).last_use >= 0) {
          ++open;
          live += static_cast<int>(size_of(node(item.node).dtype));
        }
      } else {
        ++stores;
      }
      // A value that is read after the segment needs a temporary.
      const int operands = inputs + open + stores;
      const int bytes = operand_bytes * operands + scalar_bytes * scalars;
      const bool exceeded[] = {total_weight > max_weight, operands > max_operands, bytes > parameter_bytes,
                               live > max_live_bytes};
      const auto* which = std::ranges::find(exceeded, true);
      if (i == begin || which == std::end(exceeded)) continue;
      limit_hit_ = which - exceeded;
      return i;
    }
    return items_.size();
  }

  /// The position in the later half of (begin, limit] where the fewest bytes cross; the latest if there are several.
  std::size_t best_cut(std::size_t begin, std::size_t limit) const {
    std::size_t best = limit;
    for (std::size_t i = limit; i > begin + (limit - begin) / 2; --i)
      if (crossing_[i] < crossing_[best]) best = i;
    return best;
  }

  int kernel_index() const { return static_cast<int>(plan_.kernels.size()); }

  Operand import_input(Kernel& kernel, const Node& n, Slot slot) {
    kernel.inputs.push_back(slot);
    return kernel.graph.node(n.op, n.dtype, {}, kernel.inputs.size() - 1);
  }

  /// The node's operand in the kernel that is being built. Recursion is at most two levels deep: a free node and its
  /// operand.
  Operand import(Kernel& kernel, NodeId id) {
    NodeState& s = state(id);
    if (s.built_in == kernel_index()) return s.built;
    const Node& n = node(id);
    if (is_leaf(n.op)) {
      s.built = import_input(kernel, n, leaf_slot(n));
    } else if (s.free) {
      Operand operand;
      if (n.arity > 0) operand = import(kernel, graph_.operands(n)[0].node);
      s.built = kernel.graph.node(n.op, n.dtype, {&operand, n.arity}, lasting_attribute(n));
    } else {
      const auto t = s.temporary;
      plan_.last_use[t] = static_cast<std::uint32_t>(kernel_index());
      s.built = import_input(kernel, {Op::leaf, n.dtype}, {Slot::Kind::Temporary, t});
    }
    s.built_in = kernel_index();
    return s.built;
  }

  void build(std::size_t begin, std::size_t end) {
    Kernel kernel;
    std::vector<Operand> operands;
    for (std::size_t i = begin; i < end; ++i) {
      const Item& item = items_[i];
      if (item.output >= 0) {
        kernel.graph.output(import(kernel, item.node));
        kernel.outputs.push_back({Slot::Kind::Output, static_cast<std::uint32_t>(item.output)});
        continue;
      }
      const Node& n = node(item.node);
      operands.clear();
      for (Operand o : graph_.operands(n)) operands.push_back(import(kernel, o.node));
      NodeState& s = state(item.node);
      s.built = kernel.graph.node(n.op, n.dtype, operands, lasting_attribute(n));
      s.built_in = kernel_index();
    }
    for (std::size_t i = begin; i < end; ++i) {
      NodeState& s = state(items_[i].node);
      if (items_[i].output >= 0 || s.last_use < static_cast<int>(end)) continue;
      s.temporary = static_cast<std::uint32_t>(plan_.temporaries.size());
      plan_.temporaries.push_back(node(items_[i].node).dtype);
      plan_.last_use.push_back(0);
      kernel.graph.output(s.built);
      kernel.outputs.push_back({Slot::Kind::Temporary, s.temporary});
    }
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
      if (kernel.inputs[i].kind == Slot::Kind::Array)
        kernel.arrays.push_back(static_cast<std::uint32_t>(kernel.outputs.size() + i));
    kernel.name = kernel_name(kernel.graph);
    plan_.kernels.push_back(std::move(kernel));
  }

  std::string cut_reason() const {
    switch (limit_hit_) {
      case 0:
        return fmt::format("more than {} operations (a division or function counts as {})", max_weight, call_weight);
      case 1: return fmt::format("more than {} arrays", max_operands);
      case 2: return fmt::format("more than {} bytes of parameters", parameter_bytes);
      default: return fmt::format("more than {} bytes of values at once per element", max_live_bytes);
    }
  }

  const Graph& graph_;
  std::vector<NodeState> of_node_;
  std::vector<Item> items_;
  std::vector<std::int64_t> crossing_;
  int sweep_ = -1;
  std::ptrdiff_t limit_hit_ = 0;  // the last kernel's limit
  Plan plan_;
};

}  // namespace

Plan schedule(Graph simplified) {
  Plan plan = Scheduler(simplified).run();
  plan.graph = std::move(simplified);
  return plan;
}

int live_bytes(const Graph& kernel) {
  const auto nodes = kernel.nodes();
  const auto is_uniform = [](const Node& n) { return n.op == Op::scalar || n.op == Op::constant || n.op == Op::array; };
  std::vector<int> last(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (Operand o : kernel.operands(nodes[i])) last[static_cast<std::size_t>(o.node)] = static_cast<int>(i);
  std::vector<bool> open(nodes.size());
  int live = 0, most = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].arity == 0) continue;
    for (Operand o : kernel.operands(nodes[i])) {
      const auto id = static_cast<std::size_t>(o.node);
      if (open[id] || is_uniform(nodes[id])) continue;
      open[id] = true;
      live += static_cast<int>(size_of(nodes[id].dtype));
    }
    most = std::max(most, live + static_cast<int>(size_of(nodes[i].dtype)));
    for (Operand o : kernel.operands(nodes[i])) {
      const auto id = static_cast<std::size_t>(o.node);
      if (!open[id] || last[id] != static_cast<int>(i)) continue;
      open[id] = false;
      live -= static_cast<int>(size_of(nodes[id].dtype));
    }
    if (last[i] >= 0) {
      open[i] = true;
      live += static_cast<int>(size_of(nodes[i].dtype));
    }
  }
  return most;
}

}  // namespace sinter::inline v1::jit
