// What the processor's vector units support.
#pragma once

namespace sinter::inline v1::runtime {

/// Baseline: SSE4.2 on x86-64, NEON on AArch64. Avx2: also FMA and F16C. Avx512: F, DQ, BW and VL.
enum class VectorUnits { Baseline, Avx2, Avx512 };
VectorUnits vector_units() noexcept;

}  // namespace sinter::inline v1::runtime
