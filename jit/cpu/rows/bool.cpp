// Every operation that computes in bool.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows bool_rows[row_op_count] = {
#define SINTER_OP(name, arity, rule) rows_of<functions::name##_op, bool>(),
#include <sinter/jit/op_list.def>
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
