// All loops of one instruction set.
#include "loops.hpp"
#include "reduce_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const LoopTable loop_table = {{bool_loops, int32_loops, int64_loops, float32_loops, float64_loops, cast_loops,
                                         complex_loops, memory_loops, chain_loops},
                                        reducers};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
