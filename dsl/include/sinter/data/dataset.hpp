// Datasets: samples by number.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <utility>

#include <sinter/data/sample.hpp>

namespace sinter::inline v1 {

/// The type of one sample of a dataset.
template <class D>
using sample_of = std::remove_cvref_t<decltype(std::declval<const D&>()[std::int64_t{}])>;

/// Anything with size() and, for each i from 0, a sample [i]: a tensor, or a tuple or struct of tensors (sample.hpp).
/// Both are const, since a loader's threads call them at the same time.
template <class D>
concept Dataset = requires(const D& data, std::int64_t i) {
  { data.size() } -> std::convertible_to<std::int64_t>;
  data[i];
} && sample<sample_of<D>>;

namespace detail {

/// The extent of axis 0, which all tensors share. Throws ShapeError.
std::int64_t common_rows(std::initializer_list<const runtime::TensorImpl*> tensors);
/// The given positions of axis 0, on x's device.
runtime::TensorRef rows_at(const AnyTensor& x, const Tensor<std::int64_t, Cpu>& positions);

}  // namespace detail

/// Tensors whose first axis counts samples: sample i is x[i], or for several tensors the tuple of x[i], y[i], ... The
/// tensors are shared, not copied. Throws ShapeError if their extents along axis 0 differ.
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
  /// Returns views. Negative numbers count from the end. Throws IndexError.
  Sample operator[](std::int64_t i) const {
    return std::apply([&](const Tensors&... x) { return Sample{x[i]...}; }, tensors_);
  }
  /// The given samples as one batch, gathered at once. Throws IndexError.
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

/// `length` samples of `size` normal numbers each, for experiments. Throws ShapeError.
class RandomDataset : public TensorDataset<Tensor<float, Cpu>> {
 public:
  /// Draws like randn.
  RandomDataset(std::int64_t size, std::int64_t length);
  /// The numbers that randn draws after manual_seed(seed); the process's generator is not affected.
  RandomDataset(std::int64_t size, std::int64_t length, std::uint64_t seed);
};

}  // namespace sinter::inline v1
