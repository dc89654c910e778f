// Every other function of the library with tensors on a mesh: the result is that of one device, or a DeviceError
// or ShapeError says what to do instead.
#include <sinter/dsl/sharded.hpp>
#include <sinter/prepare.hpp>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using sn::Lazy;

std::vector<sn::Mesh> small_meshes() {
  const sn::Device a(0), b(1);
  return {sn::Mesh(std::vector<sn::Device>(3)), sn::Mesh({a, b}), sn::Mesh(std::vector<sn::Device>(1))};
}
sn::Tensor<float> sines(const sn::Shape& shape) {
  return ((sn::arange(shape.numel()).to<float>() * 0.37f).sin() * 3).reshape(shape);
}

/// f of tensors of one device, and of the same sharded; what it gives as tensors of any dtype.
using Of = std::function<sn::AnyTensor(const sn::Tensor<float>&, const sn::Tensor<std::int64_t>&)>;

void expect_right(const char* what, const Of& f, const sn::Shape& shape = {7, 4}) {
  const sn::Tensor<float> x = sines(shape);
  const sn::Tensor<std::int64_t> i = sn::arange(7) % 3;
  const sn::Tensor expected = f(x.clone(), i).to<double>();
  for (const sn::Mesh& mesh : small_meshes()) {
    const sn::Tensor<float> s{sn::shard(x, mesh)};
    const sn::Tensor<std::int64_t> si{sn::shard(i, mesh)};
    try {
      const sn::Tensor got = sn::gather(f(s, si)).to<double>();
      ASSERT_EQ(got.shape(), expected.shape()) << what;
      EXPECT_TRUE(sn::allclose(got, expected, 1e-5, 1e-5, true)) << what << " on " << to_string(mesh) << printed(got);
    } catch (const sn::Error& e) {
      ADD_FAILURE() << what << " on " << to_string(mesh) << ": " << e.what();
    }
  }
}
void expect_refused(const char* what, const Of& f, const sn::Shape& shape = {7, 4}) {
  const sn::Mesh mesh = small_meshes()[1];
  const sn::Tensor<float> s{sn::shard(sines(shape), mesh)};
  const sn::Tensor<std::int64_t> si{sn::shard(sn::arange(7) % 3, mesh)};
  try {
    (void)f(s, si);
    ADD_FAILURE() << what << " was not refused";
  } catch (const sn::Error& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.find("mesh(") != std::string::npos || text.find("sharded") != std::string::npos)
        << what << ": " << text;
    EXPECT_TRUE(text.find("gather(x") != std::string::npos || text.find("replicate(x") != std::string::npos ||
                text.find("x.cpu()") != std::string::npos || text.find(".cpu()") != std::string::npos ||
                text.find("shard(i)") != std::string::npos)
        << what << ": " << text;
  }
}
#define RIGHT(...)                                                 \
  expect_right(#__VA_ARGS__, [](auto x, auto i) -> sn::AnyTensor { \
    (void)x, (void)i;                                              \
    return sn::AnyTensor(__VA_ARGS__);                             \
  })
#define REFUSED(...)                                                 \
  expect_refused(#__VA_ARGS__, [](auto x, auto i) -> sn::AnyTensor { \
    (void)x, (void)i;                                                \
    return sn::AnyTensor(__VA_ARGS__);                               \
  })

TEST(ShardedFunctions, WritesAtIndicesAreRefused) {
  REFUSED(sn::Tensor<float>(x.scatter_(0, sn::Tensor<std::int64_t>(i.unsqueeze(1)), 2.f)));
  REFUSED(sn::Tensor<float>(x.scatter_add_(0, sn::Tensor<std::int64_t>(i.unsqueeze(1)), x)));
  REFUSED(sn::Tensor<float>(x.index_add_(0, i, x)));
  REFUSED(sn::Tensor<float>(x.index_copy_(0, i, x)));
  REFUSED(sn::Tensor<float>(x.index_fill_(0, i, 3.f)));
  REFUSED(sn::Tensor<float>(x.index_put_({i}, 3.f)));
  REFUSED(sn::Tensor<float>(x.index_put_({i}, x, true)));
}

TEST(ShardedFunctions, WhatChoosesByValuesIsRefused) {
  REFUSED(sn::nonzero(x > 0));
  REFUSED(sn::nonzero(x));
  REFUSED(sn::masked_select(x, x > 0));
  REFUSED(sn::masked_select(x, sn::Tensor(x > 0)));
  REFUSED(sn::Tensor<float>(x[sn::Tensor(x > 0)]));
  const sn::Mesh mesh = small_meshes()[1];
  const sn::Tensor<float> r{sn::replicate(sines({7, 4}), mesh)};
  EXPECT_THROW((void)sn::nonzero(r), sn::DeviceError);
  EXPECT_THROW((void)sn::masked_select(r, r > 0), sn::DeviceError);
  const sn::Tensor<float> none{sn::shard(sines({0, 4}), mesh)};
  EXPECT_THROW((void)sn::masked_select(none, none > 0), sn::DeviceError);
  EXPECT_THROW((void)sn::nonzero(none), sn::DeviceError);
}

TEST(ShardedFunctions, MemoryOfOneDeviceIsRefused) {
  const sn::Mesh mesh = small_meshes()[1];
  const auto refused = [](auto f) { return message_of<sn::DeviceError>(f); };
  for (sn::Tensor<float> s :
       {sn::Tensor<float>(sn::shard(sines({4, 2}), mesh)), sn::Tensor<float>(sn::replicate(sines({4, 2}), mesh))}) {
    EXPECT_NE(refused([&] { (void)s.span(); }), "");
    EXPECT_NE(refused([&] { (void)s.accessor<2>(); }), "");
    EXPECT_NE(refused([&] { (void)s.data(); }), "");
    EXPECT_NE(refused([&] { (void)s.pin_memory(); }), "");
    EXPECT_NE(refused([&] { (void)sn::to_dlpack(s); }).find("gather(x"), std::string::npos);
    EXPECT_NE(refused([&] { (void)sn::to_dlpack(s, {.copy = true}); }), "");
    EXPECT_NE(refused([&] { (void)sn::to_dlpack_unversioned(s); }), "");
    EXPECT_FALSE(s.is_pinned());
    EXPECT_FALSE(s.is_cuda());
  }
  EXPECT_NE(refused([&] { (void)sn::memory_stats(mesh); }), "");
  EXPECT_NE(refused([&] { (void)sn::empty_cache(mesh); }), "");
  EXPECT_NE(refused([&] { sn::reset_peak_memory(mesh); }), "");
  EXPECT_NE(refused([&] { (void)sn::Stream(sn::Device(mesh)); }), "");
  EXPECT_NE(refused([&] { (void)sn::default_stream(mesh); }), "");
  EXPECT_NE(refused([&] { (void)sn::current_stream(mesh); }), "");
}

TEST(ShardedFunctions, FilesHaveAllOfIt) {
  const std::string folder = ::testing::TempDir();
  const sn::Tensor<float> x = sines({7, 4});
  for (const sn::Mesh& mesh : small_meshes())
    for (const int axis : {0, 1}) {
      const sn::Tensor<float> s{sn::shard(x, mesh, axis)};
      sn::save_npy(folder + "/sharded.npy", s);
      EXPECT_TRUE(sn::equal(sn::load_npy<float>(folder + "/sharded.npy"), x));
      sn::save_npy(folder + "/sharded.npy", s.t());
      EXPECT_TRUE(sn::equal(sn::load_npy<float>(folder + "/sharded.npy"), x.t()));
      EXPECT_TRUE(sn::equal(sn::gather(sn::load_npy<float>(folder + "/sharded.npy", sn::Device(mesh))), x.t()));
      sn::save_npz(folder + "/sharded.npz", {{"s", s}});
      EXPECT_TRUE(sn::equal(sn::load_npz(folder + "/sharded.npz").at("s").as<float>(), x));
      EXPECT_TRUE(
          sn::equal(sn::gather(sn::load_npz(folder + "/sharded.npz", sn::Device(mesh)).at("s").as<float>()), x));
      sn::save_safetensors(folder + "/sharded.safetensors", {{"s", s}});
      EXPECT_TRUE(sn::equal(sn::load_safetensors(folder + "/sharded.safetensors").at("s").as<float>(), x));
      EXPECT_TRUE(sn::equal(
          sn::gather(sn::load_safetensors(folder + "/sharded.safetensors", sn::Device(mesh)).at("s").as<float>()), x));
    }
}

TEST(ShardedFunctions, OperationsAreThoseOfOneDevice) {
  RIGHT(x.masked_fill_(x > 0, 2.f));
  RIGHT(sn::masked_fill(x, x > 0, 2.f));
  RIGHT(sn::cat({x, x}, 1));
  RIGHT(sn::cat(1, x, x + 1));
  RIGHT(sn::stack({x, x}, 1));
  RIGHT(sn::stack(2, x, x * 2));
  RIGHT(sn::roll(x, sn::Shape(1), sn::Shape(1)));
  RIGHT(sn::layer_norm(x, sn::Shape(4)));
  RIGHT(sn::layer_norm(x, x.shape()));
  RIGHT(sn::rms_norm(x, sn::Shape(4)));
  RIGHT(sn::normalize(x, 2., 0));
  RIGHT(sn::cosine_similarity(x, x + 1, 0));
  RIGHT(sn::mse_loss(x, x * 2));
  RIGHT(sn::huber_loss(x, x * 2));
  RIGHT(sn::cross_entropy(x, i));
  RIGHT(sn::nll_loss(sn::Tensor(sn::log_softmax(x, 1)), i));
  RIGHT(sn::binary_cross_entropy_with_logits(x, sn::sigmoid(x)));
  RIGHT(sn::one_hot(i, 3));
  RIGHT(sn::let(x.sum(0), [&](auto v) { return x * v + v; }));
  RIGHT(sn::eager(x * 2 + x.mean(0)));
  RIGHT(x.flip(1));
  RIGHT(x.cumsum(1));
  RIGHT(sn::zeros_like(x));
  RIGHT(sn::full_like(x, 3));
}

TEST(ShardedFunctions, RanksWithoutRowsTakePart) {
  const sn::Mesh mesh(std::vector<sn::Device>(8));
  const std::vector<std::pair<const char*, std::function<sn::AnyTensor(const sn::Tensor<float>&)>>> reductions{
      {"sum", [](const auto& x) { return x.sum(0); }},
      {"mean", [](const auto& x) { return x.mean(0); }},
      {"prod", [](const auto& x) { return x.prod(0); }},
      {"var", [](const auto& x) { return x.var(0); }},
      {"logsumexp", [](const auto& x) { return x.logsumexp(0); }},
      {"softmax", [](const auto& x) { return x.softmax(0); }},
      {"log_softmax", [](const auto& x) { return x.log_softmax(0); }},
      {"norm", [](const auto& x) { return sn::norm(x, 2, 0); }},
      {"any", [](const auto& x) { return (x > 0).any(0); }},
      {"all", [](const auto& x) { return (x > 0).all(0); }},
      {"amax", [](const auto& x) { return x.amax(0); }},
      {"argmin", [](const auto& x) { return x.argmin(0); }},
      {"amax of all", [](const auto& x) { return x.amax(); }},
      {"centred", [](const auto& x) { return (x - x.mean(0)) / (x.std(0) + 1); }}};
  for (const std::int64_t rows : {3, 1, 0})
    for (const auto& [what, f] : reductions) {
      const sn::Tensor<float> x = sines({rows, 4});
      const auto outcome = [&](const sn::Tensor<float>& t) -> std::variant<sn::AnyTensor, std::string> {
        try {
          return f(t);
        } catch (const sn::Error& e) {
          return std::string(e.what());
        }
      };
      const auto expected = outcome(x), got = outcome(sn::Tensor<float>(sn::shard(x, mesh)));
      ASSERT_EQ(got.index(), expected.index())
          << what << " of " << rows << " rows: " << (got.index() ? std::get<1>(got) : "");
      if (got.index() == 1) continue;
      EXPECT_TRUE(
          sn::allclose(sn::gather(std::get<0>(got)).to<double>(), std::get<0>(expected).to<double>(), 1e-5, 1e-5, true))
          << what << " of " << rows << " rows";
    }
}

TEST(ShardedFunctions, PartsOfComplexNumbersAreRefused) {
  for (const sn::Mesh& mesh : small_meshes()) {
    const sn::Tensor z = sn::complex(sines({6, 2}), sines({6, 2}));
    const auto s = sn::shard(z, mesh), r = sn::replicate(z, mesh);
    for (const auto& t : {s, r}) {
      EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)sn::view_as_real(t); }), testing::HasSubstr("x.shard(i)"));
      EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)sn::view_as_complex(sn::shard(sines({6, 2}), mesh)); }),
                  testing::HasSubstr("x.shard(i)"));
    }
  }
}

TEST(ShardedFunctions, ReadsAtIndicesOfShardsAreRefused) {
  REFUSED(sn::gather(x, 1, sn::Tensor(i.unsqueeze(1))));
  REFUSED(sn::take(x, i));
  REFUSED(sn::index_select(x, 0, i));
}

TEST(ShardedFunctions, EinsumIsThatOfOneDevice) {
  RIGHT(sn::einsum("ij->i", x));
  RIGHT(sn::einsum("ij->j", x));
  RIGHT(sn::einsum("ij->", x));
  RIGHT(sn::einsum("ij->ji", x));
  RIGHT(sn::einsum("ij,ik->jk", x, x));
  RIGHT(sn::einsum("ij,ij->ij", x, x));
  RIGHT(sn::einsum("ij,ij->i", x, x));
  RIGHT(sn::einsum("ij,ij->", x, x));
  REFUSED(sn::einsum("ij,kj->ik", x, x));
}

TEST(ShardedFunctions, WhatShowsAnEvaluationShowsIt) {
  for (const sn::Mesh& mesh : small_meshes()) {
    sn::Tensor<float> s{sn::shard(sines({7, 4}), mesh)};
    const auto all = [&](auto e) {
      sn::prepare(e);
      sn::prepare_async(e).get();
      EXPECT_NE(sn::explain(e), "");
      EXPECT_NE(sn::to_dot(e), "");
      (void)sn::cuda_source(e);
      EXPECT_EQ(sn::Tensor(e).device(), sn::Device(mesh));
    };
    all(s * 2 + 1);
    all(s.sum(0));
    all(sn::softmax(s, 0));
    all(s.argmax(0));
    all(sn::matmul(s.t(), s));
    all(sn::Lazy<float>(s) * 2);
    sn::evaluate(sn::into(s, s + 1));
    EXPECT_THROW(sn::evaluate(sn::into(s, s.sum(1))), sn::ShapeError);
  }
}

}  // namespace
}  // namespace sinter_tests
