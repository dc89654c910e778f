// The arithmetic throughput of a multiprocessor.
#pragma once
#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1::runtime {

/// Multiply-adds in a cycle, from the table of native arithmetic in NVIDIA's CUDA C++ Programming Guide; 16-bit floats
/// are computed in float32. 0 if unknown: for other dtypes and architectures.
constexpr int units_per_multiprocessor(int architecture, DType dtype) noexcept {
  struct Units {
    int architecture, float32, float64;
  };
  constexpr Units known[] = {{60, 64, 32}, {61, 128, 4}, {70, 64, 32},  {75, 64, 2},    {80, 64, 32},
                             {86, 128, 2}, {89, 128, 2}, {90, 128, 64}, {100, 128, 64}, {120, 128, 2}};
  for (const Units& u : known) {
    if (u.architecture != architecture) continue;
    if (dtype == DType::Float64) return u.float64;
    return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 ? u.float32 : 0;
  }
  return 0;
}

}  // namespace sinter::inline v1::runtime
