// The sizes that an exported kernel takes. Plans and loops are made for tensors whose extents are primes, a different
// one for each size, so that any extent or stride tells by its factors which sizes it is made of.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "places.hpp"

namespace sinter::inline v1::jit::exporting {

class Sizes {
 public:
  /// Finds which extents must be equal: those that broadcasting joins, those that have one name, and `equal`. Extents
  /// of 1 stay so. `names[i]` are the names of input i's extents; empty ones are chosen: s0, s1, ... A name
  /// of digits is the extent itself, which stays. Throws Error.
  Sizes(const Graph& recorded, std::span<const Shape> leaves, std::span<const std::vector<std::string>> names,
        std::span<const EqualAxes> equal = {});

  /// Those that are parameters.
  std::vector<std::string> names() const;
  std::size_t count() const noexcept { return names_.size(); }
  /// A number that the size stays.
  bool is_fixed(std::size_t size) const noexcept { return names_[size][0] >= '0' && names_[size][0] <= '9'; }
  /// In C: a->n, or the number.
  std::string text(std::size_t size, const std::string& prefix) const {
    return is_fixed(size) ? "(int64_t)" + names_[size] : prefix + names_[size];
  }
  /// The shape of leaf i with primes.
  const Shape& shape(std::size_t leaf) const noexcept { return shapes_[leaf]; }
  /// The sizes whose product an extent is.
  std::vector<std::size_t> factors(std::int64_t extent) const;
  /// That product in C, each size with `prefix`: a->n * a->m, or a number.
  std::string product(std::int64_t extent, const std::string& prefix) const;

 private:
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
};

/// Primes that are no factor of such an extent: they stand for strides that a caller gives.
std::int64_t stride_prime(std::size_t i);

}  // namespace sinter::inline v1::jit::exporting
