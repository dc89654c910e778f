// Chains of floats and of doubles.
#include "chain_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const LoopForms chain_loops[chain_count] = {{{chain_loop<float>}}, {{chain_loop<double>}}};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
