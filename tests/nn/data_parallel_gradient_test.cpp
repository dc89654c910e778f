// Gradients through DataParallel, and training: those of the net on one device.
#include <sinter/nn/data_parallel.hpp>
#include <sinter/optim.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "nets.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
namespace nn = sinter::nn;

std::vector<sn::Mesh> training_meshes() {
  const sn::Device cpu, a(0), b(1);
  return {sn::Mesh({a}), sn::Mesh({a, b}), sn::Mesh({b, cpu, a}), sn::Mesh({cpu, cpu, cpu, cpu, cpu})};
}

// A layer that is not used among others.
struct PartlyUsed : nn::Module<PartlyUsed> {
  nn::Linear in{4, 6}, unused{2, 2}, out{6, 3};
  nn::LayerNorm norm{6};
  nn::Members members() { return nn::members("in", in, "unused", unused, "norm", norm, "out", out); }
  template <class X>
  auto operator()(const X& x) const {
    return out(sn::tanh(norm(in(x))) + 1);
  }
};

/// Up to roundings of the largest elements: sums of many terms cancel.
template <class A, class B>
void expect_near_all(const A& got, const B& wanted, const std::string& what) {
  const Doubles a = doubles(got), b = doubles(wanted);
  ASSERT_EQ(a.size(), b.size()) << what;
  double largest = 0;
  for (const double value : b) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 3e-5 * largest + 1e-6) << what << ", element " << i;
}
template <class A, class B>
void expect_alike(const std::vector<A>& got, const std::vector<B>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_near_all(sn::Tensor<float>(sn::cast<float>(got[i])), sn::Tensor<float>(sn::cast<float>(wanted[i])),
                    what + ", tensor " + std::to_string(i));
}

TEST(DataParallelGradient, OfParametersAndBatches) {
  for (const sn::Mesh& mesh : training_meshes())
    for (const std::int64_t rows : {1, 2, 7, 30}) {
      const std::string what = to_string(mesh) + ", " + std::to_string(rows) + " rows";
      PartlyUsed net;
      nn::DataParallel parallel(net, mesh);
      const sn::Tensor<float> x = numbers({rows, 4}), weights = numbers({rows, 3}, {}, 2);
      const auto loss = (net(sn::Lazy(x) * 2) * weights).square().sum();
      const auto parallel_loss = (parallel(sn::Lazy(x) * 2) * weights.to(mesh.device(0))).square().sum();
      EXPECT_TRUE(sn::allclose(sn::Tensor(loss), sn::Tensor(parallel_loss).cpu(), 1e-5, 1e-6)) << what;
      const auto wanted = sn::grad(loss, net.parameters(), sn::unused::zeros);
      const auto got = sn::grad(parallel_loss, parallel.parameters(), sn::unused::zeros);
      expect_alike(got, wanted, what);
      expect_near_all(sn::grad(parallel_loss, x), sn::grad(loss, x), what);
      // Of the gradients, with respect to both.
      const auto penalty = wanted[0].square().sum(), parallel_penalty = got[0].square().sum();
      expect_alike(sn::grad(parallel_penalty, parallel.parameters(), sn::unused::zeros),
                   sn::grad(penalty, net.parameters(), sn::unused::zeros), "second, " + what);
      const auto along_x = sn::grad(parallel_loss, x).square().sum();
      expect_alike(sn::grad(along_x, parallel.parameters(), sn::unused::zeros),
                   sn::grad(sn::grad(loss, x).square().sum(), net.parameters(), sn::unused::zeros), "mixed, " + what);
    }
}

TEST(DataParallelGradient, OfTheBatchThatTheResultIsMultipliedBy) {
  const sn::Tensor<float> x = numbers({5, 3});
  const nn::Linear net(3, 3);
  for (const sn::Mesh& mesh : training_meshes()) {
    const nn::DataParallel parallel(net, mesh);
    const sn::Tensor<float> here = x.to(mesh.device(0));
    const auto wanted = sn::grad((net(sn::Lazy(x)) * x).sum(), x);
    const auto got = sn::grad((parallel(sn::Lazy(here)) * here).sum(), here);
    EXPECT_TRUE(sn::allclose(sn::Tensor(got).cpu(), wanted, 1e-5, 1e-6)) << to_string(mesh);
  }
}

struct SeveralResults : nn::Module<SeveralResults> {
  nn::Linear fc{3, 2};
  nn::Members members() { return nn::members("fc", fc); }
  template <class X, class Y>
  auto operator()(const X& x, const Y& scale, float shift) const {
    const auto y = fc(x) * scale + shift;
    return std::tuple(y, y.argmax(1), y.square().sum());
  }
};

TEST(DataParallelGradient, OfSeveralResults) {
  for (const sn::Mesh& mesh : {sn::Mesh({sn::Device(0), sn::Device(1)}), sn::Mesh({sn::Device(), sn::Device()})}) {
    SeveralResults net;
    nn::DataParallel parallel(net, mesh);
    const sn::Tensor<float> x = numbers({5, 3}), scale = numbers({5, 1});
    const auto [y, best, sum] = net(x, scale, 0.5f);
    const auto [got_y, got_best, got_sums] = parallel(x, scale, 0.5f);
    EXPECT_TRUE(sn::equal(sn::Tensor(got_best).cpu(), best));
    expect_alike(sn::grad(got_y.exp().sum() + got_sums.sum(), parallel.parameters()),
                 sn::grad(y.exp().sum() + sum, net.parameters()), to_string(mesh));
  }
}

struct SharedLayers : nn::Module<SharedLayers> {
  nn::Linear a{3, 3}, b = a;
  nn::Members members() { return nn::members("a", a, "b", b); }
  template <class X>
  auto operator()(const X& x) const {
    return b(sn::tanh(a(x)));
  }
};

TEST(DataParallelGradient, OfSharedParametersCountsOnce) {
  for (const sn::Mesh& mesh : training_meshes()) {
    SharedLayers net;
    nn::DataParallel parallel(net, mesh);
    const sn::Tensor<float> x = numbers({6, 3});
    expect_alike(sn::grad(parallel(x).square().sum(), parallel.parameters()),
                 sn::grad(net(x).square().sum(), net.parameters()), to_string(mesh));
  }
}

TEST(DataParallelGradient, OfPositionsThatAreExpressions) {
  for (const sn::Mesh& mesh : training_meshes()) {
    nn::Embedding net(5, 3);
    nn::DataParallel parallel(net, mesh);
    const sn::Tensor<std::int64_t> ids = sn::tensor<std::int64_t>({0, 4, 4, 1, 2, 0, 3});
    const sn::Lazy<sn::AnyType> any = sn::Lazy(sn::AnyTensor(ids)) + 0;
    expect_alike(sn::grad(sn::cast<float>(parallel(any)).square().sum(), parallel.parameters()),
                 sn::grad(net(ids).square().sum(), net.parameters()), to_string(mesh));
  }
}

struct Reduced : nn::Module<Reduced> {
  nn::Linear fc{3, 2};
  nn::Members members() { return nn::members("fc", fc); }
  template <class X>
  auto operator()(const X& x) const {
    return fc(x).sum();
  }
};
struct Outer : nn::Module<Outer> {
  nn::Linear fc{3, 2};
  nn::Members members() { return nn::members("fc", fc); }
  template <class X>
  auto operator()(const X& x) const {
    return sn::matmul(fc(x), sn::Tensor<float>(fc(x)).t());
  }
};

TEST(DataParallelGradient, EarlierResultsStayDifferentiable) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  nn::Linear net(4, 2);
  nn::DataParallel parallel(net, mesh);
  (void)parallel.net().weight.data();  // writes through the pointer are not seen: each call copies it
  const sn::Tensor<float> x = numbers({6, 4}), y = numbers({5, 4}, {}, 2);
  const auto got = sn::grad(parallel(x).square().sum() + parallel(y).exp().sum(), parallel.parameters());
  expect_alike(got, sn::grad(net(x).square().sum() + net(y).exp().sum(), net.parameters()), "two calls");
  const auto loss = parallel(x).square().sum();
  auto copy = parallel;
  (void)copy(x);
  parallel.net().weight = sn::Tensor<float>(parallel.net().weight + 1);  // another array
  (void)parallel(x);
  EXPECT_NO_THROW((void)sn::grad(loss, parallel.net().bias));
}

TEST(DataParallelGradient, FaultsOfEveryRankAreReported) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  nn::DataParallel parallel(nn::Embedding(5, 3), mesh);
  const sn::Tensor<std::int64_t> ids = sn::tensor<std::int64_t>({0, 1, 2, 9});  // 9 is the second rank's
  EXPECT_THROW(for (int call = 0; call < 3; ++call)(void) sn::Tensor<float>(parallel(ids).sum()).item(),
               sn::IndexError);
}

TEST(DataParallelGradient, KeepsShapesOrRefusesThem) {
  const sn::Tensor<float> x = numbers({3, 3});
  const nn::DataParallel one(Reduced(), sn::Mesh({sn::Device(1)}));
  EXPECT_EQ(sn::Tensor<float>(one(x)).shape(), sn::Shape());
  EXPECT_EQ(sn::Tensor<float>(one(sn::Lazy(x) * 2)).shape(), sn::Shape());
  const nn::DataParallel outer(Outer(), sn::Mesh({sn::Device(0), sn::Device(1)}));
  EXPECT_NE(message_of<sn::ShapeError>([&] { (void)outer(x); }).find("sizes of tensors must match"), std::string::npos);
}

template <class Optimizer, class Options>
void expect_the_same_training(const Options& options) {
  for (const sn::Mesh& mesh : training_meshes()) {
    PartlyUsed net;
    nn::DataParallel parallel(net, mesh);
    const sn::Tensor before = net.unused.weight.clone();
    PartlyUsed own = net;
    own.to_(sn::Device(0));  // parameters of its own
    const sn::Tensor<float> x = numbers({9, 4});
    const sn::Tensor<std::int64_t> y = sn::arange(9) % 3;
    Optimizer one(own.parameters(), options), all(parallel.parameters(), options);
    for (int step = 0; step < 4; ++step) {
      const auto loss = one.step(sn::cross_entropy(own(x.to(sn::Device(0))), y.to(sn::Device(0))));
      const auto got = all.step(sn::cross_entropy(parallel(x), y.to(mesh.device(0))));
      EXPECT_TRUE(sn::allclose(sn::Tensor(got).cpu(), sn::Tensor(loss).cpu(), 1e-4, 1e-5)) << step;
    }
    expect_alike(parallel.parameters(), own.parameters(), to_string(mesh));
    EXPECT_TRUE(sn::equal(parallel.net().unused.weight.cpu(), before)) << "it has no gradient";
  }
}

TEST(DataParallelGradient, TrainsAsOneDevice) {
  expect_the_same_training<sn::optim::SGD>(sn::optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
  expect_the_same_training<sn::optim::AdamW>(sn::optim::AdamOptions{.lr = 0.01, .weight_decay = 0.1});
}

TEST(DataParallelGradient, ALossBeforeAnUpdateIsOutdated) {
  nn::DataParallel parallel(nn::Linear(4, 2), sn::Mesh({sn::Device(0), sn::Device(1)}));
  const auto loss = sn::Lazy(parallel(numbers({6, 4})).square().sum());
  parallel.net().weight += 1;
  EXPECT_NE(message_of<sn::Error>([&] { (void)sn::grad(loss, parallel.parameters()); }).find("written to"),
            std::string::npos);
}

}  // namespace
}  // namespace sinter_tests
