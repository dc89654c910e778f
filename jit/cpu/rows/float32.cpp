// Every operation that computes in float32.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows float32_rows[row_op_count] = {
#define SINTER_OP(name, arity, rule) rows_of<functions::name##_op, float>(),
#include <sinter/jit/op_list.def>
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
