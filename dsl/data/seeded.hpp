// Random numbers with their own seed, independent of the process's sequence.
#pragma once
#include <cstdint>

#include <sinter/dsl/random.hpp>

namespace sinter::inline v1::detail {

/// Random numbers of draw `draw` of a seed.
template <Op op>
auto seeded(const Shape& shape, std::uint64_t seed, std::int64_t draw) {
  check_shape(shape, sizeof(std::int64_t));
  return Tensor(random_at<op, Cpu>({runtime::iota_tensor(shape, Device()), draw, static_cast<std::int64_t>(seed)}));
}

}  // namespace sinter::inline v1::detail
