#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "instruction_check.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

/// Whether the result may differ between threads of a block whatever the operands are: memory and locals may.
bool is_divergence_source(Opcode code) noexcept {
  return code == Opcode::ThreadIdx || code == Opcode::Load || code == Opcode::Get || code == Opcode::ExtractColumn ||
         code == Opcode::Call || code == Opcode::ShuffleXor;
}

/// Checks of visibility, control flow and order across instructions.
class Verifier {
 public:
  explicit Verifier(const LoopProgram& program)
      : program_(program),
        visible_(program.code.size()),
        divergent_(program.code.size()),
        is_set_(program.code.size()) {}

  std::string run() {
    for (Value v = 0; v < static_cast<Value>(program_.code.size()); ++v) {
      std::string_view wrong = check_operands(v);
      if (wrong.empty()) wrong = check_instruction(program_, v, is_set_);
      if (wrong.empty()) wrong = check_flow(v);
      if (!wrong.empty()) return fmt::format("%{} {}: {}", v, name(program_[v].code), wrong);
      define(v);
    }
    if (scopes_.size() > 1) return "a loop or condition has no end";
    return recorded_ == reported_ ? "" : "a fault is recorded but not reported, or reported but never recorded";
  }

 private:
  struct Scope {
    Value first;
    bool is_divergent;
  };

  static std::size_t index(Value v) noexcept { return static_cast<std::size_t>(v); }

  void define(Value v) {
    const Instruction& i = program_[v];
    divergent_[index(v)] = is_divergence_source(i.code) ||
                           std::ranges::any_of(i.operands, [&](Value o) { return o != none && divergent_[index(o)]; });
    visible_[index(v)] = i.type.kind != Kind::None;
    if (i.code == Opcode::Local && i.operands[0] != none) is_set_[index(v)] = true;
    if (i.code == Opcode::Set) is_set_[index(i.operands[0])] = true;
    if (i.code == Opcode::RecordFault) recorded_ |= std::uint64_t{1} << i.attribute;
    if (i.code == Opcode::ReportFault) reported_ |= std::uint64_t{1} << i.attribute;
    if (i.code == Opcode::Range || i.code == Opcode::If)
      scopes_.push_back({v + 1, scopes_.back().is_divergent || divergent_[index(v)]});
    if (i.code != Opcode::End) return;
    const Value opened = scopes_.back().first - 1;
    for (Value inner = opened; inner < v; ++inner) visible_[index(inner)] = false;
    scopes_.pop_back();
  }

  std::string_view check_operands(Value v) const {
    const Instruction& i = program_[v];
    if (i.code != Opcode::Elementwise && i.code != Opcode::Call && i.operands.size() != operand_count(i.code))
      return "the number of operands is wrong";
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
      const Value o = i.operands[k];
      if (o == none && may_lack(i.code, k)) continue;
      if (o == none) return "an operand is missing";
      if (o < 0 || o >= v || !visible_[index(o)]) return "an operand is not visible here";
      if (program_[o].code == Opcode::Local && !takes_local(i.code, k))
        return "a local is not a value: read it with get";
    }
    return "";
  }

  static bool may_lack(Opcode code, std::size_t k) noexcept {
    return (code == Opcode::Load && k > 1) || (code == Opcode::Store && k > 2) || code == Opcode::Local ||
           ((code == Opcode::Get || code == Opcode::Set || code == Opcode::RecordFault) && k == 1);
  }
  static bool takes_local(Opcode code, std::size_t k) noexcept {
    return code == Opcode::Call ||
           ((code == Opcode::Get || code == Opcode::ExtractColumn || code == Opcode::Set) && k == 0);
  }

  static std::size_t operand_count(Opcode code) noexcept {
    switch (code) {
      case Opcode::Param:
      case Opcode::Constant:
      case Opcode::ThreadIdx:
      case Opcode::BlockIdx:
      case Opcode::GridDim:
      case Opcode::BlockDim:
      case Opcode::Shared:
      case Opcode::RowCache:
      case Opcode::Barrier:
      case Opcode::WarpBarrier:
      case Opcode::End: return 0;
      case Opcode::Convert:
      case Opcode::Splat:
      case Opcode::Low:
      case Opcode::High:
      case Opcode::ShuffleXor:
      case Opcode::Local:
      case Opcode::Opaque:
      case Opcode::If: return 1;
      case Opcode::Select:
      case Opcode::Set:
      case Opcode::Range: return 3;
      case Opcode::Load: return 4;
      case Opcode::Store: return 5;
      default: return 2;
    }
  }

  std::string_view check_flow(Value v) const {
    const Instruction& i = program_[v];
    switch (i.code) {
      case Opcode::ShuffleXor:
      case Opcode::Barrier:
      case Opcode::WarpBarrier: return scopes_.back().is_divergent ? "not in uniform control flow" : "";
      case Opcode::Param:
      case Opcode::Shared: return scopes_.size() == 1 ? "" : "only allowed at the top level";
      case Opcode::End: return scopes_.size() > 1 ? "" : "end without a range or if";
      case Opcode::RecordFault: return reported_ == 0 ? "" : "the fault has been reported";
      case Opcode::ReportFault:
        if (reported_ >> i.attribute & 1) return "the fault has been reported";
        return scopes_.size() == 1 ? "" : "only allowed at the top level";
      default: return "";
    }
  }

  const LoopProgram& program_;
  std::vector<bool> visible_, divergent_;
  std::vector<bool> is_set_;  // whether an earlier instruction sets the local
  std::vector<Scope> scopes_{{0, false}};
  std::uint64_t recorded_ = 0, reported_ = 0;  // a bit for each fault
};

}  // namespace

std::string verify(const LoopProgram& program) { return Verifier(program).run(); }

void check([[maybe_unused]] const LoopProgram& program) {
#ifndef NDEBUG
  if (const std::string wrong = verify(program); !wrong.empty())
    throw std::logic_error("Invalid loop IR for kernel " + program.name + ": " + wrong + "\n" + to_string(program));
#endif
}

}  // namespace sinter::inline v1::jit::loops
