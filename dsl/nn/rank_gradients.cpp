// Results that several devices computed from their parts of the operands, with gradients of every order.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <sinter/dsl/history.hpp>
#include <sinter/dsl/join.hpp>
#include <sinter/dsl/view.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/grad.hpp>
#include <sinter/nn/data_parallel.hpp>

namespace sinter::inline v1::detail {
namespace {

using Values = std::vector<jit::LazyRef>;  // by rank
using Arrays = std::vector<TensorRef>;     // by rank

/// How an array of the whole call relates to those of the ranks.
struct Layout {
  bool by_rows;  // the ranks' rows, one after another; else each rank has all of it, and gradients add up
  Device home;   // of the whole
};

/// A rank's part of an array.
struct Part {
  Shape shape;
  Device device;
};

/// Where a rank's rows are in the whole. A 0-d array counts as a row.
TensorRef place_of(const TensorImpl& whole, std::int64_t& row, const Shape& shape) {
  const std::int64_t first = row;
  row += shape.empty() ? 1 : shape[0];
  return shape.empty() ? select(whole, 0, first) : narrow(whole, 0, first, shape[0]);
}

TensorRef copy_of(const TensorImpl& x, Device device) {
  TensorRef copy = runtime::empty(x.shape, x.dtype, device);
  jit::copy(*copy, x);
  return copy;
}

TensorRef joined(const Arrays& parts, Device home) {
  std::vector<Shape> shapes;
  for (const TensorRef& part : parts) shapes.push_back(part->shape.empty() ? Shape(1) : part->shape);
  TensorRef whole = runtime::empty(layout_of_cat(shapes, 0).shape, parts[0]->dtype, home);
  std::int64_t row = 0;
  for (const TensorRef& part : parts) jit::copy(*place_of(*whole, row, part->shape), *part);
  return whole;
}

jit::LazyRef sum_of(const Arrays& parts, Device home) {
  jit::LazyRef sum;
  for (const TensorRef& part : parts) {
    const jit::LazyRef here = jit::lazy(*jit::to(*part, part->dtype, home));
    sum = sum ? jit::lazy(Op::add, std::array{sum, here}) : here;
  }
  return sum;
}

/// The whole of each result; null where there are no parts. Sums are evaluated together.
Arrays wholes_of(const std::vector<Arrays>& results, const std::vector<Layout>& layouts) {
  Arrays wholes(results.size());
  std::vector<jit::LazyRef> sums;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (results[k].empty()) continue;
    if (layouts[k].by_rows)
      wholes[k] = joined(results[k], layouts[k].home);
    else
      sums.push_back(sum_of(results[k], layouts[k].home));
  }
  Arrays found(sums.size());
  if (!sums.empty()) jit::evaluate(sums, found.data());
  auto next = found.begin();
  for (std::size_t k = 0; k < results.size(); ++k)
    if (!results[k].empty() && !layouts[k].by_rows) wholes[k] = std::move(*next++);
  return wholes;
}

/// What each rank has of the whole: copies, because gradients tell arrays apart by their memory.
Arrays distributed(const TensorImpl& whole, Layout layout, const std::vector<Part>& parts) {
  Arrays arrays;
  std::int64_t row = 0;
  for (const auto& [shape, device] : parts)
    arrays.push_back(layout.by_rows ? copy_of(*place_of(whole, row, shape), device) : copy_of(whole, device));
  return arrays;
}

/// What the ranks compute from: parameters, batches and, for gradients, those of results.
class Call : public std::enable_shared_from_this<Call> {
 public:
  explicit Call(std::vector<RankOperand> operands) : operands_(std::move(operands)) {}

  /// Results of each rank's values, which are evaluated together; null where no rank has one. `values` by result.
  std::vector<jit::LazyRef> combined(std::vector<Values> values, const std::vector<Layout>& layouts) const {
    const std::vector<Arrays> arrays = evaluated(values);
    const Arrays wholes = wholes_of(arrays, layouts);
    std::vector<jit::LazyRef> results(values.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      if (wholes[k]) results[k] = leaf(wholes[k], std::move(values[k]), arrays[k], layouts[k]);
    return results;
  }

 private:
  /// All of a rank's values at once, rank after rank, so that devices compute at the same time.
  static std::vector<Arrays> evaluated(const std::vector<Values>& values) {
    std::vector<Arrays> arrays(values.size());
    std::size_t ranks = 0;
    for (const Values& v : values) ranks = std::max(ranks, v.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Values of_rank;
      for (const Values& v : values)
        if (!v.empty()) of_rank.push_back(v[rank]);
      Arrays found(of_rank.size());
      jit::evaluate(of_rank, found.data());
      auto next = found.begin();
      for (std::size_t k = 0; k < values.size(); ++k)
        if (!values[k].empty()) arrays[k].push_back(std::move(*next++));
    }
    return arrays;
  }

  jit::LazyRef leaf(const TensorRef& whole, Values values, const Arrays& arrays, Layout layout) const {
    std::vector<jit::LazyRef> inputs;
    for (const RankOperand& o : operands_) inputs.push_back(o.whole);
    std::vector<Part> parts;
    for (const TensorRef& a : arrays) parts.push_back({a->shape, a->device});
    return with_history(whole, std::move(inputs),
                        [call = shared_from_this(), values = std::move(values), parts, layout](
                            const jit::LazyRef& gradient) { return call->pull_back(values, parts, layout, gradient); });
  }

  /// The gradients with respect to the operands, which are results of a call themselves: its operands are those of this
  /// one, and the gradient.
  std::vector<jit::LazyRef> pull_back(const Values& values, const std::vector<Part>& parts, Layout layout,
                                      const jit::LazyRef& gradient) const {
    TensorRef whole;
    jit::evaluate({&gradient, 1}, &whole);
    std::vector<RankOperand> operands = operands_;
    operands.push_back({gradient, layout.by_rows, distributed(*whole, layout, parts)});
    const Arrays& seeds = operands.back().parts;
    std::vector<Layout> layouts;
    for (const RankOperand& o : operands_) layouts.push_back({o.by_rows, o.whole->device()});
    return std::make_shared<const Call>(operands)->combined(gradients(values, seeds), layouts);
  }

  /// By operand; empty where no rank's value depends on it.
  std::vector<Values> gradients(const Values& values, const Arrays& seeds) const {
    const std::size_t ranks = values.size();
    std::vector<Values> found(operands_.size(), Values(ranks));
    const auto find = [&](std::size_t rank, jit::UnusedInput unused) {
      std::vector<TensorImpl*> sources;
      for (const RankOperand& o : operands_) sources.push_back(o.parts[rank].get());
      const Values of_rank = jit::gradients(values[rank], sources, jit::lazy(*seeds[rank]), unused);
      for (std::size_t k = 0; k < found.size(); ++k)
        if (!found[k].empty() && !found[k][rank]) found[k][rank] = of_rank[k];
    };
    const auto is_null = [](const jit::LazyRef& g) { return !g; };
    for (std::size_t rank = 0; rank < ranks; ++rank) find(rank, jit::UnusedInput::Null);
    for (Values& v : found)
      if (std::ranges::all_of(v, is_null)) v.clear();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (std::ranges::any_of(found, [&](const Values& v) { return !v.empty() && !v[rank]; }))
        find(rank, jit::UnusedInput::Zeros);
    return found;
  }

  std::vector<RankOperand> operands_;
};

}  // namespace

std::vector<jit::LazyRef> join_ranks(std::vector<RankOperand> operands, std::vector<std::vector<jit::LazyRef>> values,
                                     Device home, bool by_rows) {
  const std::vector<Layout> layouts(values.size(), {by_rows, home});
  return std::make_shared<const Call>(std::move(operands))->combined(std::move(values), layouts);
}

}  // namespace sinter::inline v1::detail
