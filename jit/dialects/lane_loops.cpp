#include "lane_loops.hpp"

namespace sinter::inline v1::jit::dialects {
namespace {

using loops::Code;
using loops::Instruction;
using loops::none;
using loops::Value;

/// The lanes that a loop over lanes has for the instruction; 1 where it is none.
int looped_lanes(const loops::Loops& loops, const Instruction& i) noexcept {
  switch (i.code) {
    case Code::Alu:
    case Code::Select:
    case Code::Less:
    case Code::Equal:
    case Code::And:
    case Code::Add:
    case Code::Sub:
    case Code::Mul:
    case Code::Remainder:
    case Code::Quotient:
    case Code::Convert:
    case Code::Splat:
    case Code::Ramp:
    case Code::Column:
    case Code::Shuffle: return i.type.lanes;
    case Code::Load: return static_cast<loops::Access>(i.attribute) == loops::Access::Gather ? i.type.lanes : 1;
    case Code::Flag: return loops[i.operands[0]].type.lanes;
    case Code::Call: {
      int lanes = i.type.lanes;
      for (const Value v : i.operands) lanes = std::max(lanes, loops[v].type.lanes);
      return lanes;
    }
    default: return 1;
  }
}

bool reads_other_lanes(Code code) noexcept { return code == Code::Low || code == Code::High; }

/// A value without a statement of its own does not end a loop.
bool has_no_statement(Code code) noexcept { return code == Code::Constant || code == Code::Param; }

}  // namespace

LaneLoops::LaneLoops(const loops::Loops& loops)
    : loop(loops.code.size(), none),
      outlives(loops.code.size()),
      uses(loops.code.size()),
      last_use(loops.code.size(), none) {
  int number = -1, lanes = 1;
  for (std::size_t v = 0; v < loop.size(); ++v) {
    const Instruction& i = loops.code[v];
    if (has_no_statement(i.code)) continue;
    const int own = looped_lanes(loops, i);
    if (own > 1 && own != lanes) ++number;
    lanes = own;
    if (own > 1) loop[v] = number;
  }
  for (std::size_t v = 0; v < loop.size(); ++v)
    for (const Value o : loops.code[v].operands) {
      if (o == none) continue;
      const auto used = static_cast<std::size_t>(o);
      ++uses[used];
      last_use[used] = static_cast<Value>(v);
      if (loop[v] == none || loop[v] != loop[used] || reads_other_lanes(loops.code[v].code)) outlives[used] = true;
    }
}

}  // namespace sinter::inline v1::jit::dialects
