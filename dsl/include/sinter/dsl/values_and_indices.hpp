// Results that are two tensors.
#pragma once
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

/// Elements and their int64 positions along an axis: auto [values, indices] = x.topk(5). The values of an expression
/// are a Lazy, through which gradients flow.
template <element_or_any T, class D = AnyDevice, class Values = Tensor<T, D>>
struct ValuesAndIndices {
  Values values;
  Tensor<std::int64_t, D> indices;
};

/// auto [min, max] = aminmax(x)
template <element_or_any T, class D = AnyDevice>
struct MinAndMax {
  Tensor<T, D> min, max;
};

/// auto [var, mean] = var_mean(x), also for std_mean(x): the variance or the standard deviation, and the mean.
template <element_or_any T, class D = AnyDevice>
struct DeviationAndMean {
  Tensor<T, D> deviation, mean;
};

}  // namespace sinter::inline v1
