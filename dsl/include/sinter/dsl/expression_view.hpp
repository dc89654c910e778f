// Views of expressions. Operations work element by element, so a view of a result is the same tree over views of its
// leaves, each first broadcast to the whole result. Leaves that are gathered from stay unchanged. An expression that
// reduces or multiplies matrices is evaluated, and a view of the result is a lazy expression, which knows where it
// comes from: gradients flow through it.
#pragma once
#include <sinter/dsl/bind.hpp>
#include <sinter/dsl/extents.hpp>

namespace sinter::inline v1::detail {

/// The views of each leaf of an expression of this shape; of equal leaves, the same ones.
std::vector<TensorRef> views_of_leaves(std::span<TensorImpl* const> leaves, const Shape& shape, MakeView view);
std::vector<std::vector<TensorRef>> parts_of_leaves(std::span<TensorImpl* const> leaves, const Shape& shape,
                                                    MakeViews views);

/// The expression without the extents of its type, which a view does not have.
template <class T, class D, class Tree, int L, int S, int B>
auto dynamic(Expression<T, D, Tree, L, S, B> e) {
  using Result = Expression<T, D, typename Dynamic<Tree>::type, L, S, B>;
  if constexpr (has_extents<Tree>)
    return Result(FromOperands{}, e);
  else
    return e;
}

/// The same tree with its leaves replaced, except those that are gathered from: leaf_of(0), leaf_of(1), ...
template <class E, class F>
auto with_leaves(const E& e, F leaf_of) {
  auto result = dynamic(e);
  std::size_t next = 0;
  for (std::size_t i = 0; i < E::leaf_count; ++i) {
    if (is_array_leaf<E>[i]) continue;
    TensorRef leaf = leaf_of(next++);
    drop(result.value.leaves + i, 1);
    result.value.leaves[i] = held(leaf);
  }
  return result;
}

template <class T, class D, class Tree, int L, int S, int B>
auto view_of(const Expression<T, D, Tree, L, S, B>& e, MakeView view) {
  if constexpr (reshapes<Expression<T, D, Tree, L, S, B>>) {
    return view_of(Lazy<T, D>(e), view);
  } else {
    const std::vector<TensorRef> views = views_of_leaves(elementwise_leaves(e), result_shape(detail::bind(e)), view);
    return with_leaves(e, [&](std::size_t i) { return views[i]; });
  }
}
template <class T, class D, class Tree, int L, int S, int B>
auto parts_of(const Expression<T, D, Tree, L, S, B>& e, MakeViews view) {
  static_assert(L > 0, "numbers have no axis to split along");
  if constexpr (reshapes<Expression<T, D, Tree, L, S, B>>) {
    return parts_of(Lazy<T, D>(e), view);
  } else {
    const std::vector<std::vector<TensorRef>> views =
        parts_of_leaves(elementwise_leaves(e), result_shape(detail::bind(e)), view);
    std::vector<decltype(dynamic(e))> parts;
    for (std::size_t part = 0; part < views[0].size(); ++part)
      parts.push_back(with_leaves(e, [&](std::size_t i) { return views[i][part]; }));
    return parts;
  }
}

}  // namespace sinter::inline v1::detail
