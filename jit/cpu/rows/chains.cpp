// Chains of floats and of doubles.
#include "../chain_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows chain_rows[chain_count] = {{{chain_row<float>}}, {{chain_row<double>}}};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
