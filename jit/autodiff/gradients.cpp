#include <sinter/jit/grad.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "../evaluate/lazy_graph.hpp"
#include "differentiator.hpp"
#include "value_shape.hpp"
#include "view_gradient.hpp"
#include "zeros.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;

/// A value whose history ends at tensors: the value of a call, or one that was evaluated to be viewed.
struct Segment {
  LazyRef value;
  LazyRef gradient;  // the sum of those that reach it
};

LazyRef sum(const LazyRef& a, const LazyRef& b) {
  if (!a) return b;
  const LazyRef terms[] = {a, b};
  return lazy(Op::add, terms);
}

/// A gradient in its input's dtype: of a complex one for a real input, the real part.
LazyRef in_dtype_of(const LazyRef& input, const LazyRef& gradient) {
  const bool drops = is_complex(gradient->dtype()) && !is_complex(input->dtype());
  return lazy_cast(drops ? lazy(Op::real, {&gradient, 1}) : gradient, input->dtype());
}

[[noreturn]] void throw_cut() {
  throw Error(fmt::format(
      "grad: the value's history is not complete: past {} operations, {} nested views of results, or {} "
      "of results whose memory the program looked at, the oldest part of a lazy expression is evaluated and "
      "forgotten\n  Take gradients of shorter parts, and combine them with vjp",
      max_lazy_nodes, max_history, runtime::format_bytes(max_history_bytes)));
}

/// What the leaves of a segment contribute to gradients.
class Contributions {
 public:
  using Receiver = std::function<void(const LazyRef&)>;

  /// A contribution to the gradient with respect to `to`, which must outlive this object. Those for one receiver have
  /// the same key.
  void add(std::optional<Contribution> c, const TensorImpl& to, const void* key, Receiver receive) {
    if (!c) return;
    const Range own{values_.size(), c->values.size()};
    values_.insert(values_.end(), c->values.begin(), c->values.end());
    if (!c->placement) return direct_.push_back({own.first, std::move(receive)});
    auto target = std::ranges::find(targets_, key, &Target::key);
    if (target == targets_.end()) target = targets_.insert(target, {key, to, std::move(receive), {}});
    target->parts.emplace_back(std::move(c->placement), own);
  }
  /// Hands the gradients to their receivers. If some have to be evaluated, all are, and `value`, unless it is null:
  /// together, because they share most of what they are computed from.
  void deliver(const Differentiator& d, const LazyRef& value) {
    if (values_.empty()) return;
    // The differentiated graph's own output: it shares nodes with the gradients, which the caller's value does not.
    if (value) values_.push_back(d.output());
    const std::vector<LazyRef> values = lazy_outputs(d.taken(values_));
    std::vector<runtime::TensorRef> evaluated;
    if (!targets_.empty()) {
      evaluated.resize(values.size());
      evaluate(values, evaluated.data());
      if (value) keep_result(value, evaluated.back());
    }
    for (const auto& [number, receive] : direct_) receive(values[number]);
    for (const Target& target : targets_) {
      std::vector<PlacedValues> parts;
      for (const auto& [placement, own] : target.parts) parts.push_back({placement, own.of(values), own.of(evaluated)});
      target.receive(placed(target.to, std::move(parts)));
    }
  }

 private:
  struct Range {
    std::size_t first, count;

    template <class T>
    std::vector<T> of(const std::vector<T>& all) const {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return {begin, begin + static_cast<std::ptrdiff_t>(count)};
    }
  };
  struct Target {
    const void* key;
    std::reference_wrapper<const TensorImpl> to;
    Receiver receive;
    std::vector<std::pair<std::shared_ptr<const Placement>, Range>> parts;
  };

  std::vector<Operand> values_;
  std::vector<std::pair<std::size_t, Receiver>> direct_;
  std::vector<Target> targets_;
};

/// Goes from the value through its origins to the tensors.
class Gradients {
 public:
  explicit Gradients(std::span<TensorImpl* const> wrt) : wrt_(wrt), results_(wrt.size()), reached_(wrt.size()) {}

  std::vector<LazyRef> of(const LazyRef& value, const LazyRef& seed) {
    collect(value);
    order_.back()->gradient = seed;
    for (std::size_t i = order_.size(); i-- > 0;) differentiate(*order_[i]);
    return results_;
  }
  /// Whether the value depends on a tensor, if only by operations whose derivative is 0.
  bool is_reached(std::size_t i) const { return reached_[i] || wrt_[i]->numel == 0; }

 private:
  /// Appends segments after those that they read. Without recursion: chains of origins may be long.
  void collect(const LazyRef& root) {
    std::vector<std::pair<LazyRef, bool>> open{{root, false}};  // and whether what it reads has been appended
    while (!open.empty()) {
      const auto [value, is_read] = open.back();
      open.pop_back();
      if (is_read) {
        order_.push_back(std::make_unique<Segment>(Segment{value, {}}));
        segments_[value.get()] = order_.back().get();
        continue;
      }
      if (!segments_.emplace(value.get(), nullptr).second) continue;
      open.emplace_back(value, true);
      const Recorded recorded = Recorded::unevaluated({&value, 1});
      if (recorded.is_cut) throw_cut();
      for (const auto& origin : recorded.origins)
        if (origin)
          for (const LazyRef& input : origin->inputs) open.emplace_back(input, false);
    }
  }

  void differentiate(const Segment& segment) {
    if (!segment.gradient) return;
    const LazyRef both[] = {segment.value, segment.gradient};
    Differentiator d(Recorded::unevaluated(both));
    const std::size_t leaves = d.recorded().leaves.size();
    std::vector<bool> wanted(leaves);
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) wanted[leaf] = is_wanted(d, leaf);
    d.run(d.recorded().graph.outputs()[1], wanted);
    Contributions found;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      if (!wanted[leaf]) continue;
      if (const auto origin = d.origin(leaf)) {  // even if a tensor shares its memory: that is what was computed
        const TensorImpl& result = *origin->result;
        found.add(contribution(d, leaf, result), result, &result,
                  [this, origin](const LazyRef& g) { push_back(*origin, g); });
        continue;
      }
      for (std::size_t i = 0; i < wrt_.size(); ++i)
        if (shares_memory(*d.recorded().leaves[leaf], *wrt_[i])) {
          found.add(contribution(d, leaf, *wrt_[i]), *wrt_[i], &results_[i],
                    [this, i](const LazyRef& g) { results_[i] = sum(results_[i], g); });
          reached_[i] = reached_[i] || d.is_reached(leaf);
        }
    }
    found.deliver(d, &segment == order_.back().get() ? segment.value : LazyRef());  // others have been evaluated
  }

  /// Adds the gradients with respect to a computation's inputs.
  void push_back(const Origin& origin, const LazyRef& gradient) {
    const std::vector<LazyRef> gradients = origin.pullback ? origin.pullback(gradient) : std::vector<LazyRef>{gradient};
    if (gradients.size() != origin.inputs.size())
      throw Error(fmt::format("grad: a derivative returned {} gradients for {} inputs", gradients.size(),
                              origin.inputs.size()));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i]) continue;
      LazyRef& total = segments_.at(origin.inputs[i].get())->gradient;
      total = sum(total, in_dtype_of(origin.inputs[i], gradients[i]));
    }
  }

  bool is_wanted(Differentiator& d, std::uint32_t leaf) const {
    return d.origin(leaf) || std::ranges::any_of(wrt_, [&](const TensorImpl* t) {
             return shares_memory(*d.recorded().leaves[leaf], *t);
           });
  }

  std::span<TensorImpl* const> wrt_;
  std::vector<LazyRef> results_;
  std::vector<bool> reached_;
  std::vector<std::unique_ptr<Segment>> order_;
  std::unordered_map<const LazyNode*, Segment*> segments_;
};

void check_tensor(const TensorImpl& wrt) {
  if (category(wrt.dtype) >= Category::Float) return;
  throw DTypeError(fmt::format(
      "grad with respect to {}: only floats and complex numbers have gradients; convert it with .to<float>()",
      runtime::describe(wrt)));
}

void check_seed(const LazyRef& value, const LazyRef& seed) {
  const Shape own = shape_of(value), given = shape_of(seed);
  if (broadcasts_to(given, own)) return;
  throw ShapeError(fmt::format(
      "grad: the value is {} {}, but the seed, the gradient of each of its elements, is {} {}: it must have, "
      "or broadcast to, the value's shape",
      name(value->dtype()), to_string(own), name(seed->dtype()), to_string(given)));
}

/// The gradient of a value with respect to itself.
LazyRef one(const LazyRef& value) {
  const Shape shape = shape_of(value);
  const DType dtype = value->dtype();
  if (category(dtype) == Category::Float && shape.numel() == 1)
    return lazy_cast(lazy(Scalar(1.0), Category::Float), dtype);
  throw Error(
      fmt::format("grad of {} {}: the value must be one float; reduce it with sum() or mean(), or give the gradient of "
                  "each of its elements to vjp",
                  name(dtype), to_string(shape)));
}

}  // namespace

std::vector<LazyRef> gradients(const LazyRef& value, std::span<TensorImpl* const> wrt, const LazyRef& seed,
                               UnusedInput unused) {
  if (!value) throw Error("grad: the value is a lazy expression that was moved from");
  for (const TensorImpl* t : wrt) check_tensor(*t);
  if (seed) check_seed(value, seed);
  Gradients gradients(wrt);
  std::vector<LazyRef> found = gradients.of(value, seed ? seed : one(value));
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (found[i] || (unused == UnusedInput::Null && !gradients.is_reached(i))) continue;
    if (unused == UnusedInput::Error && !gradients.is_reached(i))
      throw Error(fmt::format(
          "grad with respect to {}: the value does not depend on it\n  What was evaluated is a constant: keep it an "
          "expression "
          "(auto or Lazy instead of Tensor), give cat, sort, cumsum and their kin sn::Lazy(x) instead of x, or ask for "
          "zeros with unused::zeros",
          runtime::describe(*wrt[i])));
    found[i] = lazy_zeros(wrt[i]->shape, wrt[i]->dtype, wrt[i]->device);
  }
  return found;
}

}  // namespace sinter::inline v1::jit
