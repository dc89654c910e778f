// The layers as functions. Most are operations on expressions, made available under this namespace too.
#pragma once
#include <sinter/dsl/functions.hpp>
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/loss.hpp>
#include <sinter/dsl/matmul.hpp>
#include <sinter/dsl/normalize.hpp>
#include <sinter/dsl/operators.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/dsl/reduce.hpp>
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1::nn::functional {

using sinter::binary_cross_entropy;
using sinter::cosine_similarity;
using sinter::cross_entropy;
using sinter::dropout;
using sinter::embedding;
using sinter::gelu;
using sinter::gelu_tanh;
using sinter::group_norm;
using sinter::layer_norm;
using sinter::log_softmax;
using sinter::mse_loss;
using sinter::nll_loss;
using sinter::normalize;
using sinter::one_hot;
using sinter::relu;
using sinter::rms_norm;
using sinter::sigmoid;
using sinter::silu;
using sinter::softmax;
using sinter::tanh;

/// x times the transpose of a weight (out, in), over the last axis of x: (..., in) gives (..., out). Throws what matmul
/// throws.
template <expression X, expression W>
auto linear(X&& x, const W& weight) {
  return matmul(std::forward<X>(x), weight.t());
}
template <expression X, expression W, expression B>
auto linear(X&& x, const W& weight, const B& bias) {
  return linear(std::forward<X>(x), weight) + bias;
}

}  // namespace sinter::inline v1::nn::functional
