// DataParallel: shards of a batch, results joined, copies that follow.
#include <sinter/nn/data_parallel.hpp>

#include <string>
#include <vector>

#include "nets.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
namespace nn = sinter::nn;

std::vector<sn::Shape> seen;
std::vector<sn::Device> places;

struct Model : nn::Module<Model> {
  nn::Linear fc{5, 2};
  nn::Dropout drop{0.5};
  nn::Members members() { return nn::members("fc", fc, "drop", drop); }
  template <class X>
  auto operator()(const X& x) const {
    seen.push_back(x.shape());
    places.push_back(x.device());
    return drop(fc(x));
  }
};

std::vector<sn::Mesh> meshes() {
  const sn::Device cpu, a(0), b(1);
  return {sn::Mesh({cpu}), sn::Mesh({a}), sn::Mesh({a, b}), sn::Mesh({a, b, cpu}), sn::Mesh({cpu, cpu, cpu, cpu})};
}

TEST(DataParallel, IsTheNet) {
  for (const sn::Mesh& mesh : meshes())
    for (const std::int64_t rows : {0, 1, 2, 7, 30}) {
      Model net;
      net.eval();
      nn::DataParallel parallel(net, mesh);
      const sn::Tensor x = numbers({rows, 5});
      const sn::Tensor expected = net(x), got = parallel(x);
      EXPECT_EQ(got.device(), mesh.device(0));
      EXPECT_EQ(got.shape(), sn::Shape(rows, 2));
      EXPECT_TRUE(sn::allclose(got.cpu(), expected, 1e-5, 1e-6)) << to_string(mesh) << rows;
    }
}

TEST(DataParallel, SplitsAsTheTutorialShows) {
  const sn::Device a(0), b(1);
  nn::DataParallel parallel(Model(), sn::Mesh({a, b, a}));
  const auto sizes = [&](std::int64_t rows) {
    seen.clear();
    places.clear();
    (void)parallel(numbers({rows, 5}));
    std::vector<std::int64_t> counts;
    for (const sn::Shape& s : seen) counts.push_back(s[0]);
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(30), (Counts{10, 10, 10}));
  EXPECT_EQ(places, (std::vector<sn::Device>{a, b, a}));
  EXPECT_EQ(sizes(10), (Counts{4, 4, 2}));
  EXPECT_EQ(sizes(2), (Counts{1, 1})) << "a device without rows is left alone";
  EXPECT_EQ(sizes(0), (Counts{0}));
  nn::DataParallel one(Model(), sn::Mesh({b}));
  seen.clear();
  (void)one(numbers({30, 5}));
  EXPECT_EQ(seen, std::vector<sn::Shape>{sn::Shape(30, 5)});
}

TEST(DataParallel, TakesBatchesFromAnywhere) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  Model net;
  net.eval();
  nn::DataParallel parallel(net, mesh);
  const sn::Tensor x = numbers({9, 5});
  const sn::Tensor expected = net(x);
  for (const sn::Device device : devices()) EXPECT_TRUE(sn::allclose(parallel(x.to(device)).cpu(), expected));
  EXPECT_TRUE(sn::allclose(parallel(sn::shard(x, mesh)).cpu(), expected));
  EXPECT_TRUE(sn::allclose(parallel(x * 1 + 0).cpu(), expected)) << "an expression";
  EXPECT_NE(message_of<sn::ShapeError>([&] { (void)parallel(sn::tensor(1.f)); }).find("dim 0"), std::string::npos);
}

TEST(DataParallel, CopiesFollowTheFirst) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  Model net;
  nn::DataParallel parallel(net, mesh);
  parallel.eval();
  const sn::Tensor x = numbers({6, 5});
  const auto check = [&] {
    const sn::Tensor expected = parallel.net()(x.to(sn::Device(0)));
    EXPECT_TRUE(sn::allclose(parallel(x).cpu(), expected.cpu()));
  };
  check();
  parallel.net().fc.weight += 1;
  check();
  parallel.net().fc.bias = sn::full({2}, 3.f, sn::Device(0));  // another array
  check();
  parallel.load_state_dict(net.state_dict());
  check();
  parallel.train();
  const sn::Tensor dropped = parallel(sn::ones({2000, 5})).cpu();
  EXPECT_GT(sn::Tensor((dropped == 0).to<float>().mean()).item(), 0.2f);
  const sn::Tensor second = dropped.narrow(0, 1000, 1000);
  EXPECT_GT(sn::Tensor((second == 0).to<float>().mean()).item(), 0.2f) << "the second copy is in training, too";
}

TEST(DataParallel, AnotherViewOfTheSameMemoryIsFollowed) {
  const sn::Device cpu, a(0), b(1);
  for (const sn::Mesh& mesh : {sn::Mesh({a, b}), sn::Mesh({cpu, cpu})}) {
    nn::DataParallel parallel(nn::Linear(5, 5), mesh);
    const sn::Tensor x = numbers({6, 5});
    const sn::Tensor all = numbers({2, 5, 5}).to(mesh.device(0));
    for (const sn::Tensor<float>& weight :
         {sn::Tensor<float>(all[0]), sn::Tensor<float>(all[1]), sn::Tensor<float>(all[1].t())}) {
      parallel.net().weight = weight;
      const sn::Tensor expected = parallel.net()(x.to(mesh.device(0)));
      EXPECT_TRUE(sn::allclose(parallel(x).cpu(), expected.cpu(), 1e-5, 1e-6)) << to_string(mesh);
    }
    EXPECT_TRUE(sn::allclose(all.cpu(), numbers({2, 5, 5}))) << "and not written to";
  }
}

TEST(DataParallel, WhatIsLoadedBeforeTheFirstCallIsFollowed) {
  Model net, other;
  nn::DataParallel parallel(net, sn::Mesh({sn::Device(0), sn::Device(1)}));
  parallel.eval();
  other.eval();
  parallel.load_state_dict(other.state_dict());
  const sn::Tensor x = numbers({6, 5});
  const sn::Tensor expected = other(x);
  EXPECT_TRUE(sn::allclose(parallel(x).cpu(), expected, 1e-5, 1e-6));
  parallel.net().fc.bias = sn::zeros({1}, sn::Device(0));
  EXPECT_NE(message_of<sn::Error>([&] { (void)parallel(x); }).find("make a new DataParallel"), std::string::npos);
}

std::vector<const void*> addresses;

struct Several : nn::Module<Several> {
  nn::Linear fc{3, 2};
  nn::Members members() { return nn::members("fc", fc); }
  template <class X, class Y>
  auto operator()(const X& x, const Y& scale, float shift) const {
    addresses.push_back(sn::Tensor<float>(x).data());
    const sn::Tensor<float> y = fc(x) * scale + shift;
    return std::tuple(y, sn::Tensor<std::int64_t>(y.argmax(1)), sn::Tensor<float>(y.sum()));
  }
};

TEST(DataParallel, SeveralOperandsAndResults) {
  const sn::Device a(0), b(1), cpu;
  for (const sn::Mesh& mesh : {sn::Mesh({a, b}), sn::Mesh({cpu, a, b}), sn::Mesh({cpu, cpu, cpu, cpu, cpu})})
    for (const std::int64_t rows : {1, 4, 9}) {
      const Several net;
      const nn::DataParallel parallel(net, mesh);
      const sn::Tensor x = numbers({rows, 3}), scale = numbers({rows, 1});
      const auto [y, best, sum] = net(x, scale, 0.5f);
      const auto [got_y, got_best, got_sums] = parallel(x, scale.to(b), 0.5f);
      EXPECT_TRUE(sn::allclose(got_y.cpu(), y, 1e-5, 1e-6));
      EXPECT_TRUE(sn::equal(got_best.cpu(), best));
      EXPECT_EQ(got_best.device(), mesh.device(0));
      const std::int64_t used = (rows - 1) / ((rows - 1) / mesh.size() + 1) + 1;
      EXPECT_EQ(got_sums.shape(), sn::Shape({used})) << "a number from each device";
      EXPECT_TRUE(sn::allclose(got_sums.cpu().sum(), sum, 1e-4, 1e-5));
    }
  const nn::DataParallel parallel(Several(), sn::Mesh({a, b}));
  EXPECT_NE(message_of<sn::ShapeError>([&] {
              (void)parallel(numbers({4, 3}), numbers({1, 1}), 1.f);
            }).find("the batch has 4 rows, but another operand is float32 (1, 1) on cpu"),
            std::string::npos);
  const nn::DataParallel one(Several(), sn::Mesh({b}));
  EXPECT_EQ(std::get<2>(one(numbers({4, 3}), numbers({4, 1}), 1.f)).shape(), sn::Shape()) << "the net's own result";
}

TEST(DataParallel, ShardsOfTheMeshAreUsedWhereTheyLie) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const nn::DataParallel parallel(Several(), mesh);
  const sn::Tensor x = numbers({5, 3}), scale = numbers({5, 1});
  const auto [expected, best, sums] = parallel(x, scale, 0.f);
  const auto sharded = sn::shard(x, mesh);
  const auto calls = [&](const auto& batch) {
    addresses.clear();
    EXPECT_TRUE(sn::allclose(std::get<0>(parallel(batch, scale, 0.f)), expected, 1e-5, 1e-6));
    return addresses;
  };
  EXPECT_EQ(calls(sharded), (std::vector<const void*>{sharded.shard(0).data(), sharded.shard(1).data()}));
  calls(sn::shard(x, mesh, 1));
  calls(sn::replicate(x, mesh));
  calls(sn::shard(x, sn::Mesh({sn::Device(1), sn::Device(), sn::Device(0)})));
}

TEST(DataParallel, CopiesOfItShareItsTensors) {  // as copies of any module
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const nn::Linear net(5, 2);
  nn::DataParallel parallel(net, mesh);
  const sn::Tensor x = numbers({4, 5});
  const sn::Tensor own = net(x), shifted = own + 1;
  EXPECT_TRUE(sn::allclose(parallel(x).cpu(), own, 1e-5, 1e-6));
  nn::DataParallel copy = parallel, moved = std::move(parallel);
  parallel = copy;
  copy.net().bias += 1;
  for (const auto* p : {&copy, &moved, &parallel}) EXPECT_TRUE(sn::allclose((*p)(x).cpu(), shifted, 1e-5, 1e-6));
}

TEST(DataParallel, InASequential) {
  const sn::Device cpu;
  const nn::Linear net(5, 2);
  const nn::Sequential around(nn::DataParallel(net, sn::Mesh({cpu, cpu})), nn::ReLU());
  const sn::Tensor x = numbers({7, 5});
  EXPECT_TRUE(sn::allclose(around(x), nn::ReLU()(net(x)), 1e-5, 1e-6));
}

TEST(DataParallel, KeysAndPrint) {
  nn::DataParallel parallel(nn::Linear(5, 2), sn::Mesh({sn::Device(0), sn::Device(1)}));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parallel.state_dict()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"module.weight", "module.bias"}));
  EXPECT_EQ(printed(parallel), "DataParallel(\n  (module): Linear(in_features=5, out_features=2, bias=True)\n)");
  nn::Linear plain(5, 2);
  plain.load_state_dict(parallel.state_dict());
  EXPECT_TRUE(sn::equal(plain.weight, parallel.net().weight.cpu()));
  parallel.load_state_dict(nn::Linear(5, 2).state_dict());
}

}  // namespace
}  // namespace sinter_tests
