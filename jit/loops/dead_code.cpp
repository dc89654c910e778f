#include "dead_code.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

/// Whether the instruction has side effects. Parameters count as such: a launch passes them all.
bool has_side_effects(const Instruction& i) noexcept {
  switch (i.code) {
    case Opcode::Param:
    case Opcode::Store:
    case Opcode::Barrier:
    case Opcode::WarpBarrier:
    case Opcode::ShuffleXor:  // all threads of the warp take part
    case Opcode::RecordFault:
    case Opcode::ReportFault: return true;
    default: return false;
  }
}

class Liveness {
 public:
  explicit Liveness(const LoopProgram& program)
      : program_(program), live_(program.code.size()), scope_(program.code.size(), none) {
    std::vector<Value> open{none};
    for (Value v = 0; v < static_cast<Value>(live_.size()); ++v) {
      if (program[v].code == Opcode::End) {
        ends_.emplace_back(open.back(), v);
        open.pop_back();
      }
      scope_[static_cast<std::size_t>(v)] = open.back();
      if (program[v].code == Opcode::Range || program[v].code == Opcode::If) open.push_back(v);
    }
  }

  std::vector<bool> find() {
    for (std::size_t i = 0; i < live_.size(); ++i)
      if (has_side_effects(program_.code[i])) mark(static_cast<Value>(i));
    for (bool changed = true; changed;) changed = mark_writes();
    for (const auto& [begin, end] : ends_)
      live_[static_cast<std::size_t>(end)] = live_[static_cast<std::size_t>(begin)];
    return live_;
  }

 private:
  bool is_live(Value v) const { return live_[static_cast<std::size_t>(v)]; }

  void mark(Value v) {
    std::vector<Value> open{v};
    while (!open.empty()) {
      const Value at = open.back();
      open.pop_back();
      if (at == none || is_live(at)) continue;
      live_[static_cast<std::size_t>(at)] = true;
      open.push_back(scope_[static_cast<std::size_t>(at)]);
      open.insert(open.end(), program_[at].operands.begin(), program_[at].operands.end());
    }
  }

  /// Marks writes to locals that are read.
  bool mark_writes() {
    bool changed = false;
    for (Value v = 0; v < static_cast<Value>(live_.size()); ++v) {
      const Instruction& i = program_[v];
      if (is_live(v) || (i.code != Opcode::Set && i.code != Opcode::Call)) continue;
      for (const Value o : i.operands)
        if (o != none && program_[o].code == Opcode::Local && is_live(o)) {
          mark(v);
          changed = true;
          break;
        }
    }
    return changed;
  }

  const LoopProgram& program_;
  std::vector<bool> live_;
  std::vector<Value> scope_;  // the Range or If that is open there
  std::vector<std::pair<Value, Value>> ends_;
};

}  // namespace

void eliminate_dead_code(LoopProgram& program) {
  const std::vector<bool> live = Liveness(program).find();
  std::vector<Value> renumbered(live.size(), none);
  std::vector<Instruction> kept;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    Instruction& instruction = program.code[i];
    for (Value& o : instruction.operands)
      if (o != none) o = renumbered[static_cast<std::size_t>(o)];
    renumbered[i] = static_cast<Value>(kept.size());
    kept.push_back(std::move(instruction));
  }
  program.code = std::move(kept);
}

}  // namespace sinter::inline v1::jit::loops
