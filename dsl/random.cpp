#include <sinter/dsl/random.hpp>

#include <fmt/format.h>

#include <limits>
#include <mutex>
#include <random>
#include <utility>

#include <runtime/fork.hpp>
#include "iota.hpp"

namespace sinter::inline v1 {

namespace {

std::uint64_t unlike_any_other() { return std::random_device{}() | std::uint64_t{std::random_device{}()} << 32; }

}  // namespace

class detail::RandomSequence {
 public:
  struct Place {
    std::int64_t seed;
    std::int64_t draw;
  };
  explicit RandomSequence(std::uint64_t seed) : next_{static_cast<std::int64_t>(seed), 0} {}

  Place next() noexcept {
    const runtime::ForkSafeLock lock(mutex_, std::nothrow);
    return next_;
  }
  void set(Place next) noexcept {
    const runtime::ForkSafeLock lock(mutex_, std::nothrow);
    next_ = next;
  }
  Place draw() {
    const runtime::ForkSafeLock lock(mutex_, std::nothrow);
    if (next_.draw == std::numeric_limits<std::int64_t>::max())
      throw Error(fmt::format("a generator at position {} has no numbers left: set an earlier position", next_.draw));
    const Place drawn = next_;
    ++next_.draw;
    return drawn;
  }

 private:
  std::mutex mutex_;
  Place next_;
};

Generator::Generator() : Generator(unlike_any_other()) {}
Generator::Generator(std::uint64_t seed) : sequence_(std::make_shared<detail::RandomSequence>(seed)) {}
void Generator::manual_seed(std::uint64_t seed) const noexcept { sequence_->set({static_cast<std::int64_t>(seed), 0}); }
std::uint64_t Generator::seed() const noexcept { return static_cast<std::uint64_t>(sequence_->next().seed); }
std::int64_t Generator::position() const noexcept { return sequence_->next().draw; }
void Generator::set_position(std::int64_t position) const {
  if (position < 0) throw Error(fmt::format("the position of a generator must be at least 0, but got {}", position));
  sequence_->set({sequence_->next().seed, position});
}

namespace {

detail::RandomSequence& process_sequence() {
  static constinit runtime::NoDestructor<detail::RandomSequence> s;  // outlives every static object that draws
  return s.get([] { return new detail::RandomSequence(unlike_any_other()); });
}

/// That of this thread's innermost guard.
thread_local detail::RandomSequence* guarded_sequence = nullptr;

}  // namespace

GeneratorGuard::GeneratorGuard(const Generator& generator)
    : sequence_(generator.sequence_), outer_(std::exchange(guarded_sequence, sequence_.get())) {}
GeneratorGuard::~GeneratorGuard() { guarded_sequence = outer_; }

void manual_seed(std::uint64_t seed) noexcept { process_sequence().set({static_cast<std::int64_t>(seed), 0}); }

namespace detail {

namespace {

/// Checks that the dtype holds all integers of [least, most].
void check_bounds(std::int64_t least, std::int64_t most, DType dtype) {
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    bool fits;
    if constexpr (complex_element<T>) {
      return check_bounds(least, most, real_of(dtype));
    } else if constexpr (std::is_same_v<T, bool>) {
      fits = least >= 0 && most <= 1;
    } else if constexpr (floating_element<T>) {
      constexpr std::int64_t whole = std::int64_t{1} << std::numeric_limits<T>::digits;  // all integers up to this
      fits = least >= -whole && most <= whole;
    } else {
      fits = std::in_range<T>(least) && std::in_range<T>(most);
    }
    if (!fits)
      throw Error(fmt::format("randint: {2} cannot represent all integers from {0} to {1}; choose a dtype that can",
                              least, most, name(dtype)));
  });
}

/// Throws ShapeError or OutOfMemory with the size of the result, not of its int64 positions.
void check_room(const Shape& shape, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  if (shape.numel() > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(std::int64_t)))
    (void)runtime::empty(shape, dtype, device);
}

}  // namespace

TensorRef random(Distribution distribution, const Shape& shape, DType dtype, Device device) {
  if (category(dtype) < Category::Float)
    throw DTypeError(fmt::format(
        "random numbers of {} were requested, but they must be floats (randint returns integers)", name(dtype)));
  check_room(shape, dtype, device);
  const IotaExpression i = iota(shape, device);
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> TensorRef {
    if constexpr (random_number<T>)
      return distribution == Distribution::Normal ? evaluate_one(randn_like<T>(i)) : evaluate_one(rand_like<T>(i));
    return {};
  });
}

TensorRef random_integers(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device) {
  if (low >= high)
    throw Error(fmt::format("randint: the range from {} to {} is empty: low must be less than high", low, high));
  check_bounds(low, high - 1, dtype);
  // The distance of two int64 fits into an unsigned one.
  const auto count = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  check_room(shape, dtype, device);
  const IotaExpression i = iota(shape, device);
  return convert(apply<Op::mul_high>(random_expression<Op::random_bits>("randint", i), count) + low, dtype);
}

Draw draw_over(std::string_view what, std::span<TensorImpl* const> leaves) {
  if (leaves.empty()) throw Error(fmt::format("{}: the expression has no tensor that gives the shape", what));
  Shape shape;
  for (const TensorImpl* leaf : leaves) {
    if (!leaf) throw_moved_from();
    if (!broadcast(shape, leaf->shape))
      throw ShapeError(fmt::format("{}: the tensors of the expression do not broadcast: {} and {}", what,
                                   to_string(leaf->shape), to_string(shape)));
  }
  return draw(shape, leaves[0]->device);
}

Draw draw(const Shape& shape, Device device) {
  TensorRef indices = runtime::iota_tensor(shape, device);
  const RandomSequence::Place place = (guarded_sequence ? *guarded_sequence : process_sequence()).draw();
  return {std::move(indices), place.draw, place.seed};
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("dropout: the probability is {}, but must be in [0, 1]", p));
}

void check_deviation(double deviation) {
  if (!(deviation >= 0))
    throw Error(fmt::format("normal: the standard deviation is {}, but must not be negative", deviation));
}

void check_rate(double rate) {
  if (!(rate > 0)) throw Error(fmt::format("exponential_like: the rate is {}, but must be positive", rate));
}

}  // namespace detail
}  // namespace sinter::inline v1
