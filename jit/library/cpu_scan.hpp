// Scans along an axis, on the CPU's threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/jit/scan.hpp>

namespace sinter::inline v1::jit::cpu {

/// A contiguous array as (outer, length, inner), scanned along the middle.
struct Lines {
  const std::byte* data;
  DType dtype;
  std::int64_t outer, length, inner;
};

/// For int64, floats and complex numbers.
void scan(const Lines& x, Scan what, std::byte* to);

/// For every dtype that is not complex.
void scan(const Lines& x, Extreme what, std::byte* values, std::int64_t* indices);

}  // namespace sinter::inline v1::jit::cpu
