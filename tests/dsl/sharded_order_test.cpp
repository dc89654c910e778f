// Random programs on meshes of 1, 2, 3, 4 and 8 virtual GPUs, on changing streams, against the CPU: with
// work executed immediately, in the strict tier, and delayed with several seeds.
#include <sinter/dsl/sharded.hpp>
#include <sinter/sinter.hpp>

#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include "setup.hpp"

// More than other tests have.
static const sinter::test::Setup eight_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "8", 1); });

namespace {

namespace sn = sinter;
using Sharded = sn::Sharded<float>;

/// Integers, so that sums are exact in any order.
class Program {
 public:
  Program(int gpus, unsigned seed) : random_(seed) {
    std::vector<sn::Device> devices;
    for (int i = 0; i < gpus; ++i) devices.emplace_back(i), streams_.emplace_back(sn::Device(i));
    mesh_ = std::make_unique<sn::Mesh>(devices);
    for (int i = 0; i < 3; ++i) {
      expected_.push_back((sn::arange(22).to<float>() - 9.0f + static_cast<float>(i)).reshape({11, 2}));
      arrays_.push_back(sn::shard(expected_.back(), *mesh_));
    }
  }

  void step() {
    std::vector<std::unique_ptr<sn::StreamGuard>> guards;
    for (const sn::Stream& s : streams_)
      if (below(2)) guards.push_back(std::make_unique<sn::StreamGuard>(s));
    work(below(3), below(3), below(3));
    while (!guards.empty()) guards.pop_back();
  }
  bool is_right() {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (!sn::equal(sn::gather(arrays_[i]), expected_[i])) return false;
    return true;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  void work(std::size_t to, std::size_t a, std::size_t b) {
    Sharded &t = arrays_[to], &x = arrays_[a], &y = arrays_[b];
    sn::Tensor<float>&et = expected_[to], &ex = expected_[a], &ey = expected_[b];
    switch (below(7)) {
      case 0: t = Sharded(sn::minimum(x + y, 50)), et = sn::Tensor<float>(sn::minimum(ex + ey, 50)); break;
      case 1: t += 1, et += 1; break;
      case 2:
        t = Sharded(sn::minimum(x - x.sum(0), 50)), et = sn::Tensor<float>(sn::minimum(ex - ex.sum(0), 50));
        break;
      case 3: t.copy_(y), et.copy_(ey); break;
      case 4: t = sn::shard(sn::gather(x, sn::Device(0)), *mesh_), et = ex.clone(); break;
      case 5: t = sn::shard(sn::shard(x, *mesh_, 1), *mesh_), et = ex.clone(); break;
      default: write_shard(t, et);
    }
    // Numbers stay small.
    t = Sharded(sn::maximum(t, -50)), et = sn::Tensor<float>(sn::maximum(et, -50));
  }
  void write_shard(Sharded& t, sn::Tensor<float>& et) {
    const int p = static_cast<int>(below(static_cast<std::size_t>(mesh_->size())));
    const std::int64_t first = mesh_->first_row(11, p), rows = mesh_->rows(11, p);
    if (rows == 0) return;
    sn::Tensor<float> shard = t.shard(p);
    shard += 3;
    et(sn::range(first, first + rows)) += 3;
  }

  std::mt19937 random_;
  std::unique_ptr<sn::Mesh> mesh_;
  std::vector<sn::Stream> streams_;
  std::vector<Sharded> arrays_;
  std::vector<sn::Tensor<float>> expected_;
};

class ShardedOrder : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Gpus, ShardedOrder, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(ShardedOrder, IsAsOnOneDevice) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Program program(GetParam(), seed);
    for (int step = 0; step < 25; ++step) program.step();
    ASSERT_TRUE(program.is_right());
  }
}

}  // namespace
