#include "dead_code.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

/// Whether the instruction has side effects. Parameters count as such: a launch passes them all.
bool has_effect(const Instruction& i) noexcept {
  switch (i.code) {
    case Code::Param:
    case Code::Store:
    case Code::Barrier:
    case Code::WarpBarrier:
    case Code::Shuffle:  // all threads of the warp take part
    case Code::Flag:
    case Code::Report: return true;
    default: return false;
  }
}

class Liveness {
 public:
  explicit Liveness(const Loops& loops) : loops_(loops), live_(loops.code.size()), scope_(loops.code.size(), none) {
    std::vector<Value> open{none};
    for (Value v = 0; v < static_cast<Value>(live_.size()); ++v) {
      if (loops[v].code == Code::End) {
        ends_.emplace_back(open.back(), v);
        open.pop_back();
      }
      scope_[static_cast<std::size_t>(v)] = open.back();
      if (loops[v].code == Code::Range || loops[v].code == Code::If) open.push_back(v);
    }
  }

  std::vector<bool> find() {
    for (std::size_t i = 0; i < live_.size(); ++i)
      if (has_effect(loops_.code[i])) mark(static_cast<Value>(i));
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
      open.insert(open.end(), loops_[at].operands.begin(), loops_[at].operands.end());
    }
  }

  /// Marks writes to locals that are read.
  bool mark_writes() {
    bool changed = false;
    for (Value v = 0; v < static_cast<Value>(live_.size()); ++v) {
      const Instruction& i = loops_[v];
      if (is_live(v) || (i.code != Code::Set && i.code != Code::Call)) continue;
      for (const Value o : i.operands)
        if (o != none && loops_[o].code == Code::Local && is_live(o)) {
          mark(v);
          changed = true;
          break;
        }
    }
    return changed;
  }

  const Loops& loops_;
  std::vector<bool> live_;
  std::vector<Value> scope_;  // the Range or If that is open there
  std::vector<std::pair<Value, Value>> ends_;
};

}  // namespace

void eliminate_dead_code(Loops& loops) {
  const std::vector<bool> live = Liveness(loops).find();
  std::vector<Value> number(live.size(), none);
  std::vector<Instruction> kept;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    Instruction& instruction = loops.code[i];
    for (Value& o : instruction.operands)
      if (o != none) o = number[static_cast<std::size_t>(o)];
    number[i] = static_cast<Value>(kept.size());
    kept.push_back(std::move(instruction));
  }
  loops.code = std::move(kept);
}

}  // namespace sinter::inline v1::jit::loops
