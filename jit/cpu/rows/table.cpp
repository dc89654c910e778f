// All loops of one instruction set.
#include "../reduce_loops.hpp"
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const RowTable row_table = {
    {bool_rows, int32_rows, int64_rows, float32_rows, float64_rows, cast_rows, parts_rows, memory_rows, chain_rows},
    reducers};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
