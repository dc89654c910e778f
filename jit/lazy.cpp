#include <sinter/jit/lazy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "checks.hpp"
#include "evaluator.hpp"
#include "fold.hpp"
#include "same_arrays.hpp"
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {

namespace {

/// A tensor at the moment when it was taken.
struct Taken {
  runtime::TensorRef tensor;
  std::uint64_t version = 0;

  static Taken of(runtime::TensorRef t) {
    const std::uint64_t version = t->buffer ? t->buffer->version() : 0;
    return {std::move(t), version};
  }
  bool is_current() const noexcept { return tensor && (!tensor->buffer || tensor->buffer->version() == version); }
};

constexpr std::size_t max_arity = 3;

bool is_index(const runtime::TensorImpl& t) noexcept { return t.data == nullptr && t.numel > 0; }

}  // namespace

/// What a node is. Evaluating may replace it by a leaf while other threads read, hence the lock.
struct LazyNode::State {
  static constexpr auto none = std::numeric_limits<std::uint64_t>::max();

  struct Content {
    Op op = Op::leaf;
    DType dtype = DType::Float32;
    Category category = Category::Bool;  // of a scalar
    std::uint32_t size = 0;              // operations that it depends on, itself included: never too few
    std::uint64_t oldest = none;         // the first of them, by number of creation
    std::uint64_t bits = 0;              // of a scalar, as it arrived; of a constant
    Taken leaf;
    Taken result;  // of an earlier evaluation; the user may have written to it since
    std::array<LazyRef, max_arity> operands;
  };

  class Lock {
   public:
    explicit Lock(State& s) : busy_(s.busy_) {
      while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true);
    }
    ~Lock() {
      busy_.clear(std::memory_order_release);
      busy_.notify_one();
    }

   private:
    std::atomic_flag& busy_;
  };

  bool has_device = false;
  Device device;
  LazyNode* next_to_destroy = nullptr;
  Content content;

  Content snapshot() {
    Lock lock(*this);
    return content;
  }
  void replace(Content&& c) {
    {
      Lock lock(*this);
      std::swap(content, c);
    }
    // What it was is released here, after the lock.
  }
  void keep_result(Taken result) {
    Lock lock(*this);
    std::swap(content.result, result);
  }

 private:
  std::atomic_flag busy_;
};

struct LazyAccess {
  using State = LazyNode::State;
  using Content = State::Content;

  static State& state(const LazyNode& n) noexcept { return *n.state_; }
  static Content snapshot(const LazyRef& n) { return n->state_->snapshot(); }

  static LazyRef make(Content content, bool has_device, Device device) {
    LazyRef r = LazyRef::adopt(new LazyNode);
    r->state_->content = std::move(content);
    r->state_->has_device = has_device;
    r->state_->device = device;
    return r;
  }
  static LazyRef leaf(runtime::TensorRef t) {
    Content c;
    c.op = is_index(*t) ? Op::index : Op::leaf;
    c.dtype = t->dtype;
    const Device device = t->device;
    c.leaf = Taken::of(std::move(t));
    return make(std::move(c), true, device);
  }
  static LazyRef scalar(DType dtype, Category category, std::uint64_t bits) {
    Content c;
    c.op = Op::scalar;
    c.dtype = dtype;
    c.category = category;
    c.bits = bits;
    return make(std::move(c), false, {});
  }
};

namespace {

using Content = LazyAccess::Content;

/// How much hangs on an operation, from what hangs on its operands. Two bounds: counted as a tree, where a shared
/// operand counts again; and everything created since the oldest, where unrelated operations count too.
class Extent {
 public:
  void add(const Content& operand) noexcept {
    tree_ += operand.size;
    oldest_ = std::min(oldest_, operand.oldest);
  }
  /// Of a new operation on these operands.
  void put(Content& c) const noexcept {
    static std::atomic<std::uint64_t> created{0};
    const std::uint64_t now = created.fetch_add(1, std::memory_order_relaxed);
    c.oldest = std::min(oldest_, now);
    c.size = static_cast<std::uint32_t>(std::min({tree_ + 1, now - c.oldest + 1, std::uint64_t{most}}));
  }

 private:
  static constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t tree_ = 0;
  std::uint64_t oldest_ = LazyAccess::State::none;
};

std::string describe(std::span<const LazyRef> operands) {
  std::string list;
  for (const LazyRef& o : operands)
    list += fmt::format("{}{} on {}", list.empty() ? "" : ", ", name(o->dtype()), to_string(o->device()));
  return list;
}

/// The device of the operands that have one. Throws DeviceError where they differ.
const LazyNode* placed_operand(std::string_view what, std::span<const LazyRef> operands) {
  const LazyNode* placed = nullptr;
  for (const LazyRef& o : operands) {
    if (!LazyAccess::state(*o).has_device) continue;
    if (placed && placed->device() != o->device())
      throw DeviceError(fmt::format("{}: the operands are on different devices ({}): move one with .to(device)", what,
                                    describe(operands)));
    placed = o.get();
  }
  return placed;
}

/// Lazy nodes for a graph's nodes. `leaves` and `scalars` are what its numbers mean.
LazyRef import(const Graph& graph, std::string_view what, std::span<const LazyRef> leaves,
               std::span<const std::uint64_t> scalars) {
  const LazyNode* placed = placed_operand(what, leaves);
  std::vector<LazyRef> made;
  made.reserve(graph.nodes().size());
  for (const Node& n : graph.nodes()) {
    if (n.op == Op::leaf || n.op == Op::index) {
      made.push_back(leaves[n.attribute]);
      continue;
    }
    if (n.op == Op::scalar) {
      made.push_back(LazyAccess::scalar(n.dtype, scalar_use(n).arrives_as, scalars[scalar_use(n).number]));
      continue;
    }
    Content c;
    c.op = n.op;
    c.dtype = n.dtype;
    c.bits = n.op == Op::constant ? n.attribute : 0;
    Extent extent;
    for (std::size_t i = 0; Operand o : graph.operands(n)) {
      c.operands[i] = made[static_cast<std::size_t>(o.node)];
      extent.add(LazyAccess::snapshot(c.operands[i++]));
    }
    if (n.arity > 0) extent.put(c);
    made.push_back(LazyAccess::make(std::move(c), placed != nullptr, placed ? placed->device() : Device()));
  }
  return made[static_cast<std::size_t>(graph.outputs()[0].node)];
}

/// A DAG of lazy nodes as a graph, with what its numbers mean. Holds everything that it read.
class Flattened {
 public:
  explicit Flattened(std::span<const LazyRef> values) {
    for (const LazyRef& v : values) {
      visit(v);
      placed_.push_back(v);
    }
    const LazyNode* placed = placed_operand("evaluate", placed_);
    if (placed) device_ = placed->device();
    for (const LazyRef& v : values) graph_.output(known_.at(v.get()));
  }

  void evaluate(runtime::TensorRef* outputs, Mode mode) {
    evaluate_graph(graph_, leaves_, scalars_, outputs, mode, device_);
  }

 private:
  struct Frame {
    const LazyNode* node;
    std::size_t content;
    std::size_t next = 0;  // operand to visit
  };

  void visit(const LazyRef& root) {
    std::vector<Frame> path;
    enter(path, root.get());
    while (!path.empty()) {
      Frame& top = path.back();
      const Content& c = contents_[top.content];
      if (top.next < max_arity && c.operands[top.next]) {
        enter(path, c.operands[top.next++].get());
        continue;
      }
      known_[top.node] = add(c);
      path.pop_back();
    }
  }

  void enter(std::vector<Frame>& path, const LazyNode* node) {
    if (known_.contains(node)) return;
    Content c = LazyAccess::state(*node).snapshot();
    if (c.result.is_current()) {
      c.op = Op::leaf;
      c.leaf = std::move(c.result);
      c.operands = {};
    }
    contents_.push_back(std::move(c));
    path.push_back({node, contents_.size() - 1});
  }

  Operand add(const Content& c) {
    switch (c.op) {
      case Op::leaf: case Op::index: return add_leaf(c);
      case Op::scalar: scalars_.push_back(Scalar()); scalars_.back().bits = c.bits;
        return graph_.scalar(c.dtype, c.category, static_cast<std::uint32_t>(scalars_.size() - 1));
      case Op::constant: return graph_.constant(c.dtype, c.bits);
      default: break;
    }
    std::array<Operand, max_arity> operands;
    std::size_t arity = 0;
    for (; arity < max_arity && c.operands[arity]; ++arity) operands[arity] = known_.at(c.operands[arity].get());
    return graph_.node(c.op, c.dtype, std::span(operands).first(arity));
  }

  Operand add_leaf(const Content& c) {
    runtime::TensorImpl* t = c.leaf.tensor.get();
    if (!c.leaf.is_current())
      throw Error(fmt::format("a lazy expression reads {}, which was written to after the expression was built: "
                              "evaluate the expression before writing, or build it from a copy",
                              runtime::describe(*t)));
    const auto [place, is_new] = leaf_nodes_.try_emplace(t);
    if (is_new) {
      const auto number = static_cast<std::uint32_t>(leaves_.size());
      leaves_.push_back(t);
      place->second = c.op == Op::index ? graph_.index(number) : graph_.leaf(c.dtype, number);
    }
    return place->second;
  }

  Graph graph_;
  Device device_;
  std::vector<runtime::TensorImpl*> leaves_;
  std::vector<Scalar> scalars_;
  std::vector<Content> contents_;
  std::vector<LazyRef> placed_;
  std::unordered_map<const LazyNode*, Operand> known_;
  std::unordered_map<const runtime::TensorImpl*, Operand> leaf_nodes_;
};

/// Operations that the operands depend on, each once; stops counting past `enough`.
std::uint32_t count_operations(std::span<const LazyRef> operands, std::uint32_t enough) {
  std::vector<LazyRef> pending(operands.begin(), operands.end());
  std::unordered_set<const LazyNode*> seen;
  std::vector<LazyRef> held;  // an address in `seen` must not be given to another node meanwhile
  std::uint32_t count = 0;
  while (!pending.empty() && count <= enough) {
    LazyRef node = std::move(pending.back());
    pending.pop_back();
    if (!seen.insert(node.get()).second) continue;
    const Content c = LazyAccess::snapshot(node);
    count += c.size > 0;
    for (const LazyRef& o : c.operands)
      if (o) pending.push_back(o);
    held.push_back(std::move(node));
  }
  return count;
}

/// Evaluates what the operands depend on, so that each of them is a leaf.
void settle(std::span<const LazyRef> operands) {
  std::vector<LazyRef> large;
  for (const LazyRef& o : operands)
    if (LazyAccess::snapshot(o).size > 0 && std::ranges::find(large, o) == large.end()) large.push_back(o);
  std::vector<runtime::TensorRef> results(large.size());
  Flattened(large).evaluate(results.data(), Mode::Fused);
  for (std::size_t i = 0; i < large.size(); ++i) {
    Content leaf;
    leaf.dtype = large[i]->dtype();
    leaf.leaf = Taken::of(std::move(results[i]));
    LazyAccess::state(*large[i]).replace(std::move(leaf));
  }
}

/// Keeps what hangs on a new operation bounded: past the limit, its operands become leaves.
void bound_size(const LazyRef& made, std::span<const LazyRef> operands) {
  Content& content = LazyAccess::state(*made).content;  // nobody else has it yet
  if (content.size <= max_lazy_nodes) return;
  // Both bounds can be far off where many expressions that share operands grow in turns.
  constexpr std::uint32_t worth_settling = max_lazy_nodes / 16;
  content.size = count_operations(operands, worth_settling) + 1;
  if (content.size <= worth_settling) return;
  settle(operands);
  Extent().put(content);
}

/// An operation on C++ scalars alone is a C++ scalar: computed now, in bool, int64 or double.
LazyRef fold_scalars(Op op, std::span<const Content> operands) {
  constexpr DType wide[] = {DType::Bool, DType::Int64, DType::Float64};
  std::array<OperandType, max_arity> types;
  for (std::size_t i = 0; i < operands.size(); ++i) types[i] = {wide[static_cast<int>(operands[i].category)]};
  OpTypes t = op_types(op, std::span(types).first(operands.size()));
  if (info(op).rule == DTypeRule::Float) t.compute = t.result = DType::Float64;
  std::array<Value, max_arity> values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType to = info(op).rule == DTypeRule::Select && i == 0 ? DType::Bool : t.compute;
    values[i] = {to, convert_bits(operands[i].bits, types[i].dtype, to)};
  }
  const std::uint64_t bits = fold(op, t.result, std::span(values).first(operands.size()));
  const Category category = sinter::category(t.result);
  return LazyAccess::scalar(default_dtype(category), category, convert_bits(bits, t.result, wide[static_cast<int>(category)]));
}

/// The operands as the first nodes of a graph, which then decides about dtypes.
std::vector<Operand> as_nodes(Graph& graph, std::span<const Content> contents) {
  std::vector<Operand> nodes;
  for (std::uint32_t i = 0; const Content& c : contents) {
    switch (c.op) {
      case Op::scalar: nodes.push_back(graph.scalar(c.dtype, c.category, i)); break;
      case Op::constant: nodes.push_back(graph.constant(c.dtype, c.bits)); break;
      default: nodes.push_back(graph.leaf(c.dtype, i));
    }
    ++i;
  }
  return nodes;
}

LazyRef import_with_operands(const Graph& graph, std::string_view what, std::span<const LazyRef> operands,
                             std::span<const Content> contents) {
  std::array<std::uint64_t, max_arity> scalars{};
  for (std::size_t i = 0; i < contents.size(); ++i) scalars[i] = contents[i].bits;
  return import(graph, what, operands, scalars);
}

}  // namespace

LazyNode::LazyNode() : state_(new State) {}

void LazyNode::destroy(LazyNode* node) noexcept {
  // Deleting a node releases its operands, which come back here; they wait in a list instead of recursing.
  thread_local LazyNode* waiting = nullptr;
  thread_local bool is_running = false;
  node->state_->next_to_destroy = waiting;
  waiting = node;
  if (is_running) return;
  is_running = true;
  while (waiting) {
    LazyNode* last = waiting;
    waiting = last->state_->next_to_destroy;
    delete last->state_;
    delete last;
  }
  is_running = false;
}

DType LazyNode::dtype() const noexcept {
  State::Lock lock(*state_);
  return state_->content.dtype;
}

Device LazyNode::device() const noexcept { return state_->device; }

LazyRef lazy(runtime::TensorImpl& leaf) { return LazyAccess::leaf(runtime::TensorRef::share(&leaf)); }

LazyRef lazy(Scalar value, Category category) {
  return LazyAccess::scalar(default_dtype(category), category, value.bits);
}

LazyRef lazy(const Bound& tree) {
  const Program& program = *tree.program;
  if (program.outputs != 1) throw Error("a lazy expression is made from a tree with one result");
  const Leaves arrays(tree.leaves, program.leaves);
  if (std::ranges::find(arrays, nullptr) != arrays.end()) throw_empty_expression();
  std::vector<std::uint16_t> same_as(arrays.size());
  same_arrays(arrays, same_as.data());
  std::vector<DType> dtypes;
  std::unique_ptr<bool[]> indices(new bool[arrays.size()]);
  std::vector<LazyRef> leaves;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    dtypes.push_back(arrays[i]->dtype);
    indices[i] = is_index(*arrays[i]);
    leaves.push_back(same_as[i] == i ? lazy(*arrays[i]) : leaves[same_as[i]]);
  }
  std::vector<std::uint64_t> scalars;
  for (int i = 0; i < program.scalars; ++i) scalars.push_back(tree.scalars[i].bits);
  return import(record(program, dtypes, same_as, {indices.get(), arrays.size()}), "lazy", leaves, scalars);
}

LazyRef lazy(Op op, std::span<const LazyRef> operands) {
  if (info(op).rule == DTypeRule::None || operands.size() != info(op).arity)
    throw Error(fmt::format("{} takes {} operands, not {}", name(op), info(op).arity, operands.size()));
  std::vector<Content> contents;
  for (const LazyRef& o : operands) {
    if (!o) throw Error(fmt::format("{}: an operand is a lazy expression that was moved from", name(op)));
    contents.push_back(LazyAccess::snapshot(o));
  }
  Graph graph;
  graph.output(graph.apply(op, as_nodes(graph, contents)));
  if (std::ranges::all_of(contents, [](const Content& c) { return c.op == Op::scalar; })) return fold_scalars(op, contents);
  placed_operand(name(op), operands);
  LazyRef result = import_with_operands(graph, name(op), operands, contents);
  bound_size(result, operands);
  return result;
}

LazyRef lazy_cast(const LazyRef& a, DType dtype) {
  if (!a) throw Error("cast: the operand is a lazy expression that was moved from");
  const Content content = LazyAccess::snapshot(a);
  if (content.op != Op::scalar && content.op != Op::constant && content.dtype == dtype) return a;
  Graph graph;
  graph.output(graph.explicit_cast(as_nodes(graph, {&content, 1})[0], dtype));
  LazyRef result = import_with_operands(graph, "cast", {&a, 1}, {&content, 1});
  bound_size(result, {&a, 1});
  return result;
}

void evaluate(std::span<const LazyRef> values, runtime::TensorRef* outputs, Mode mode) {
  for (const LazyRef& v : values)
    if (!v) throw Error("evaluate: a lazy expression was moved from");
  std::vector<bool> is_new;
  for (std::size_t i = 0; i < values.size(); ++i) is_new.push_back(!outputs[i]);
  Flattened(values).evaluate(outputs, mode);
  if (mode == Mode::Prepare) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_new[i] && LazyAccess::snapshot(values[i]).size > 0)
      LazyAccess::state(*values[i]).keep_result(Taken::of(outputs[i]));
}

}  // namespace sinter::inline v1::jit
