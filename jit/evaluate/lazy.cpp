#include <sinter/jit/lazy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <sinter/jit/device_function.hpp>
#include <sinter/jit/prepare.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../graph/arguments.hpp"
#include "../passes/fold.hpp"
#include "../plan/faults.hpp"
#include "evaluator.hpp"
#include "lazy_graph.hpp"

namespace sinter::inline v1::jit {

namespace {

using boost::container::small_vector;

/// An upper bound on the number of operations that an operation depends on, from the bounds of its operands: the
/// smaller of the tree's size, which counts a shared operand each time, and the number of operations created since the
/// oldest one, which counts unrelated ones too.
class SizeBound {
 public:
  void add(const LazyContent& operand) noexcept {
    tree_ += operand.size;
    oldest_ = std::min(oldest_, operand.oldest);
    history_ = std::max(history_, operand.history);
    history_bytes_ = std::max(history_bytes_, operand.history_bytes);
  }
  /// Sets the bound of a new operation on these operands.
  void put(LazyContent& c) const noexcept {
    static std::atomic<std::uint64_t> created{0};
    const std::uint64_t now = created.fetch_add(1, std::memory_order_relaxed);
    c.oldest = std::min(oldest_, now);
    c.history = history_;
    c.history_bytes = history_bytes_;
    c.size = static_cast<std::uint32_t>(std::min({tree_ + 1, now - c.oldest + 1, std::uint64_t{most}}));
  }

 private:
  static constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t tree_ = 0;
  std::uint32_t history_ = 0;
  std::uint64_t history_bytes_ = 0;
  std::uint64_t oldest_ = LazyContent::none;
};

/// Lazy nodes for a graph's outputs, with its leaves and scalars by number.
std::vector<LazyRef> import_all(const Graph& graph, std::string_view what, std::span<const LazyRef> leaves,
                                std::span<const std::uint64_t> scalars) {
  const LazyNode* placed = operand_with_device(what, leaves);
  std::vector<LazyRef> made;
  made.reserve(graph.nodes().size());
  for (const Node& n : graph.nodes()) {
    if (is_element_leaf(n.op)) {
      made.push_back(leaves[n.attribute]);
      continue;
    }
    if (n.op == Op::array) {
      made.push_back(LazyAccess::array(leaves[n.attribute]));
      continue;
    }
    if (n.op == Op::scalar) {
      made.push_back(LazyAccess::scalar(n.dtype, scalar_use(n).arrives_as, scalars[scalar_use(n).number]));
      continue;
    }
    LazyContent c;
    c.op = n.op;
    c.dtype = n.dtype;
    c.bits = n.op == Op::complex ? n.attribute : lasting_attribute(n);
    SizeBound bound;
    for (std::size_t i = 0; Operand o : graph.operands(n)) {
      c.operands[i] = made[static_cast<std::size_t>(o.node)];
      bound.add(*LazyAccess::snapshot(c.operands[i++]));
    }
    if (n.arity > 0) bound.put(c);
    made.push_back(LazyAccess::make(std::move(c), placed != nullptr, placed ? placed->device() : Device()));
  }
  std::vector<LazyRef> outputs;
  for (const Operand o : graph.outputs()) outputs.push_back(made[static_cast<std::size_t>(o.node)]);
  return outputs;
}
LazyRef import(const Graph& graph, std::string_view what, std::span<const LazyRef> leaves,
               std::span<const std::uint64_t> scalars) {
  return import_all(graph, what, leaves, scalars)[0];
}

/// Whether the leaves in place of operations remember these, so that gradients flow through them.
enum class History { Forget, Keep };

/// A node for what another one computes until now.
LazyRef twin(const LazyRef& node) {
  LazyContent content = *LazyAccess::snapshot(node);
  update_history(content);
  return LazyAccess::make(std::move(content), true, node->device());
}

/// Evaluates the operands, so that each of them is a leaf.
void make_leaves(std::span<const LazyRef> operands, History history) {
  std::vector<LazyRef> large;
  for (const LazyRef& o : operands)
    if (LazyAccess::snapshot(o)->size > 0 && std::ranges::find(large, o) == large.end()) large.push_back(o);
  std::vector<runtime::TensorRef> results(large.size());
  evaluate_recorded(Recorded(large), results.data(), Mode::Fused);
  for (std::size_t i = 0; i < large.size(); ++i) {
    LazyContent leaf;
    leaf.dtype = large[i]->dtype();
    leaf.is_cut = true;
    if (history == History::Keep)
      set_origin(leaf, std::make_shared<const Origin>(Origin{{twin(large[i])}, {}, results[i]}));
    leaf.leaf = TensorSnapshot::of(std::move(results[i]));
    LazyAccess::state(*large[i]).replace(shared(std::move(leaf)));
  }
}

/// Bounds the number of operations that a new one depends on: past the limit, its operands become leaves.
void bound_size(const LazyRef& made, std::span<const LazyRef> operands) {
  LazyContent& content = *LazyAccess::state(*made).content;  // not shared yet
  if (content.size <= max_lazy_nodes) return;
  // Both bounds can be far too high if many expressions that share operands grow in turns.
  constexpr std::uint32_t worth_evaluating = max_lazy_nodes / 16;
  content.size = count_operations(operands, worth_evaluating) + 1;
  if (content.size <= worth_evaluating) return;
  make_leaves(operands, History::Forget);
  SizeBound().put(content);
}

/// An operation on only C++ scalars is a C++ scalar: computed now, in bool, int64 or double.
LazyRef fold_scalars(Op op, std::span<const ContentRef> operands) {
  std::array<OperandType, max_arity> types;
  for (std::size_t i = 0; i < operands.size(); ++i) types[i] = {arriving_dtype(operands[i]->category)};
  OpTypes t = op_types(op, std::span(types).first(operands.size()));
  if (t.compute == DType::Float32) {  // for integer operands; C++ uses double
    t.compute = DType::Float64;
    if (t.result == DType::Float32) t.result = DType::Float64;
  }
  const runtime::DefaultFloatEnvironment floats;
  std::array<Value, max_arity> values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType to = info(op).rule == DTypeRule::Select && i == 0 ? DType::Bool : t.compute;
    values[i] = {to, convert_bits(operands[i]->bits, types[i].dtype, to)};
  }
  if (has(op, FaultsOnZeroDivisor) && t.compute == DType::Int64 && values[1].bits == 0)
    throw Error(fmt::format("ZeroDivisionError: {} of the numbers {} and 0", name(op),
                            static_cast<std::int64_t>(values[0].bits)));
  const std::uint64_t bits = fold(op, t.result, std::span(values).first(operands.size()));
  const Category category = sinter::category(t.result);
  return LazyAccess::scalar(default_dtype(category), category, convert_bits(bits, t.result, arriving_dtype(category)));
}

void check_numbers(Op op, std::span<const ContentRef> operands) {
  std::array<std::optional<double>, max_arity> numbers;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]->op == Op::scalar)
      numbers[i] = number_of(operands[i]->bits, arriving_dtype(operands[i]->category));
    else if (operands[i]->op == Op::constant)
      numbers[i] = number_of(operands[i]->bits, operands[i]->dtype);
  check_arguments(op, std::span(numbers).first(operands.size()));
}

bool is_complex_number(const LazyContent& c) { return c.op == Op::complex && c.bits == weak_result; }

/// The operands as the first nodes of a graph, which then determines dtypes.
/// A C++ complex number is complex() of two scalars, numbered after the operands.
std::vector<Operand> as_nodes(Graph& graph, std::span<const ContentRef> contents) {
  std::vector<Operand> nodes;
  for (std::uint32_t i = 0; const ContentRef& content : contents) {
    const LazyContent& c = *content;
    if (c.op == Op::scalar) {
      nodes.push_back(graph.scalar(c.dtype, c.category, i));
    } else if (c.op == Op::constant) {
      nodes.push_back(graph.constant(c.dtype, c.bits));
    } else if (is_complex_number(c)) {
      const std::uint32_t first = max_arity + 2 * i;
      const std::array parts{graph.scalar(real_of(c.dtype), Category::Float, first),
                             graph.scalar(real_of(c.dtype), Category::Float, first + 1)};
      nodes.push_back(graph.node(Op::complex, c.dtype, parts, weak_result));
    } else {
      nodes.push_back(graph.leaf(c.dtype, i));
    }
    ++i;
  }
  return nodes;
}

LazyRef import_with_operands(const Graph& graph, std::string_view what, std::span<const LazyRef> operands,
                             std::span<const ContentRef> contents) {
  std::array<std::uint64_t, 3 * max_arity> scalars{};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    scalars[i] = contents[i]->bits;
    if (!is_complex_number(*contents[i])) continue;
    for (std::size_t part = 0; part < 2; ++part)
      scalars[max_arity + 2 * i + part] = LazyAccess::snapshot(contents[i]->operands[part])->bits;
  }
  return import(graph, what, operands, scalars);
}

/// The operand as a value of this dtype, if nothing has to be computed for it. Null otherwise. As in typed expressions,
/// each use of a C++ scalar is a scalar of its own.
LazyRef without_cast(const LazyRef& operand, const LazyContent& content, DType dtype) {
  if (content.op == Op::scalar && !is_complex(dtype)) return LazyAccess::scalar(dtype, content.category, content.bits);
  return content.dtype == dtype ? operand : LazyRef();
}

/// The operation if no operand has to be converted, except C++ scalars; null otherwise. A graph finds the same, slower.
LazyRef without_casts(Op op, std::span<const LazyRef> operands, std::span<const ContentRef> contents,
                      ReduceAxes along) {
  std::array<OperandType, max_arity> types;
  bool all_weak = true;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const LazyContent& c = *contents[i];
    if (c.op == Op::constant || is_complex_number(c)) return {};
    types[i] = c.op == Op::scalar ? OperandType{default_dtype(c.category), true} : OperandType{c.dtype};
    all_weak &= types[i].weak;
  }
  const OpTypes t = op_types(op, std::span(types).first(contents.size()));
  if (!t.ok || all_weak) return {};
  const LazyNode* placed = operand_with_device(name(op), operands);
  LazyContent made;
  made.op = op;
  made.dtype = t.result;
  made.bits = is_reduction(op) ? along.bits() : 0;
  SizeBound bound;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const bool condition = info(op).rule == DTypeRule::Select && i == 0;
    made.operands[i] = without_cast(operands[i], *contents[i], condition ? DType::Bool : t.compute);
    if (!made.operands[i]) return {};
    bound.add(*contents[i]);
  }
  bound.put(made);
  return LazyAccess::make(std::move(made), placed != nullptr, placed ? placed->device() : Device());
}

}  // namespace

LazyNode::LazyNode() : state_(new(this + 1) State) {}

void LazyNode::destroy(LazyNode* node) noexcept {
  // Deleting a node releases its operands, which reenters this function; they are queued instead of recursing.
  struct Queue {
    LazyNode* waiting;
    bool is_running;
  };
  static constinit thread_local Queue queue __attribute__((tls_model("initial-exec"))) = {nullptr, false};
  Queue& q = queue;
  node->state_->next_to_destroy = std::exchange(q.waiting, node);
  if (std::exchange(q.is_running, true)) return;
  while (LazyNode* const last = q.waiting) {
    q.waiting = last->state_->next_to_destroy;
    State::destroy(last);
  }
  q.is_running = false;
}

DType LazyNode::dtype() const noexcept {
  State::Lock lock(*state_);
  return state_->content->dtype;
}

Device LazyNode::device() const noexcept { return state_->device; }

LazyRef lazy(runtime::TensorImpl& leaf) { return LazyAccess::leaf(runtime::TensorRef::share(&leaf)); }

LazyRef lazy(runtime::TensorImpl& leaf, Origin origin) {
  const LazyRef made = lazy(leaf);
  set_origin(*LazyAccess::state(*made).content, std::make_shared<const Origin>(std::move(origin)));  // not shared yet
  return made;
}

runtime::TensorRef uniquely_owned_result(const LazyRef& value) {
  if (!value || value->owners() != 1) return {};
  const ContentRef content = LazyAccess::snapshot(value);
  if (content->op != Op::leaf || !content->origin || content->origin.use_count() != 1 || content->owners() != 2)
    return {};  // its node's and ours
  const runtime::TensorRef& result = content->origin->result;
  const bool is_whole = result == content->leaf.tensor && result->contiguous;
  return is_whole && result->buffer && result->buffer->owners() == 1 ? result : runtime::TensorRef();
}

LazyRef named(const LazyRef& value, std::string_view name) {
  LazyContent content = *LazyAccess::snapshot(value);
  if (!is_element_leaf(content.op)) return value;
  content.name = std::make_shared<const std::string>(name);
  return LazyAccess::make(std::move(content), true, value->device());
}

LazyRef lazy(Scalar value, Category category) {
  return LazyAccess::scalar(default_dtype(category), category, value.bits);
}

LazyRef lazy(const Bound& tree) { return lazy(Recorded(tree)); }

LazyRef lazy(const Recorded& recorded) {
  if (recorded.graph.outputs().size() != 1) throw Error("a lazy expression needs a tree with one result");
  return lazy_outputs(recorded)[0];
}

std::vector<LazyRef> lazy_outputs(const Recorded& recorded) {
  std::vector<LazyRef> leaves;
  for (std::size_t i = 0; i < recorded.leaves.size(); ++i) {
    leaves.push_back(lazy(*recorded.leaves[i]));
    if (i < recorded.names.size() && !recorded.names[i].empty()) leaves[i] = named(leaves[i], recorded.names[i]);
    if (i < recorded.origins.size() && recorded.origins[i])
      set_origin(*LazyAccess::state(*leaves[i]).content, recorded.origins[i]);
  }
  std::vector<std::uint64_t> scalars;
  for (const Scalar s : recorded.scalars) scalars.push_back(s.bits);
  return import_all(recorded.graph, "lazy", leaves, scalars);
}

LazyRef lazy(Op op, std::span<const LazyRef> operands) { return lazy(op, operands, ReduceAxes()); }

LazyRef lazy(Op op, std::span<const LazyRef> operands, ReduceAxes along) {
  if (info(op).rule == DTypeRule::None || operands.size() != info(op).arity)
    throw Error(fmt::format("{} takes {} operands, not {}", name(op), info(op).arity, operands.size()));
  std::array<ContentRef, max_arity> taken;
  {
    const runtime::NoFork no_fork(std::nothrow);  // once, instead of for each operand
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]) throw Error(fmt::format("{}: an operand is a lazy expression that was moved from", name(op)));
      taken[i] = LazyAccess::snapshot(operands[i]);
    }
  }
  const std::span<const ContentRef> contents(taken.data(), operands.size());
  if (limits_arguments(op)) check_numbers(op, contents);
  if (LazyRef result = without_casts(op, operands, contents, along)) {
    bound_size(result, operands);
    return result;
  }
  Graph graph;
  graph.output(graph.apply(op, as_nodes(graph, contents), along));
  const bool complex = is_complex(graph[graph.outputs()[0]].dtype);
  if (!complex && !is_reduction(op) &&
      std::ranges::all_of(contents, [](const ContentRef& c) { return c->op == Op::scalar; }))
    return fold_scalars(op, contents);
  operand_with_device(name(op), operands);
  LazyRef result = import_with_operands(graph, name(op), operands, contents);
  bound_size(result, operands);
  return result;
}

LazyRef lazy_call(FunctionId function, std::span<const LazyRef> operands) {
  const std::string& name = source_of(function).name;
  boost::container::small_vector<ContentRef, max_arity> contents;
  for (const LazyRef& o : operands) {
    if (!o) throw Error(fmt::format("{}: an operand is a lazy expression that was moved from", name));
    contents.push_back(LazyAccess::snapshot(o));
  }
  if (contents.size() > max_arity) throw Error(fmt::format("{} takes fewer operands than {}", name, contents.size()));
  const std::span<const ContentRef> taken(contents.data(), contents.size());
  Graph graph;
  graph.output(graph.call(function, as_nodes(graph, taken)));
  if (std::ranges::all_of(taken, [](const ContentRef& c) { return c->op == Op::scalar; }))
    throw Error(fmt::format(
        "{}: all of its operands are numbers, but a device function takes at least one tensor or expression: pass "
        "tensor(x) for a number x",
        name));
  LazyRef result = import_with_operands(graph, name, operands, taken);
  bound_size(result, operands);
  return result;
}

LazyRef lazy_cast(const LazyRef& a, DType dtype) {
  if (!a) throw Error("cast: the operand is a lazy expression that was moved from");
  const ContentRef content = LazyAccess::snapshot(a);
  // A cast to the same dtype still rounds a value that is held in its compute dtype.
  const bool changes_nothing = content->dtype == dtype && !is_stored_only(dtype);
  if (content->op != Op::scalar && content->op != Op::constant && changes_nothing) return a;
  Graph graph;
  graph.output(graph.explicit_cast(as_nodes(graph, {&content, 1})[0], dtype));
  LazyRef result = import_with_operands(graph, "cast", {&a, 1}, {&content, 1});
  bound_size(result, {&a, 1});
  return result;
}

LazyRef lazy_load(runtime::TensorImpl& array, const LazyRef& offset) { return lazy_load(lazy(array), offset); }

LazyRef lazy_load(const LazyRef& array, const LazyRef& offset) {
  if (!offset) throw Error("load: the index is a lazy expression that was moved from");
  const LazyRef leaves[] = {offset, array};
  const ContentRef content = LazyAccess::snapshot(offset);
  Graph graph;
  const Operand from = graph.array(array->dtype(), 1);
  graph.output(graph.load(from, as_nodes(graph, {&content, 1})[0]));
  LazyRef result = import_with_operands(graph, "load", leaves, {&content, 1});
  bound_size(result, leaves);
  return result;
}

Recorded record_for_copy(const LazyRef& value) {
  const std::span one(&value, 1);
  if (LazyAccess::snapshot(value)->size > max_copied_nodes &&
      count_operations(one, max_copied_nodes) > max_copied_nodes)
    make_leaves(one, History::Forget);
  return Recorded::with_origins(one);
}

std::future<void> prepare_async(std::span<const LazyRef> values) { return prepare_recorded_async(Recorded(values)); }

void evaluate(std::span<const LazyRef> values, runtime::TensorRef* outputs, Mode mode) {
  small_vector<bool, 8> is_new;
  for (std::size_t i = 0; i < values.size(); ++i) is_new.push_back(!outputs[i]);
  if (mode == Mode::Prepare) return evaluate_recorded(Recorded(values), outputs, mode);
  std::vector<LazyRef> changed;
  Recorded recorded = record(values, changed);
  if (!changed.empty()) {   // their operands would be recomputed at each step of a loop, so they become leaves
    recorded = Recorded();  // so that what nothing else holds is seen to be so
    make_leaves(changed, History::Keep);
    recorded = Recorded(values);
  }
  evaluate_recorded(recorded, outputs, mode);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_new[i]) keep_result(values[i], outputs[i]);
}

runtime::TensorRef evaluate_one(const LazyRef& value) {
  runtime::TensorRef result;
  evaluate({&value, 1}, &result);
  return result;
}

}  // namespace sinter::inline v1::jit
