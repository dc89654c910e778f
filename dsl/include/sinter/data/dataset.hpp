// Datasets: samples by their numbers.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <utility>

#include <sinter/data/sample.hpp>

namespace sinter::inline v1 {

/// What a dataset gives for one sample.
template <class D>
using sample_of = std::remove_cvref_t<decltype(std::declval<const D&>()[std::int64_t{}])>;

/// Anything with size() and, for each i from 0 on, a sample [i]: a tensor, or a tuple or struct of tensors. Both are
/// const: a loader's threads call them at the same time.
template <class D>
concept Dataset = requires(const D& data, std::int64_t i) {
  { data.size() } -> std::convertible_to<std::int64_t>;
  data[i];
} && sample<sample_of<D>>;

namespace detail {

/// The extent that all have along axis 0. Throws ShapeError.
std::int64_t common_rows(std::initializer_list<const runtime::TensorImpl*> tensors);
/// Those positions of axis 0, on x's device.
runtime::TensorRef rows_at(const AnyTensor& x, const Tensor<std::int64_t, Cpu>& positions);

}  // namespace detail

/// Tensors whose first axis counts samples: sample i is x[i], or the tuple of x[i], y[i], ... of several. They are
/// shared, not copied. Throws ShapeError where their extents along axis 0 differ.
template <class... Tensors>
class TensorDataset {
  static_assert(sizeof...(Tensors) > 0 && (detail::is_tensor_type<Tensors> && ...),
                "a TensorDataset is made of tensors");

 public:
  using Sample = std::conditional_t<sizeof...(Tensors) == 1, std::tuple_element_t<0, std::tuple<Tensors...>>,
                                    std::tuple<Tensors...>>;

  explicit TensorDataset(Tensors... tensors)
      : size_(detail::common_rows({&tensors.impl()...})), tensors_(std::move(tensors)...) {}

  std::int64_t size() const noexcept { return size_; }
  /// Views. Negative numbers count from the end. Throws IndexError.
  Sample operator[](std::int64_t i) const {
    return std::apply([&](const Tensors&... x) { return Sample{x[i]...}; }, tensors_);
  }
  /// Those samples as one batch, gathered at once. Throws IndexError.
  Sample batch(const Tensor<std::int64_t, Cpu>& positions) const {
    return std::apply([&](const Tensors&... x) { return Sample{Tensors(detail::rows_at(x, positions))...}; }, tensors_);
  }
  const std::tuple<Tensors...>& tensors() const noexcept { return tensors_; }

 private:
  std::int64_t size_;
  std::tuple<Tensors...> tensors_;
};

template <expression... E>
TensorDataset(E&&...) -> TensorDataset<Tensor<detail::deduced_element<E>, detail::deduced_device<E>>...>;

/// `length` samples of `size` normal numbers each, for trying things out. Throws ShapeError.
class RandomDataset : public TensorDataset<Tensor<float, Cpu>> {
 public:
  /// Drawn as randn draws them.
  RandomDataset(std::int64_t size, std::int64_t length);
  /// What randn draws after manual_seed(seed), which it leaves alone.
  RandomDataset(std::int64_t size, std::int64_t length, std::uint64_t seed);
};

}  // namespace sinter::inline v1
