#include <sinter/dsl/expression_view.hpp>

#include <algorithm>

#include <sinter/dsl/lazy.hpp>
#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1::detail {

bool has_reshaping(const jit::Recorded& e) noexcept {
  return std::ranges::any_of(e.graph.nodes(), [](const jit::Node& n) { return changes_shape(n.op); });
}

std::vector<TensorImpl*> elementwise_leaves(const jit::Recorded& e) {
  std::vector<TensorImpl*> leaves;
  for (const std::uint32_t number : e.elementwise()) leaves.push_back(e.leaves[number]);
  return leaves;
}

namespace {

/// What `of` makes of each leaf, broadcast to the shape; once for equal leaves.
template <class Result>
std::vector<Result> of_leaves(std::span<TensorImpl* const> leaves, const Shape& shape,
                              runtime::FunctionRef<Result(TensorImpl&)> of) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::size_t twin = static_cast<std::size_t>(std::ranges::find(leaves.first(i), leaves[i]) - leaves.begin());
    results.push_back(twin < i ? results[twin] : of(*expand(*leaves[i], shape)));
  }
  return results;
}

/// Whether one of the views is a copy: a reshape of strided memory.
bool has_copies(std::span<TensorImpl* const> leaves, std::span<const TensorRef> views) noexcept {
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (views[i]->buffer != leaves[i]->buffer) return true;
  return false;
}

/// The same graph with its leaves replaced, except those that are gathered from: leaf_of(0), leaf_of(1), ...
template <class F>
jit::LazyRef with_leaves(jit::Recorded graph, F leaf_of) {
  std::size_t walked = 0;
  for (const std::uint32_t i : graph.elementwise()) {
    graph.held.push_back(leaf_of(walked++));
    graph.leaves[i] = graph.held.back().get();
  }
  return jit::lazy(graph);
}

}  // namespace

std::vector<TensorRef> views_of_leaves(std::span<TensorImpl* const> leaves, const Shape& shape, MakeView view) {
  return of_leaves(leaves, shape, view);
}
std::vector<std::vector<TensorRef>> parts_of_leaves(std::span<TensorImpl* const> leaves, const Shape& shape,
                                                    MakeViews views) {
  return of_leaves(leaves, shape, views);
}

jit::LazyRef view_of_result(const jit::LazyRef& e, const TensorRef& result, const TensorImpl& view) {
  return jit::lazy(const_cast<TensorImpl&>(view), jit::Origin{{e}, {}, result});
}

jit::LazyRef view_of(const jit::LazyRef& e, MakeView view) {
  const jit::Recorded graph = jit::record_for_copy(e);
  if (!has_reshaping(graph)) {
    const std::vector<TensorImpl*> leaves = elementwise_leaves(graph);
    const std::vector<TensorRef> views = views_of_leaves(leaves, result_shape(graph), view);
    if (!has_copies(leaves, views)) return with_leaves(graph, [&](std::size_t i) { return views[i]; });
  }
  const TensorRef result = jit::evaluate_one(e);
  return view_of_result(e, result, *view(*result));
}

std::vector<jit::LazyRef> parts_of(const jit::LazyRef& e, MakeViews views) {
  const jit::Recorded graph = jit::record_for_copy(e);
  std::vector<jit::LazyRef> parts;
  if (has_reshaping(graph)) {
    const TensorRef result = jit::evaluate_one(e);
    for (const TensorRef& part : views(*result)) parts.push_back(view_of_result(e, result, *part));
    return parts;
  }
  const std::vector<std::vector<TensorRef>> of_leaf =
      parts_of_leaves(elementwise_leaves(graph), result_shape(graph), views);
  for (std::size_t part = 0; !of_leaf.empty() && part < of_leaf[0].size(); ++part)
    parts.push_back(with_leaves(graph, [&](std::size_t i) { return of_leaf[i][part]; }));
  return parts;
}

}  // namespace sinter::inline v1::detail
