// Random programs over several streams and GPUs in the strict tier, which reports every pair of accesses that no event
// orders: the library must order everything that needs it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <runtime/gpus.hpp>
#include <sinter/sinter.hpp>
#include <vector>
#include "setup.hpp"

namespace {

namespace sn = sinter;

const sinter::test::Setup strict([] { setenv("SINTER_VIRTUAL_STRICT", "1", 1); });

using Array = sn::Tensor<float, sn::AnyDevice>;
constexpr std::int64_t n = 8;

/// Arrays of one value each, in the library and as plain numbers.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    const int gpus = std::min(2, sn::device_count());
    for (int gpu = 0; gpu < gpus; ++gpu) {
      for (int i = 0; i < 2; ++i) streams_.emplace_back(gpu);
      streams_.push_back(sn::default_stream(gpu));
      indices_.push_back(sn::arange(n).to(sn::Device(gpu)));
    }
    for (int i = 0; i < 6; ++i) {
      arrays_.push_back(sn::full({n}, static_cast<float>(i), sn::Device(i % gpus)));
      values_.push_back(static_cast<float>(i));
    }
  }

  void step() {
    const sn::Stream& s = streams_[below(streams_.size())];
    const sn::StreamGuard guard(s);
    const std::size_t to = below(arrays_.size()), from = below(arrays_.size());
    switch (below(10)) {
      case 0: return replace(to, from);
      case 1:
      case 2: return add_in_place(to, from);
      case 3: return from_host(to);
      case 4: return read(to);
      case 5: return write_view(to);
      case 6: return copy_across(to, from);
      case 7: return read_at_indices(to, from);
      case 8: return move_indices();
      default: return use_temporary(to, from);
    }
  }
  void read(std::size_t i) { EXPECT_EQ(arrays_[i].to_vector(), std::vector<float>(n, values_[i])); }
  void read_all() {
    for (std::size_t i = 0; i < arrays_.size(); ++i) read(i);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  bool together(std::size_t i, std::size_t j) const { return arrays_[i].device() == arrays_[j].device(); }

  void replace(std::size_t to, std::size_t from) {
    arrays_[to] = arrays_[from] * 0.5f;
    values_[to] = values_[from] * 0.5f;
  }
  void add_in_place(std::size_t to, std::size_t from) {
    if (!together(to, from)) return copy_across(to, from);
    arrays_[to] += arrays_[from] * 0.25f;
    values_[to] += values_[from] * 0.25f;
  }
  void from_host(std::size_t to) {
    const float value = static_cast<float>(below(16));
    arrays_[to].copy_(sn::full({n}, value));
    values_[to] = value;
  }
  void write_view(std::size_t to) {
    arrays_[to](sn::range(0, n / 2)) = 1;
    arrays_[to](sn::range(n / 2, n)) = 1;
    values_[to] = 1;
  }
  void copy_across(std::size_t to, std::size_t from) {
    arrays_[to] = arrays_[from].to(arrays_[to].device()).clone();
    values_[to] = values_[from];
  }
  void read_at_indices(std::size_t to, std::size_t from) {
    arrays_[to] = arrays_[from].take(indices_[static_cast<std::size_t>(arrays_[from].device().index())]) + 0.25f;
    values_[to] = values_[from] + 0.25f;
  }
  void move_indices() {
    sn::Tensor<std::int64_t>& i = indices_[below(indices_.size())];
    i.assign((i + 1) % n);
  }
  /// Its memory is released while work that uses it may still run, on another stream than it was made for.
  void use_temporary(std::size_t to, std::size_t from) {
    const Array temporary = arrays_[from] + 1;
    const float value = values_[from] + 1;
    const sn::StreamGuard guard(streams_[below(streams_.size())]);
    arrays_[to] = temporary - 0.5f;
    values_[to] = value - 0.5f;
  }

  std::mt19937 random_;
  std::vector<sn::Stream> streams_;
  std::vector<Array> arrays_;
  std::vector<float> values_;
  std::vector<sn::Tensor<std::int64_t>> indices_;  // of each GPU: positions in some order
};

TEST(StreamOrder, RandomProgramsAreInOrder) {
  const char* given = std::getenv("SINTER_TEST_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  SCOPED_TRACE(testing::Message() << "SINTER_TEST_SEED=" << seed);
  for (unsigned round = 0; round < 20; ++round) {
    Program program(seed + round);
    for (int i = 0; i < 60; ++i) ASSERT_NO_THROW(program.step()) << "round " << round << ", step " << i;
    program.read_all();
    ASSERT_NO_THROW(sn::synchronize()) << "round " << round;
  }
}

}  // namespace
