// Every operation that computes in int64.
#include "random_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const LoopForms int64_loops[loop_op_count] = {
#define SINTER_OP(name, arity, rule) loop_forms<functions::name##_op, std::int64_t>(),
#include <sinter/jit/op_list.def>
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
