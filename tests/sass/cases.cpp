#include <fmt/format.h>

#include "kernels.hpp"

namespace sass {
namespace {

namespace sn = sinter;
using Operands = std::span<const sn::AnyTensor>;

void add_elementwise(std::vector<Case>& all) {
  const std::string n = "[16777216]", square = "[4096, 4096]";
  const auto x = [&](const char* dtype) { return fmt::format("x: {}{}", dtype, n); };
  const auto xy = [&](const char* dtype) { return fmt::format("x: {0}{1}, y: {0}{1}", dtype, n); };
  all.insert(all.end(), {
                            {"chain", "exp(x + 2) * y", xy("f32")},
                            {"chain_f16", "exp(x + 2) * y", xy("f16")},
                            {"chain_bf16", "exp(x + 2) * y", xy("bf16")},
                            {"chain_f64", "exp(x + 2) * y", xy("f64")},
                            {"axpy", "2.5 * x + y", xy("f32")},
                            {"axpy_bf16", "2.5 * x + y", xy("bf16")},
                            {"distance", "sqrt(square(a - b) + square(c - d))",
                             fmt::format("a: f32{0}, b: f32{0}, c: f32{0}, d: f32{0}", n)},
                            {"pow", "x ** 3", x("f32")},
                            {"gelu", "gelu(x)", x("f32")},
                            {"gelu_f16", "gelu(x)", x("f16")},
                            {"gelu_bf16", "gelu(x)", x("bf16")},
                            {"gelu_tanh", "gelu_tanh(x)", x("f32")},
                            {"int32", "(x * 3 + y) // 7", xy("i32")},
                            {"int64", "(x + y) & 255", xy("i64")},
                            {"where", "where(x > y, x, 2 * y)", xy("f32")},
                            {"compare", "x < y", xy("f32")},
                            {"row", "x + b", fmt::format("x: f32{}, b: f32[4096]", square)},
                            {"row_bf16", "x + b", fmt::format("x: bf16{}, b: bf16[4096]", square)},
                            {"column", "x + b", fmt::format("x: f32{}, b: f32[4096, 1]", square)},
                            {"transposed", "x + y.T", fmt::format("x: f32{0}, y: f32{0}", square)},
                            {"transposed_bf16", "x + y.T", fmt::format("x: bf16{0}, y: bf16{0}", square)},
                            {"strided", "exp(x[:, ::2])", "x: f32[4096, 8192]"},
                        });
}

void add_random_and_gathers(std::vector<Case>& all) {
  all.insert(
      all.end(),
      {
          {"rand", "", "x: f32[16777216]", [](Operands in) -> sn::AnyTensor { return sn::rand_like<float>(in[0]); }},
          {"dropout", "", "x: f32[16777216]",
           [](Operands in) -> sn::AnyTensor { return sn::dropout(sn::Tensor<float, sn::Cuda<>>(in[0]), 0.1); }},
          {"embedding", "embedding(weight, ids)", "weight: f32[30000, 1024], ids: i64[32768]"},
          {"embedding_bf16", "embedding(weight, ids)", "weight: bf16[30000, 1024], ids: i64[32768]"},
          {"take", "x[ids]", "x: f32[16777216], ids: i64[16777216]"},
          {"index_select", "index_select(x, 1, ids)", "x: f32[4096, 4096], ids: i64[4096]"},
      });
}

/// A function of rows, at these widths; about 16 million elements in all.
void add_rows(std::vector<Case>& all, const std::string& name, const std::string& text, const std::string& dtype,
              std::initializer_list<int> widths, const std::string& more = "") {
  for (const int width : widths) {
    const std::string suffix = dtype == "f32" ? "" : "_" + dtype;
    all.push_back(
        {fmt::format("{}_{}{}", name, width, suffix), fmt::format(fmt::runtime(text), width),
         fmt::format("x: {}[{}, {}]", dtype, 16777216 / width, width) + fmt::format(fmt::runtime(more), dtype, width)});
  }
}

void add_all_rows(std::vector<Case>& all) {
  add_rows(all, "softmax", "softmax(x, -1)", "f32", {64, 256, 1000, 1024, 4096, 8192, 32768, 131072});
  add_rows(all, "softmax", "softmax(x, -1)", "bf16", {256, 1024, 8192, 131072});
  add_rows(all, "log_softmax", "log_softmax(x, -1)", "f32", {256, 1024, 8192, 131072});
  const std::string weights = ", w: {0}[{1}], b: {0}[{1}]";
  add_rows(all, "layer_norm", "layer_norm(x, {})", "f32", {64, 256, 1000, 1024, 4096, 8192, 32768, 131072});
  add_rows(all, "layer_norm_affine", "layer_norm(x, {}, w, b)", "f32", {1024}, weights);
  add_rows(all, "layer_norm_affine", "layer_norm(x, {}, w, b)", "bf16", {4096}, weights);
  add_rows(all, "rms_norm", "rms_norm(x, {})", "f32", {1024, 8192});
  add_rows(all, "rms_norm", "rms_norm(x, {})", "bf16", {4096});
  add_rows(all, "logsumexp", "logsumexp(x, -1)", "f32", {1024, 8192, 131072});
  add_rows(all, "logsumexp", "logsumexp(x, -1)", "bf16", {131072});
  add_rows(all, "argmax", "argmax(x, -1)", "f32", {1024, 4096, 131072});
  add_rows(all, "argmax", "argmax(x, -1)", "bf16", {4096});
  add_rows(all, "amax", "amax(x, -1)", "f32", {1024});
  add_rows(all, "sum", "sum(x, -1)", "f32", {64, 256, 1000, 1024, 4096, 8192, 32768, 131072});
  add_rows(all, "sum", "sum(x, -1)", "bf16", {1024, 8192});
  add_rows(all, "mean", "mean(x, -1)", "f32", {1024});
  add_rows(all, "var", "var(x, -1)", "f32", {1024, 8192, 131072});
  add_rows(all, "norm", "norm(x, 2, -1)", "f32", {4096});
}

template <class T>
sn::AnyTensor cross_entropy(Operands in) {
  using D = sn::Cuda<>;
  return sn::cross_entropy(sn::Tensor<T, D>(in[0]), sn::Tensor<std::int64_t, D>(in[1]));
}

/// Elements, and their sum.
template <class T, int Dim>
sn::AnyTensor relu_and_sum(Operands in) {
  const sn::Tensor<T, sn::Cuda<>> x(in[0]);
  return std::get<0>(sn::evaluate(sn::relu(x), sn::sum(sn::relu(x), Dim)));
}
template <class T, int Dim>
sn::AnyTensor gelu_and_sum(Operands in) {
  const sn::Tensor<T, sn::Cuda<>> x(in[0]);
  return std::get<0>(sn::evaluate(sn::gelu(x), sn::sum(sn::gelu(x), Dim)));
}

void add_other_reductions(std::vector<Case>& all) {
  all.insert(
      all.end(),
      {
          {"sum_all", "sum(x)", "x: f32[16777216]"},
          {"sum_all_bf16", "sum(x)", "x: bf16[16777216]"},
          {"columns", "sum(x, 0)", "x: f32[16384, 1024]"},
          {"columns_bf16", "sum(x, 0)", "x: bf16[16384, 1024]"},
          {"columns_few", "sum(x, 0)", "x: f32[1048576, 16]"},
          {"softmax_columns", "softmax(x, 0)", "x: f32[1024, 16384]"},
          {"relu_and_rows", "", "x: f32[16384, 1024]", relu_and_sum<float, 1>},
          {"relu_and_rows_131072", "", "x: f32[128, 131072]", relu_and_sum<float, 1>},
          {"relu_and_columns", "", "x: f32[16384, 1024]", relu_and_sum<float, 0>},
          {"relu_and_columns_bf16", "", "x: bf16[16384, 1024]", relu_and_sum<sn::bfloat16, 0>},
          {"gelu_and_rows", "", "x: f32[16384, 1024]", gelu_and_sum<float, 1>},
          {"gelu_and_columns", "", "x: f32[16384, 1024]", gelu_and_sum<float, 0>},
          {"gelu_and_columns_bf16", "", "x: bf16[16384, 1024]", gelu_and_sum<sn::bfloat16, 0>},
          {"layer_norm_columns", "(x - mean(x, 0, True)) * rsqrt(var(x, 0, 0, True) + 1e-5)", "x: f32[16384, 1024]"},
          {"rms_norm_columns", "x * rsqrt(mean(x * x, 0, True) + 1e-5)", "x: f32[16384, 1024]"},
          {"two_axes", "sum(x, axis=(0, 2))", "x: f32[64, 256, 1024]"},
          {"cross_entropy_32000", "", "x: f32[512, 32000], t: i64[512]", cross_entropy<float>},
          {"cross_entropy_32000_bf16", "", "x: bf16[512, 32000], t: i64[512]", cross_entropy<sn::bfloat16>},
      });
}

void add_scans_and_sorts(std::vector<Case>& all) {
  all.insert(
      all.end(),
      {
          {"cumsum_rows", "", "x: f32[4096, 4096]", [](Operands in) -> sn::AnyTensor { return sn::cumsum(in[0], -1); }},
          {"cumsum_long", "", "x: f32[16777216]", [](Operands in) -> sn::AnyTensor { return sn::cumsum(in[0], 0); }},
          {"sort_rows", "", "x: f32[16384, 1024]",
           [](Operands in) -> sn::AnyTensor { return sn::sort(in[0], -1).values; }},
      });
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all;
  add_elementwise(all);
  add_random_and_gathers(all);
  add_all_rows(all);
  add_other_reductions(all);
  add_scans_and_sorts(all);
  return all;
}

}  // namespace sass
