// Tensors on a mesh: properties, views, sharding and gathering; expressions compared with those of one device.
#include <sinter/dsl/sharded.hpp>
#include <sinter/runtime/communicator.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "devices.hpp"
#include "gathered.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using sn::amin, sn::argsort, sn::count_nonzero, sn::cummax, sn::cumsum, sn::embedding, sn::matmul, sn::median, sn::prod,
    sn::rsqrt, sn::softmax, sn::sort, sn::sum, sn::topk, sn::where;

/// Ranks on the CPU and on two GPUs, some of them more than once. GPUs need a kernel for each expression: if only the
/// number of ranks matters, all are on the CPU.
std::vector<sn::Mesh> meshes() {
  const sn::Device a(0), b(1);
  const auto cpus = [](std::size_t ranks) { return sn::Mesh(std::vector<sn::Device>(ranks)); };
  return {cpus(1), cpus(2), sn::Mesh({a, b, a}), cpus(4), cpus(8)};
}
std::vector<sn::Mesh> gpu_meshes() {
  const sn::Device a(0), b(1);
  return {sn::Mesh({a}), sn::Mesh({a, b}), sn::Mesh({a, b, a, b}), sn::Mesh({a, a, b, b, a, a, b, b})};
}

/// Numbers that differ, negative ones among them. On a device of the kind that they are compared with: functions differ
/// in their last bits between CPUs and GPUs.
sn::Tensor<float> numbers(const sn::Shape& shape, float scale = 1, sn::Device device = {}) {
  const sn::Tensor<float> x = (sn::arange(shape.numel()).to<float>() * 0.37f - 2.5f).reshape(shape) * scale;
  return x.to(device);
}

TEST(Sharded, ShardsHaveTheDocumentedRows) {
  const auto rows_of = [](std::int64_t rows, int ranks) {
    const sn::Tensor s = sn::shard(numbers({rows, 2}), sn::Mesh(std::vector<sn::Device>(ranks)));
    std::vector<std::int64_t> counts;
    for (int i = 0; i < ranks; ++i) counts.push_back(s.shard(i).size(0));
    EXPECT_EQ(s.shape(), sn::Shape(rows, 2));
    EXPECT_TRUE(same(s, numbers({rows, 2})));
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(rows_of(30, 3), (Counts{10, 10, 10}));
  EXPECT_EQ(rows_of(10, 3), (Counts{4, 4, 2}));
  EXPECT_EQ(rows_of(2, 3), (Counts{1, 1, 0}));
  EXPECT_EQ(rows_of(1, 4), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(rows_of(0, 2), (Counts{0, 0}));
  EXPECT_EQ(rows_of(9, 8), (Counts{2, 2, 2, 2, 1, 0, 0, 0}));
}

TEST(Sharded, LivesOnTheMeshsDevices) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const sn::Sharded<float> s = sn::shard(numbers({3, 2}), mesh);
  EXPECT_EQ(s.device(0), sn::Device(0));
  EXPECT_EQ(s.device(1), sn::Device(1));
  EXPECT_EQ(s.shard(1).device(), sn::Device(1));
  EXPECT_EQ(s.mesh(), mesh);
  EXPECT_EQ(to_string(s.device()), "mesh(cuda:0, cuda:1)");
  EXPECT_EQ(printed(s),
            "tensor([[-2.5000, -2.1300],\n        [-1.7600, -1.3900],\n        [-1.0200, -0.6500]], "
            "device='mesh(cuda:0, cuda:1)')");
  EXPECT_NE(message_of<sn::IndexError>([&] { (void)s.shard(2); }), "");
  EXPECT_NE(message_of<sn::IndexError>([&] { (void)s.shard(-1); }), "");
  const sn::Tensor<float> here = numbers({2});
  EXPECT_NE(message_of<sn::DeviceError>([&] { (void)here.shard(0); }), "");
  EXPECT_NE(message_of<sn::DeviceError>([&] { (void)s.data(); }), "");
}

TEST(Sharded, WrapsTensorsThatAreThere) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  const std::vector<sn::Tensor<float>> shards{numbers({2, 2}).to(sn::Device(0)), numbers({1, 2}).to(sn::Device(1))};
  sn::Sharded<float> s = sn::from_shards(shards, mesh);
  EXPECT_EQ(s.shape(), sn::Shape(3, 2));
  s *= 2;
  EXPECT_TRUE(same(shards[0], numbers({2, 2}) * 2)) << "nothing was copied";
  const auto refused = [&](std::vector<sn::Tensor<float>> wrong) {
    return message_of<sn::Error>([&] { (void)sn::from_shards(wrong, mesh); });
  };
  EXPECT_NE(refused({shards[1].to(sn::Device(0)), shards[0].to(sn::Device(1))}).find("ceil"), std::string::npos);
  EXPECT_NE(refused({shards[0], shards[0]}).find(".to(device)"), std::string::npos);
  EXPECT_NE(refused({shards[0]}), "");
  EXPECT_NE(refused({numbers({}).to(sn::Device(0)), numbers({}).to(sn::Device(1))}), "");
  EXPECT_NE(refused({numbers({2, 2}).to(sn::Device(0)).t(), shards[1]}).find("contiguous"), std::string::npos);
}

TEST(Sharded, ElementwiseIsBitForBitThatOfOneDevice) {
  std::vector<sn::Mesh> all = meshes();
  for (const sn::Mesh& mesh : gpu_meshes()) all.push_back(mesh);
  for (const sn::Mesh& mesh : all)
    for (const std::int64_t rows : {0, 1, 2, 7, 30, 65}) {
      const sn::Device one = mesh.device(0);
      const sn::Tensor x = numbers({rows, 3}, 1, one), y = numbers({rows, 1}, 0.5f, one), b = numbers({3}, 1, one);
      const sn::Tensor sx = sn::shard(x, mesh), sy = sn::shard(y, mesh), rb = sn::replicate(b, mesh);
      EXPECT_TRUE(same((sx + 2).exp() * sy - rb, (x + 2).exp() * y - b)) << to_string(mesh) << rows;
      EXPECT_TRUE(same(where(sx > rb, sx, sy * 3), where(x > b, x, y * 3)));
      EXPECT_TRUE(same(sx.to<sn::half>() + 1, x.to<sn::half>() + 1));
      // All of it on every rank; each takes its part.
      EXPECT_TRUE(same(sx + sn::replicate(x * 2, mesh), x + x * 2));
      EXPECT_TRUE(near(sx * sn::replicate(x, mesh) + sn::replicate(x, mesh).sum(), x * x + x.sum()));
    }
}

TEST(Sharded, ReductionsOfWholeRowsTellNobody) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({13, 6}, 1, mesh.device(0));
    const sn::Tensor s = sn::shard(x, mesh);
    const auto before = mesh.communicator().traffic().messages;
    EXPECT_TRUE(same(s.sum(1), x.sum(1)));
    EXPECT_TRUE(same(softmax(s * 2, -1), softmax(x * 2, -1)));
    EXPECT_TRUE(same(s.argmax(1), x.argmax(1)));
    EXPECT_TRUE(same(s - s.mean(1, true), x - x.mean(1, true)));
    EXPECT_EQ(mesh.communicator().traffic().messages, before);
  }
}

TEST(Sharded, ReductionsOverShardsAreJoined) {
  for (const sn::Mesh& mesh : meshes())
    for (const std::int64_t rows : {2, 30}) {
      const sn::Tensor x = numbers({rows, 5, 2});
      const sn::Tensor s = sn::shard(x, mesh);
      EXPECT_TRUE(near(s.sum(), x.sum())) << to_string(mesh) << rows;
      EXPECT_TRUE(near(s.sum(0), x.sum(0)));
      EXPECT_TRUE(near(sum(s, {0, 2}, true), sum(x, {0, 2}, true)));
      EXPECT_TRUE(near(s.mean(0), x.mean(0)));
      EXPECT_TRUE(same(s.amax(0), x.amax(0)));
      EXPECT_TRUE(same(amin(s, {0, 1}), amin(x, {0, 1})));
      EXPECT_TRUE(same(s.argmax(0), x.argmax(0)));
      EXPECT_TRUE(same(s.argmin(), x.argmin()));
      EXPECT_TRUE(near(s.var(0), x.var(0)));
      EXPECT_TRUE(near(softmax(s, 0), softmax(x, 0)));
      EXPECT_TRUE(near(s.logsumexp(0), x.logsumexp(0)));
      EXPECT_TRUE(near(prod(s * 0.1f, 0), prod(x * 0.1f, 0)));
      EXPECT_TRUE(same((s > 0).any(0), (x > 0).any(0)));
      EXPECT_TRUE(same((s > -9).all(), (x > -9).all()));
      EXPECT_TRUE(same(count_nonzero(s > 0, 0), count_nonzero(x > 0, 0)));
      EXPECT_TRUE(near((s - s.mean(0)) * rsqrt(s.var(0, 0, true).squeeze(0) + 1e-5f),
                       (x - x.mean(0)) * rsqrt(x.var(0, 0, true).squeeze(0) + 1e-5f)));
      EXPECT_TRUE(near(softmax(s.to<sn::half>(), 0), softmax(x.to<sn::half>(), 0), 2e-3));
    }
}

/// The model's counts: with k different devices, a sum goes to the host and back once for each.
TEST(Sharded, TellsAsMuchAsTheModelSays) {
  for (const std::vector<sn::Device>& list : {std::vector<sn::Device>{0, 1}, {sn::Device(), 0, 1}}) {
    const sn::Mesh mesh(list);
    const std::uint64_t k = list.size(), n = 5 * sizeof(float);
    const sn::Tensor s = sn::shard(numbers({30, 5}), mesh);
    const auto traffic_of = [&](auto evaluate) {
      const auto before = mesh.communicator().traffic();
      evaluate();
      const auto after = mesh.communicator().traffic();
      return std::pair(after.messages - before.messages, after.bytes - before.bytes);
    };
    using Traffic = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_EQ(traffic_of([&] { (void)sn::Tensor((s + 1).exp().sum(1)); }), Traffic(0, 0));
    const Traffic added = traffic_of([&] { (void)sn::Tensor((s + 1).exp().sum(0)); });
    EXPECT_EQ(added.second, added.first * n) << "each message the sum's bytes";
    EXPECT_LE(added.first, 2 * k);
    EXPECT_EQ(traffic_of([&] { (void)sn::Tensor(s.mean(0)); }), added) << "a count needs no communication";
    const Traffic softmaxed = traffic_of([&] { (void)sn::Tensor(softmax(s, 0)); });
    EXPECT_LE(softmaxed.first, added.first + k * (k - 1)) << "one maximum, one sum, whatever the formula repeats";
  }
}

TEST(Sharded, PartsOfComputedValuesAreTakenBeforeSums) {
  for (const int cpus : {1, 2, 3, 8}) {
    const sn::Mesh mesh{std::vector<sn::Device>(static_cast<std::size_t>(cpus))};
    const sn::Tensor x = numbers({5, 3}), y = numbers({5, 3}, 0.5f), z = numbers({2, 5, 3}), w = numbers({2, 3, 5});
    const sn::Tensor s = sn::shard(x, mesh), r = sn::replicate(y, mesh);
    EXPECT_TRUE(near(sum(s * r.exp(), 0), sum(x * y.exp(), 0))) << to_string(mesh);
    EXPECT_TRUE(near(softmax(s + r.exp(), 0), softmax(x + y.exp(), 0)));
    EXPECT_TRUE(near(sum(s * r.to<double>(), 0), sum(x * y.to<double>(), 0)));
    EXPECT_TRUE(near(matmul(s.t(), r.exp()), matmul(x.t(), y.exp())));
    EXPECT_TRUE(near(matmul((s + r.exp()).t(), r.exp()), matmul((x + y.exp()).t(), y.exp())));
    EXPECT_TRUE(near(sum(matmul(sn::shard(z, mesh), sn::replicate(w, mesh).exp()), 0), sum(matmul(z, w.exp()), 0)));
  }
}

TEST(Sharded, TheDimInShardsOfOneRowIsKnown) {
  for (const int cpus : {1, 2, 3, 8}) {
    const sn::Mesh mesh{std::vector<sn::Device>(static_cast<std::size_t>(cpus))};
    const sn::Tensor x = numbers({1, 2, 3, 1});
    for (const int dim : {0, 3}) {
      const sn::Tensor s = sn::shard(x, mesh, dim);
      EXPECT_EQ(s.shard(0).shape(), x.shape());
      if (mesh.size() > 1) {
        EXPECT_EQ(s.shard(1).size(dim), 0);
      }
      EXPECT_TRUE(same(s + 1, x + 1));
      EXPECT_TRUE(same(s.argmax(dim), x.argmax(dim)));
    }
  }
}

TEST(Sharded, SpecialValuesCrossShards) {
  const float nan = std::nanf(""), inf = INFINITY;
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = sn::tensor({{1.f, nan, -inf, 3.f}, {5.f, 2.f, -inf, 3.f}, {5.f, nan, -inf, 3.f}});
    const sn::Tensor s = sn::shard(x, mesh);
    EXPECT_TRUE(near(s.amax(0), x.amax(0)));
    EXPECT_TRUE(same(s.argmax(0), x.argmax(0))) << "of equal ones the first, NaN before all";
    EXPECT_TRUE(same(s.argmin(0), x.argmin(0)));
    EXPECT_TRUE(near(s.sum(0), x.sum(0)));
    EXPECT_TRUE(near(softmax(s, 0), softmax(x, 0)));
    EXPECT_TRUE(near(s.logsumexp(0), x.logsumexp(0)));
  }
  const sn::Tensor none = sn::shard(sn::empty({0, 2}), meshes()[2]);
  EXPECT_TRUE(same(none.sum(0), sn::zeros({2})));
  EXPECT_TRUE(same(none.prod(0), sn::ones({2})));
  EXPECT_NE(message_of<sn::IndexError>([&] { (void)sn::Tensor(none.amax(0)); }), "");
}

TEST(Sharded, ProductsOfMatrices) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({9, 4}), w = numbers({4, 3}, 0.3f), y = numbers({9, 2}, 0.1f),
                     batch = numbers({5, 4, 3});
    const sn::Tensor sx = sn::shard(x, mesh), rw = sn::replicate(w, mesh), sy = sn::shard(y, mesh);
    EXPECT_TRUE(near(matmul(sx, rw), matmul(x, w)));
    EXPECT_TRUE(near((matmul(sx * 2, rw) + 1).exp(), (matmul(x * 2, w) + 1).exp()));
    EXPECT_TRUE(near(matmul(sx.t(), sy), matmul(x.t(), y))) << "along the sharded dim";
    EXPECT_TRUE(near(matmul(sx.t(), sn::replicate(y, mesh)), matmul(x.t(), y))) << "one of them replicated";
    EXPECT_TRUE(near(matmul(sn::replicate(w.t(), mesh), sx.t()), matmul(w.t(), x.t()))) << "columns sharded";
    EXPECT_TRUE(near(matmul(sn::shard(batch, mesh), rw.t()), matmul(batch, w.t())));
    EXPECT_TRUE(near(matmul(sn::shard(batch, mesh), sn::replicate(batch, mesh).transpose(1, 2)),
                     matmul(batch, batch.transpose(1, 2))));
    EXPECT_TRUE(near(matmul(sx, rw(sn::range(), 0)), matmul(x, w(sn::range(), 0))));
    EXPECT_TRUE(near(matmul(sy(sn::range(), 0), sx), matmul(y(sn::range(), 0), x)));
    EXPECT_TRUE(
        near(matmul(sx.to<sn::half>().t(), sy.to<sn::half>()), matmul(x.to<sn::half>().t(), y.to<sn::half>()), 3e-3));
  }
  const sn::Mesh two({sn::Device(0), sn::Device(1)});
  const sn::Tensor x = sn::shard(numbers({4, 4}), two);
  const std::string refused = message_of<sn::DeviceError>([&] { (void)sn::Tensor(matmul(x, x)); });
  EXPECT_NE(refused.find("replicate(x, mesh)"), std::string::npos) << refused;
}

TEST(Sharded, BatchesTimesVectors) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({8, 3, 4}), v = numbers({4}), u = numbers({3});
    EXPECT_TRUE(near(matmul(sn::shard(x, mesh), sn::replicate(v, mesh)), matmul(x, v)));
    EXPECT_TRUE(near(matmul(sn::replicate(u, mesh), sn::shard(x, mesh)), matmul(u, x)));
  }
}

TEST(Sharded, OneRowIsWrittenToAll) {
  for (const sn::Mesh& mesh : meshes()) {
    sn::Tensor y = sn::shard(sn::zeros({4, 5}), mesh);
    const sn::Tensor row = numbers({1, 5});
    y.assign(sn::shard(row, mesh) * 2);
    EXPECT_TRUE(same(y, sn::zeros({4, 5}) + row * 2)) << to_string(mesh);
    EXPECT_EQ(sn::Tensor(sn::replicate(sn::shard(sn::zeros({4, 0}), mesh), mesh)).numel(), 0);
  }
}

TEST(Sharded, ViewsKeepTheDimInShards) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({7, 4, 6});
    const sn::Tensor s = sn::shard(x, mesh);
    EXPECT_TRUE(same(s.transpose(0, 2), x.transpose(0, 2)));
    EXPECT_TRUE(same(s.permute(1, 2, 0) + 1, x.permute(1, 2, 0) + 1));
    EXPECT_TRUE(same(s(sn::range(), sn::range(1, 3), 2), x(sn::range(), sn::range(1, 3), 2)));
    EXPECT_TRUE(same(s.reshape({7, 24}), x.reshape({7, 24})));
    EXPECT_TRUE(same(s.reshape({7, 2, 2, 6}), x.reshape({7, 2, 2, 6})));
    EXPECT_TRUE(same(s.unsqueeze(0).expand({3, 7, 4, 6}), x.unsqueeze(0).expand({3, 7, 4, 6})));
    EXPECT_TRUE(same(s.flip(1), x.flip(1)));
    const std::string joined = message_of<sn::ShapeError>([&] { (void)s.transpose(0, 1).reshape({4, 42}); });
    EXPECT_NE(joined.find("shard(x, mesh)"), std::string::npos) << joined;
    EXPECT_TRUE(same(sn::shard(s.transpose(0, 1), mesh).reshape({4, 42}), x.transpose(0, 1).reshape({4, 42})));
    if (mesh.size() == 1) continue;
    for (const auto& view : std::vector<std::function<void()>>{
             [&] { (void)s[2]; }, [&] { (void)s(sn::range(0, 3)); }, [&] { (void)s.reshape({28, 6}); },
             [&] { (void)s.flip(0); }, [&] { (void)s.reshape({168}); }, [&] { (void)s.diagonal(); }}) {
      const std::string message = message_of<sn::ShapeError>(view);
      EXPECT_NE(message.find("gather(x, device)"), std::string::npos) << message;
    }
  }
}

TEST(Sharded, WritesGoToTheShards) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({9, 3});
    sn::Tensor s = sn::shard(x, mesh);
    const sn::Tensor alias = s;
    s += 1;
    s *= s;
    EXPECT_TRUE(same(alias, (x + 1) * (x + 1)));
    s.assign(4);
    EXPECT_TRUE(same(s, sn::full({9, 3}, 4.f)));
    s.assign(sn::replicate(numbers({3}), mesh));
    EXPECT_TRUE(same(s, x * 0 + numbers({3})));
    s.assign(sn::replicate(x, mesh) * 2);
    EXPECT_TRUE(same(s, x * 2)) << "each rank takes its part";
    s(sn::range(), 1) = 7;
    sn::Tensor expected = x * 2;
    expected(sn::range(), 1) = 7;
    EXPECT_TRUE(same(s, expected));
    s.copy_(x);
    EXPECT_TRUE(same(s, x));
    sn::Tensor whole = sn::replicate(x, mesh);
    whole.assign(s * 3);
    EXPECT_TRUE(same(whole, x * 3)) << "what is sharded goes to every rank";
    for (int i = 0; i < mesh.size(); ++i) EXPECT_TRUE(same(whole.shard(i), x * 3));
  }
}

TEST(Sharded, MovesBetweenMeshesAndDims) {
  const sn::Tensor x = numbers({6, 10, 2});
  for (const sn::Mesh& from : meshes())
    for (const sn::Mesh& to : meshes()) {
      const sn::Tensor s = sn::shard(x, from);
      for (const int dim : {0, 1, -1}) {
        const sn::Tensor moved = sn::shard(s, to, dim);
        EXPECT_TRUE(same(moved, x)) << to_string(from) << to_string(to) << dim;
        EXPECT_TRUE(same(moved + 1, x + 1));
      }
      EXPECT_TRUE(same(sn::replicate(s, to), x));
    }
  EXPECT_NE(message_of<sn::IndexError>([&] { (void)sn::shard(x, meshes()[2], 3); }), "");
  EXPECT_NE(message_of<sn::IndexError>([&] { (void)sn::shard(sn::tensor(1.f), meshes()[2]); }), "");
}

TEST(Sharded, LeavesTheMesh) {
  const sn::Mesh mesh({sn::Device(0), sn::Device(1), sn::Device(0)});
  const sn::Tensor x = numbers({5, 2});
  const sn::Tensor s = sn::shard(x, mesh);
  for (const sn::Device device : devices()) {
    const sn::Tensor all = sn::gather(s, device);
    EXPECT_EQ(all.device(), device);
    EXPECT_TRUE(sn::equal(all.cpu(), x));
    EXPECT_TRUE(sn::equal(sn::gather(sn::replicate(x, mesh), device).cpu(), x));
  }
  EXPECT_EQ(s.sum().item(), x.sum().item());
  EXPECT_EQ(s.to_vector(), x.to_vector());
  EXPECT_TRUE(sn::equal(s.cuda(1).cpu(), x));
  EXPECT_TRUE(same(s.to<double>(), x.to<double>()));
  EXPECT_TRUE(same(s.clone(), x));
}

TEST(Sharded, OperandsOfOtherPlacesAreRefused) {
  const sn::Mesh two({sn::Device(0), sn::Device(1)}), three({sn::Device(0), sn::Device(1), sn::Device(0)});
  const sn::Tensor x = numbers({6, 6});
  const sn::Tensor s = sn::shard(x, two);
  const sn::Tensor<float> elsewhere = x;  // on a device that the type does not show
  const std::string single = message_of<sn::DeviceError>([&] { (void)sn::Tensor(s + elsewhere); });
  EXPECT_NE(single.find("shard(x, mesh)"), std::string::npos) << single;
  EXPECT_NE(message_of<sn::DeviceError>([&] { (void)sn::Tensor(s + sn::shard(x, three)); }), "");
  const std::string other_dim = message_of<sn::DeviceError>([&] { (void)sn::Tensor(s + s.t()); });
  EXPECT_NE(other_dim.find("sharded along dim 0"), std::string::npos) << other_dim;
  EXPECT_NE(other_dim.find("sharded along dim 1"), std::string::npos) << other_dim;
  const std::string broadcast =
      message_of<sn::DeviceError>([&] { (void)sn::Tensor(s + sn::shard(x(sn::range(0, 1)), two)); });
  EXPECT_NE(broadcast.find("replicate"), std::string::npos) << broadcast;
  const std::string computed =
      message_of<sn::DeviceError>([&] { (void)sn::Tensor(embedding(s, sn::shard(sn::arange(6), two))); });
  EXPECT_NE(computed.find("replicate"), std::string::npos) << computed;
  EXPECT_TRUE(same(embedding(sn::replicate(x, two), sn::shard(sn::arange(6), two)), x));
}

TEST(Sharded, OrderAndScansOfWholeLines) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = (numbers({7, 5}, 1, mesh.device(0)) * 3).sin();
    const sn::Tensor s = sn::shard(x, mesh);
    EXPECT_TRUE(same(sort(s, 1).values, sort(x, 1).values));
    EXPECT_TRUE(same(sort(s, 1).indices, sort(x, 1).indices));
    EXPECT_TRUE(same(argsort(s, 1), argsort(x, 1)));
    EXPECT_TRUE(same(topk(s, 2, 1).values, topk(x, 2, 1).values));
    EXPECT_TRUE(same(cumsum(s, 1), cumsum(x, 1)));
    EXPECT_TRUE(same(cummax(s, 1).indices, cummax(x, 1).indices));
    EXPECT_TRUE(same(median(s, 1).values, median(x, 1).values));
    EXPECT_TRUE(same(median(s.t(), 0).values, median(x.t(), 0).values));
    EXPECT_TRUE(same(median(s), median(x)));
    EXPECT_TRUE(same(sort(sn::replicate(x, mesh), 0).values, sort(x, 0).values));
    const std::string refused = message_of<sn::DeviceError>([&] { (void)cumsum(s, 0); });
    EXPECT_NE(refused.find("shard(x, mesh"), std::string::npos) << refused;
  }
}

TEST(Sharded, RandomNumbersAreThoseOfOneDevice) {
  for (const sn::Mesh& mesh : meshes()) {
    sn::manual_seed(7);
    const sn::Tensor one = sn::rand({11, 3});
    sn::manual_seed(7);
    const sn::Tensor many = sn::rand({11, 3}, mesh);
    EXPECT_TRUE(same(many, one));
    EXPECT_EQ(many.shard(0).size(0), mesh.rows(11, 0)) << "sharded";
  }
}

TEST(Sharded, LazyExpressionsGrow) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({9, 4}, 0.1f);
    sn::Lazy<float> on_mesh = sn::shard(x, mesh), on_cpu = x;
    for (int i = 0; i < 5; ++i) {
      on_mesh = on_mesh * 1.1f + on_mesh.sum(0) * 0.01f;
      on_cpu = on_cpu * 1.1f + on_cpu.sum(0) * 0.01f;
    }
    EXPECT_TRUE(near(sn::Tensor<float>(on_mesh), sn::Tensor<float>(on_cpu)));
  }
  sn::Tensor s = sn::shard(numbers({4}), meshes()[2]);
  const sn::Lazy<float> later = s + 1;
  s += 1;
  EXPECT_NE(message_of<sn::Error>([&] { (void)sn::Tensor(later); }), "") << "a leaf was written to";
}

TEST(Sharded, SeveralOutputsAndInto) {
  for (const sn::Mesh& mesh : meshes()) {
    const sn::Tensor x = numbers({9, 4});
    sn::Tensor s = sn::shard(x, mesh);
    const auto [a, b, c] = sn::evaluate(s * 2, s.sum(0), s.sum(1));
    EXPECT_TRUE(same(a, x * 2));
    EXPECT_TRUE(near(b, x.sum(0)));
    EXPECT_TRUE(near(c, x.sum(1)));
    sn::Tensor t = sn::shard(x, mesh);
    sn::evaluate(sn::into(s, t + 1), sn::into(t, s + 2));
    EXPECT_TRUE(same(s, x + 1));
    EXPECT_TRUE(same(t, x + 2));
    EXPECT_TRUE(near(sn::eager(softmax(s * 2 + 1, 0)), softmax((x + 1) * 2 + 1, 0)));
  }
}

}  // namespace
}  // namespace sinter_tests
