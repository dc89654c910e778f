// Fused rows of float.
#include "../fused_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows fused32_rows[fused_count] = SINTER_FUSED_ROWS(float);

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
