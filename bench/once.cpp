// Parts that an expression uses several times, compared with a Tensor for each part: both should take as long.
//   bench_once --benchmark_enable_random_interleaving --benchmark_repetitions=9
#include <benchmark/benchmark.h>

#include <sinter/nn.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
namespace functional = sinter::nn::functional;

namespace {

using Matrix = sn::Tensor<float, sn::Cpu>;

Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return Matrix((sn::arange<float>(rows * columns) * 0.37f).sin().reshape({rows, columns}));
}
/// The part itself, or a Tensor of it.
template <bool named>
auto part(const auto& e) {
  if constexpr (named)
    return Matrix(e);
  else
    return e;
}

/// A product used four times.
template <bool named>
void loss(benchmark::State& state) {
  const Matrix x = matrix(1000, 1000), v = matrix(1000, 1000) * 0.01f;
  for (auto _ : state) {
    const auto p = part<named>(sn::sigmoid(sn::matmul(x, v)));
    const Matrix l = sn::mean(p * sn::log(p) + (1 - p) * sn::log(1 - p));
    benchmark::DoNotOptimize(l.data());
  }
}

/// A network whose result is used twice.
template <bool named>
void network(benchmark::State& state) {
  const Matrix x = matrix(256, 512), w = matrix(512, 512) * 0.05f, v = matrix(512, 512) * 0.05f, b = matrix(1, 512);
  for (auto _ : state) {
    const auto y = part<named>(functional::linear(sn::relu(functional::linear(x, w, b[0])), v, b[0]));
    const Matrix r = y * sn::tanh(y);
    benchmark::DoNotOptimize(r.data());
  }
}

/// A part combined with numbers; named is only the part, times itself.
template <bool named>
void numbers(benchmark::State& state) {
  const Matrix x = matrix(1000, 1000);
  Matrix r = matrix(1000, 1000);
  for (auto _ : state) {
    if constexpr (named)
      r.assign(sn::let(sn::exp(x * 2 + 1), [](const auto& e) { return e * e; }));
    else
      r.assign(sn::exp(x * 2 + 1) * sn::exp(x * 2 + 1));
    benchmark::DoNotOptimize(r.data());
  }
}

#define SINTER_PAIR(name)                                        \
  BENCHMARK(name<false>)->Name(#name "/written")->UseRealTime(); \
  BENCHMARK(name<true>)->Name(#name "/named")->UseRealTime()
SINTER_PAIR(loss);
SINTER_PAIR(network);
SINTER_PAIR(numbers);

}  // namespace
