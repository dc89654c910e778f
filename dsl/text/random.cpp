// Random tensors, and random parts of expressions.
#include <sinter/dsl/random.hpp>

#include <optional>

#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Any = Lazy<AnyType>;

/// While it lives, numbers are drawn from the generator that a call is given, if any.
class DrawingFrom {
 public:
  DrawingFrom(const Arguments& a, std::size_t i) {
    if (const Generator* generator = a.generator(i)) guard_.emplace(*generator);
  }

 private:
  std::optional<GeneratorGuard> guard_;
};

template <Distribution distribution>
TextValue random_tensor(const Arguments& a) {
  const DrawingFrom drawing(a, 3);
  return value_of(AnyTensor(random(distribution, a.shape(0), a.dtype(1, DType::Float32), a.device(2))));
}

/// Of an expression: a part of the kernel that reads it.
template <Distribution distribution>
Any drawn_like(const Any& e, DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> Any {
    if constexpr (random_number<T>)
      return distribution == Distribution::Normal ? Any(randn_like<T>(e)) : Any(rand_like<T>(e));
    throw DTypeError("random numbers of " + std::string(name(dtype)) +
                     " were requested, but they must be floats (randint_like returns integers)");
  });
}

template <Distribution distribution>
TextValue random_like(const Arguments& a) {
  const DrawingFrom drawing(a, 3);
  const TextValue& x = a.tensor(0);
  const DType dtype = a.dtype(1, x.node->dtype());
  if (x.array || a[2]) return value_of(AnyTensor(random(distribution, x.shape, dtype, a.device(2, x.node->device()))));
  return value_of(drawn_like<distribution>(x.lazy(), dtype));
}

/// randint(high, size) and randint(low, high, size).
TextValue random_whole(const Arguments& a) {
  const DrawingFrom drawing(a, 5);
  const bool has_low = a[1] && (a[2] || a[1]->kind != TextValue::Kind::List);
  const std::size_t size = a[2] || has_low ? 2 : 1;
  const std::int64_t low = has_low ? a.integer(0) : 0, high = a.integer(has_low ? 1 : 0);
  return value_of(AnyTensor(random_integers(low, high, a.shape(size), a.dtype(3, DType::Int64), a.device(4))));
}
TextValue random_whole_like(const Arguments& a) {
  const DrawingFrom drawing(a, 5);
  const TextValue& x = a.tensor(0);
  const std::int64_t low = a[2] ? a.integer(1) : 0, high = a.integer(a[2] ? 2 : 1);
  return value_of(
      AnyTensor(random_integers(low, high, x.shape, a.dtype(3, x.node->dtype()), a.device(4, x.node->device()))));
}

Any floats_of(const Arguments& a, std::size_t i) {
  const TextValue& x = a.tensor(i);
  if (category(x.node->dtype()) != Category::Float) a.wrong(i, "a tensor of floats");
  return x.lazy();
}
Any uniform_of(const Any& x) {
  const bool is_double = x.node()->dtype() == DType::Float64;
  return is_double ? Any(uniform_expression<double>("random", x)) : Any(uniform_expression<float>("random", x));
}

/// center + deviation * a normal number; of two numbers with a size.
TextValue normal_numbers(const Arguments& a) {
  const DrawingFrom drawing(a, 5);
  const auto operand = [&](std::size_t i, double fallback) {
    return a[i] ? a.operand(i) : TextValue::of(TextNumber::of(fallback));
  };
  const TextValue center = operand(0, 0), deviation = operand(1, 1);
  if (deviation.kind == TextValue::Kind::Number) check_deviation(deviation.number.value.real());
  Any standard(jit::LazyRef{});
  if (a[2]) {
    standard = Any(AnyTensor(random(Distribution::Normal, a.shape(2), a.dtype(3, DType::Float32), a.device(4))));
  } else {
    const TextValue both[] = {center, deviation};
    const TextValue like = applied(Op::add, both);
    if (!like.is_tensor()) a.wrong(2, "given, unless 'mean' or 'std' is a tensor");
    standard = drawn_like<Distribution::Normal>(like.lazy(), a.dtype(3, like.node->dtype()));
  }
  const TextValue factors[] = {value_of(standard), deviation};
  const TextValue terms[] = {applied(Op::mul, factors), center};
  return applied(Op::add, terms);
}

TextValue coins(const Arguments& a) {
  const DrawingFrom drawing(a, 1);
  const Any p = floats_of(a, 0);
  return cast_value(value_of(uniform_of(p) < p), p.node()->dtype());
}

TextValue dropped(const Arguments& a) {
  const DrawingFrom drawing(a, 3);
  const Any x = floats_of(a, 0);
  const double p = a.real(1, 0.5);
  check_probability(p);
  if (!a.flag(2, true)) return value_of(x);
  return value_of(where(uniform_of(x) >= p, x * (1 / (1 - p)), 0));
}

TextValue waiting_times(const Arguments& a) {
  const DrawingFrom drawing(a, 2);
  const Any x = floats_of(a, 0);
  const double rate = a.real(1, 1);
  check_rate(rate);
  return cast_value(value_of(-log1p(-uniform_of(x)) / rate), x.node()->dtype());
}

}  // namespace

std::span<const TextFunction> random_functions() {
  constexpr std::string_view tensor = "Tensor", operand = "Operand";
  static const auto& all = *new std::vector<TextFunction>{
      {"rand", "*size, dtype=None, device=None, generator=None", "random numbers, uniform in [0, 1)",
       random_tensor<Distribution::Uniform>, tensor},
      {"randn", "*size, dtype=None, device=None, generator=None", "normal random numbers of mean 0 and variance 1",
       random_tensor<Distribution::Normal>, tensor},
      {"randint", "low, high=None, size=None, *, dtype=None, device=None, generator=None",
       "random integers in [low, high), or in [0, high) with one bound: randint(high, size)", random_whole, tensor},
      {"rand_like", "input, *, dtype=None, device=None, generator=None",
       "random numbers in [0, 1) in x's shape, dtype and device; of an expression a part of its kernel",
       random_like<Distribution::Uniform>, operand},
      {"randn_like", "input, *, dtype=None, device=None, generator=None",
       "normal random numbers in x's shape, dtype and device; of an expression a part of its kernel",
       random_like<Distribution::Normal>, operand},
      {"randint_like", "input, low, high=None, *, dtype=None, device=None, generator=None",
       "random integers in [low, high), or in [0, high) with one bound, in x's shape, dtype and device",
       random_whole_like, tensor},
      {"normal", "mean=0, std=1, size=None, *, dtype=None, device=None, generator=None",
       "normal random numbers; the size may be omitted if mean or std is a tensor", normal_numbers},
      {"bernoulli", "input, *, generator=None", "1 with the probability that each element is, else 0", coins},
      {"dropout", "input, p=0.5, training=True, *, generator=None",
       "0 with probability p, else x / (1 - p); x itself unless training", dropped},
      {"exponential_like", "input, rate=1, *, generator=None", "exponential random numbers of mean 1 / rate",
       waiting_times},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
