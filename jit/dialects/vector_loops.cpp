#include "vector_loops.hpp"

namespace sinter::inline v1::jit::dialects {
namespace {

using loops::Instruction;
using loops::none;
using loops::Opcode;
using loops::Value;

/// The number of iterations of the vector loop that the instruction is printed in; 1 if it needs none.
int loop_width(const loops::LoopProgram& program, const Instruction& i) noexcept {
  switch (i.code) {
    case Opcode::Elementwise:
    case Opcode::Select:
    case Opcode::Less:
    case Opcode::Equal:
    case Opcode::And:
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Rem:
    case Opcode::Div:
    case Opcode::Convert:
    case Opcode::Splat:
    case Opcode::Ramp:
    case Opcode::ExtractColumn:
    case Opcode::ShuffleXor: return i.type.width;
    case Opcode::Load: return static_cast<loops::Access>(i.attribute) == loops::Access::Gather ? i.type.width : 1;
    case Opcode::RecordFault: return program[i.operands[0]].type.width;
    case Opcode::Call: {
      int width = i.type.width;
      for (const Value v : i.operands) width = std::max(width, program[v].type.width);
      return width;
    }
    default: return 1;
  }
}

bool reads_other_elements(Opcode code) noexcept { return code == Opcode::Low || code == Opcode::High; }

/// A value without a statement of its own does not end a loop.
bool has_no_statement(Opcode code) noexcept { return code == Opcode::Constant || code == Opcode::Param; }

}  // namespace

VectorLoops::VectorLoops(const loops::LoopProgram& program)
    : loop(program.code.size(), none),
      outlives(program.code.size()),
      uses(program.code.size()),
      last_use(program.code.size(), none) {
  int number = -1, width = 1;
  for (std::size_t v = 0; v < loop.size(); ++v) {
    const Instruction& i = program.code[v];
    if (has_no_statement(i.code)) continue;
    const int own = loop_width(program, i);
    if (own > 1 && own != width) ++number;
    width = own;
    if (own > 1) loop[v] = number;
  }
  for (std::size_t v = 0; v < loop.size(); ++v)
    for (const Value o : program.code[v].operands) {
      if (o == none) continue;
      const auto used = static_cast<std::size_t>(o);
      ++uses[used];
      last_use[used] = static_cast<Value>(v);
      if (loop[v] == none || loop[v] != loop[used] || reads_other_elements(program.code[v].code)) outlives[used] = true;
    }
}

}  // namespace sinter::inline v1::jit::dialects
