#include <sinter/dsl/random.hpp>

#include <fmt/format.h>

#include <mutex>
#include <random>

#include <runtime/fork.hpp>
#include "index.hpp"

namespace sinter::inline v1 {

namespace {

/// A place in the process's sequence of random numbers.
struct Draw {
  std::int64_t seed;
  std::int64_t first;
};

class Generator {
 public:
  void seed(std::uint64_t seed) noexcept {
    const runtime::ForkSafeLock lock(mutex_, std::nothrow);
    next_ = {static_cast<std::int64_t>(seed), 0};
  }
  /// Reserves `count` numbers.
  Draw draw(std::int64_t count) noexcept {
    const runtime::ForkSafeLock lock(mutex_, std::nothrow);
    const Draw drawn = next_;
    next_.first += count;
    return drawn;
  }

 private:
  std::mutex mutex_;
  Draw next_{static_cast<std::int64_t>(std::random_device{}() | std::uint64_t{std::random_device{}()} << 32), 0};
};

Generator& generator() {
  static constinit runtime::Immortal<Generator> g;  // outlives every static object that draws
  return g.get();
}

}  // namespace

void manual_seed(std::uint64_t seed) noexcept { generator().seed(seed); }

namespace detail {

TensorRef random(Distribution distribution, const Shape& shape, DType dtype, Device device) {
  if (category(dtype) != Category::Float)
    throw DtypeError(
        fmt::format("random numbers of {} were asked for; they are floats (randint gives integers)", name(dtype)));
  const auto i = index(shape, device);
  const Draw draw = generator().draw(shape.numel());
  const auto number = i + draw.first;
  if (distribution == Distribution::Normal)
    return dtype == DType::Float64 ? evaluate_one(apply<Op::random_normal_double>(number, draw.seed))
                                   : convert(apply<Op::random_normal>(number, draw.seed), dtype);
  if (dtype == DType::Float64) return evaluate_one(apply<Op::random_uniform_double>(number, draw.seed));
  const auto uniform = apply<Op::random_uniform>(number, draw.seed);
  if (dtype == DType::Float32) return evaluate_one(uniform);
  // Rounding could give 1, which the interval does not have: as many bits as the dtype holds.
  const double steps = dtype == DType::Float16 ? 0x1p11 : 0x1p8;
  return convert(floor(uniform * steps) / steps, dtype);
}

TensorRef random_integers(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device) {
  if (low >= high)
    throw Error(fmt::format("randint: from {} up to {} there is no integer: low must be less than high", low, high));
  const auto i = index(shape, device);
  const Draw draw = generator().draw(shape.numel());
  // The distance of two int64 fits when read as unsigned.
  const auto count = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  return convert(apply<Op::random_below>(i + draw.first, draw.seed, count) + low, dtype);
}

}  // namespace detail
}  // namespace sinter::inline v1
