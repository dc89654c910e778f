// Fused rows of double.
#include "../fused_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows fused64_rows[fused_count] = SINTER_FUSED_ROWS(double);

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
