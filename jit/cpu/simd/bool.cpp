// Every operation that computes in bool.
#include "loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const LoopForms bool_loops[loop_op_count] = {
#define SINTER_OP(name, arity, rule) loop_forms<functions::name##_op, bool>(),
#include <sinter/jit/op_list.def>
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
