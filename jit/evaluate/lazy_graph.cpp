#include "lazy_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <runtime/different_devices.hpp>
#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/error.hpp>
#include "../graph/pointer_map.hpp"

namespace sinter::inline v1::jit {

namespace {

using boost::container::small_vector;

std::string describe(std::span<const LazyRef> operands) {
  std::string list;
  for (const LazyRef& o : operands)
    list += fmt::format("{}{} on {}", list.empty() ? "" : ", ", name(o->dtype()), to_string(o->device()));
  return list;
}

/// Fills a Recorded from a DAG of lazy nodes.
class Flattener {
 public:
  /// How to treat values whose results are cached: as leaves, as leaves with their origin, or as operations.
  enum class CachedResults { Use, UseWithOrigin, IgnoreOfOutputs, Ignore };
  /// `changed` receives the nodes below the outputs whose cached results were modified.
  Flattener(Recorded& out, CachedResults results, std::vector<LazyRef>* changed = nullptr)
      : out_(out), results_(results), changed_(changed) {}

  void add(std::span<const LazyRef> values) {
    outputs_ = values;
    out_.graph.reserve(16, 16);
    out_.leaves.reserve(4);
    out_.held.reserve(4);
    const runtime::NoFork no_fork(std::nothrow);  // once, instead of for each node
    for (const LazyRef& v : values) visit(v);
    for (const LazyRef& v : values) out_.graph.output(*known_.find(v.get()));
  }

 private:
  struct Frame {
    const LazyNode* node;
    const LazyContent* content;
    std::size_t next = 0;  // operand to visit
  };

  void visit(const LazyRef& root) {
    enter(root.get());
    while (!path_.empty()) {
      Frame& top = path_.back();
      const LazyContent& c = *top.content;
      if (top.next < c.operands.size() && c.operands[top.next]) {
        enter(c.operands[top.next++].get());
        continue;
      }
      *known_.try_emplace(top.node).first = add(c);
      path_.pop_back();
    }
  }

  void enter(const LazyNode* node) {
    if (known_.find(node)) return;
    auto [content, result] = LazyAccess::state(*node).snapshot_with_result();
    if (result.tensor) content = with_result(node, std::move(content), std::move(result));
    path_.push_back({node, content.get()});
    contents_.push_back(std::move(content));
  }

  /// A leaf in place of a node that has a cached result, if that is to be used.
  ContentRef with_result(const LazyNode* node, ContentRef content, TensorSnapshot result) {
    if (!result.is_unchanged()) {
      if (changed_ && !is_output(node)) changed_->push_back(LazyRef::share(const_cast<LazyNode*>(node)));
      return content;
    }
    if (ignores_result(node)) return content;
    LazyContent leaf;
    leaf.dtype = content->dtype;
    leaf.leaf = std::move(result);
    if (results_ == CachedResults::UseWithOrigin)
      leaf.origin =
          std::make_shared<const Origin>(Origin{{LazyRef::share(const_cast<LazyNode*>(node))}, {}, leaf.leaf.tensor});
    return shared(std::move(leaf));
  }

  Operand add(const LazyContent& c) {
    switch (c.op) {
      case Op::leaf:
      case Op::iota:
      case Op::array: return add_leaf(c);
      case Op::scalar:
        out_.scalars.push_back(Scalar());
        out_.scalars.back().bits = c.bits;
        return out_.graph.scalar(c.dtype, c.category, static_cast<std::uint32_t>(out_.scalars.size() - 1));
      case Op::constant: return out_.graph.constant(c.dtype, c.bits);
      default: break;
    }
    std::array<Operand, max_arity> operands;
    std::size_t arity = 0;
    for (; arity < operands.size() && c.operands[arity]; ++arity)
      operands[arity] = *known_.find(c.operands[arity].get());
    return out_.graph.node(c.op, c.dtype, std::span(operands).first(arity),
                           c.op == Op::cast || has_parameter(c.op) ? c.bits : 0);
  }

  Operand add_leaf(const LazyContent& c) {
    runtime::TensorImpl* t = c.leaf.tensor.get();
    if (!c.leaf.is_current())
      throw Error(
          fmt::format("a lazy expression reads {}, which was written to after the expression was built: "
                      "evaluate the expression before writing, or build it from a copy",
                      runtime::describe(*t)));
    const auto [place, is_new] = (c.op == Op::array ? array_nodes_ : leaf_nodes_).try_emplace(t);
    if (is_new) {
      const auto number = static_cast<std::uint32_t>(out_.leaves.size());
      out_.leaves.push_back(t);
      out_.held.push_back(c.leaf.tensor);
      if (c.name) {
        out_.names.resize(number);
        out_.names.push_back(*c.name);
      }
      out_.is_cut = out_.is_cut || c.is_cut;
      if (c.origin) {
        out_.origins.resize(number);
        out_.origins.push_back(c.origin);
      }
      *place = c.op == Op::iota    ? out_.graph.iota(number)
               : c.op == Op::array ? out_.graph.array(c.dtype, number)
                                   : out_.graph.leaf(c.dtype, number);
    }
    return *place;
  }

  bool is_output(const LazyNode* node) const noexcept {
    return std::ranges::any_of(outputs_, [&](const LazyRef& v) { return v.get() == node; });
  }
  bool ignores_result(const LazyNode* node) const noexcept {
    return results_ == CachedResults::IgnoreOfOutputs ? is_output(node) : results_ == CachedResults::Ignore;
  }

  Recorded& out_;
  const CachedResults results_;
  std::vector<LazyRef>* const changed_;
  std::span<const LazyRef> outputs_;
  small_vector<Frame, 16> path_;
  small_vector<ContentRef, 16> contents_;  // keep alive the nodes in the map below, whose keys are addresses
  PointerMap<Operand> known_;
  PointerMap<Operand> leaf_nodes_, array_nodes_;
};

}  // namespace

const LazyNode* operand_with_device(std::string_view what, std::span<const LazyRef> operands) {
  const LazyNode* placed = nullptr;
  for (const LazyRef& o : operands) {
    if (!LazyAccess::state(*o).has_device) continue;
    if (placed && placed->device() != o->device())
      runtime::throw_different_devices(placed->device(), o->device(),
                                       fmt::format("in {} of lazy values: {}", what, describe(operands)));
    placed = o.get();
  }
  return placed;
}

namespace {

/// Calls f with the content of each of the nodes and of all that they depend on, once, until it returns false.
template <class F>
void for_each_below(std::vector<LazyRef> pending, F f) {
  std::unordered_set<const LazyNode*> seen;
  std::vector<LazyRef> held;  // keeps nodes alive, so that no address in `seen` is reused
  while (!pending.empty()) {
    LazyRef node = std::move(pending.back());
    pending.pop_back();
    if (!seen.insert(node.get()).second) continue;
    const ContentRef c = LazyAccess::snapshot(node);
    if (!f(*c)) return;
    for (const LazyRef& o : c->operands)
      if (o) pending.push_back(o);
    held.push_back(std::move(node));
  }
}

}  // namespace

std::uint32_t count_operations(std::span<const LazyRef> operands, std::uint32_t enough) {
  std::uint32_t count = 0;
  for_each_below({operands.begin(), operands.end()}, [&](const LazyContent& c) {
    count += c.size > 0;
    return count <= enough;
  });
  return count;
}

void update_history(LazyContent& content) {
  std::vector<LazyRef> operands;
  for (const LazyRef& o : content.operands)
    if (o) operands.push_back(o);
  std::uint64_t before = 0, own = 0;
  for_each_below(std::move(operands), [&](const LazyContent& c) {
    content.history = std::max(content.history, c.history);
    before = std::max(before, c.history_bytes);
    // Else the program has the tensor too.
    const bool holds = c.leaf.tensor && (c.origin || c.leaf.tensor->owners() == 1);
    if (holds) own += static_cast<std::uint64_t>(c.leaf.tensor->numel) * size_of(c.dtype);
    return true;
  });
  content.history_bytes = before + own;
}

namespace {

/// The device of the values. Throws Error for a moved-from value, DeviceError.
Device device_of(std::span<const LazyRef> values) {
  for (const LazyRef& v : values)
    if (!v) throw Error("a lazy expression was used after it was moved from");
  const LazyNode* placed = operand_with_device("evaluate", values);
  return placed ? placed->device() : Device();
}

}  // namespace

Recorded::Recorded(std::span<const LazyRef> values) : device(device_of(values)) {
  Flattener(*this, Flattener::CachedResults::Use).add(values);
}
Recorded::Recorded(const LazyRef& value) : device(device_of({&value, 1})) {
  Flattener(*this, Flattener::CachedResults::IgnoreOfOutputs).add({&value, 1});
}

Recorded Recorded::with_origins(std::span<const LazyRef> values) {
  Recorded made;
  made.device = device_of(values);
  Flattener(made, Flattener::CachedResults::UseWithOrigin).add(values);
  return made;
}

Recorded Recorded::unevaluated(std::span<const LazyRef> values) {
  Recorded made;
  made.device = device_of(values);
  Flattener(made, Flattener::CachedResults::Ignore).add(values);
  return made;
}

Recorded record(std::span<const LazyRef> values, std::vector<LazyRef>& changed) {
  Recorded made;
  made.device = device_of(values);
  Flattener(made, Flattener::CachedResults::Use, &changed).add(values);
  return made;
}

namespace {

/// Releases the results that only another evaluation of `value` would use: a loop that evaluates each step would keep
/// all of them.
void drop_ancestor_results(const LazyRef& value) {
  small_vector<ContentRef, 8> pending{LazyAccess::snapshot(value)};
  while (!pending.empty()) {
    const ContentRef c = std::move(pending.back());
    pending.pop_back();
    for (const LazyRef& o : c->operands)
      if (o && o->owners() == 1)
        if (ContentRef content = LazyAccess::state(*o).drop_result()) pending.push_back(std::move(content));
  }
}

}  // namespace

void keep_result(const LazyRef& value, runtime::TensorRef result) {
  if (LazyAccess::snapshot(value)->size == 0) return;
  LazyAccess::state(*value).keep_result(TensorSnapshot::of(std::move(result)));
  drop_ancestor_results(value);
}

}  // namespace sinter::inline v1::jit
