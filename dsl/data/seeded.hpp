// Random numbers with their own seed, independent of the process's sequence.
#pragma once
#include <cstdint>

#include <sinter/dsl/random.hpp>

namespace sinter::inline v1::detail {

/// The generator's numbers from `first` on: one per element.
template <Op op, class... Parameters>
auto seeded(const Shape& shape, std::uint64_t seed, std::int64_t first, Parameters... parameters) {
  using Positions = Expression<std::int64_t, Cpu, IotaLeaf, 1, 0, iota_bytes>;
  check_shape(shape, sizeof(std::int64_t));
  return Tensor(apply<op>(Positions(held(runtime::iota_tensor(shape, Device()))) + first,
                          static_cast<std::int64_t>(seed), parameters...));
}

}  // namespace sinter::inline v1::detail
