// Every operation that computes in int64.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

constinit const Rows int64_rows[row_op_count] = {
#define SINTER_OP(name, arity, rule) rows_of<functions::name##_op, std::int64_t>(),
#include <sinter/jit/op_list.def>
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
