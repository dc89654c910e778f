#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sinter::inline v1::jit::loops {
namespace {

constexpr std::array functions{"add_exactly", "compensated", "raise_pivot", "move_mean",
                               "at_greatest", "about_mean",  "raised",      "merge_moments"};

bool is_index(Kind kind) noexcept {
  return kind == Kind::Word || kind == Kind::Index || kind == Kind::Offset || kind == Kind::Long;
}
bool is_number(Kind kind) noexcept { return is_index(kind) || kind == Kind::Element; }

/// Whether threads of a block may have different results. What is read may differ.
bool differs_by_itself(Code code) noexcept {
  return code == Code::Thread || code == Code::Load || code == Code::Get || code == Code::Column ||
         code == Code::Call || code == Code::Shuffle;
}

class Verifier {
 public:
  explicit Verifier(const Loops& loops) : loops_(loops), visible_(loops.code.size()), differs_(loops.code.size()) {}

  std::string run() {
    for (Value v = 0; v < static_cast<Value>(loops_.code.size()); ++v) {
      const Instruction& i = loops_[v];
      const std::string_view wrong = check_operands(v).empty() ? check(v) : check_operands(v);
      if (!wrong.empty()) return fmt::format("%{} {}: {}", v, name(i.code), wrong);
      define(v);
    }
    return scopes_.size() == 1 ? "" : "a loop or condition has no end";
  }

 private:
  struct Scope {
    Value first;
    bool diverges;
  };

  Type type(Value v) const { return v == none ? Type{} : loops_[v].type; }
  Type operand(const Instruction& i, std::size_t k) const { return type(i.operands[k]); }
  bool is_bool(Value v, int lanes) const {
    return type(v).kind == Kind::Element && type(v).dtype == DType::Bool &&
           (type(v).lanes == 1 || type(v).lanes == lanes);
  }

  void define(Value v) {
    const Instruction& i = loops_[v];
    const auto n = static_cast<std::size_t>(v);
    differs_[n] = differs_by_itself(i.code) || std::ranges::any_of(i.operands, [&](Value o) {
                    return o != none && differs_[static_cast<std::size_t>(o)];
                  });
    visible_[n] = i.type.kind != Kind::None;
    if (i.code == Code::Range || i.code == Code::If) scopes_.push_back({v + 1, scopes_.back().diverges || differs_[n]});
    if (i.code != Code::End) return;
    for (Value inner = scopes_.back().first; inner < v; ++inner) visible_[static_cast<std::size_t>(inner)] = false;
    scopes_.pop_back();
  }

  std::string_view check_operands(Value v) const {
    const Instruction& i = loops_[v];
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
      const Value o = i.operands[k];
      if (o == none) {
        if (!may_lack(i.code, k)) return "an operand is missing";
        continue;
      }
      if (o < 0 || o >= v || !visible_[static_cast<std::size_t>(o)]) return "an operand is not visible here";
    }
    return i.operands.size() == operand_count(i) ? "" : "the number of operands is wrong";
  }

  static bool may_lack(Code code, std::size_t k) noexcept {
    return ((code == Code::Load || code == Code::Get || code == Code::Set || code == Code::Flag) && k > 0) ||
           (code == Code::Store && k > 2) || code == Code::Local;
  }

  static std::size_t operand_count(const Instruction& i) noexcept {
    switch (i.code) {
      case Code::Param:
      case Code::Constant:
      case Code::Thread:
      case Code::Block:
      case Code::Blocks:
      case Code::Threads:
      case Code::Shared:
      case Code::RowCache:
      case Code::Barrier:
      case Code::WarpBarrier:
      case Code::End: return 0;
      case Code::Convert:
      case Code::Splat:
      case Code::Low:
      case Code::High:
      case Code::Shuffle:
      case Code::Local:
      case Code::Opaque:
      case Code::If: return 1;
      case Code::Select:
      case Code::Set:
      case Code::Range: return 3;
      case Code::Load: return 4;
      case Code::Store: return 5;
      case Code::Alu:
      case Code::Call: return i.operands.size();
      default: return 2;
    }
  }

  std::string_view check(Value v) const {
    const Instruction& i = loops_[v];
    switch (i.code) {
      case Code::Add:
      case Code::Sub:
      case Code::Mul:
      case Code::Remainder:
      case Code::Less:
      case Code::Equal: return check_indices(i);
      case Code::Alu: return check_elements(i);
      case Code::Select: return check_select(i);
      case Code::And:
        return is_bool(i.operands[0], i.type.lanes) && is_bool(i.operands[1], i.type.lanes) ? "" : "not a Bool";
      case Code::Quotient: return is_index(operand(i, 0).kind) ? "" : "not an index";
      case Code::Low:
      case Code::High: return operand(i, 0).lanes == 2 * i.type.lanes ? "" : "not half of the lanes";
      case Code::Advance:
      case Code::View:
        return operand(i, 0).kind == Kind::Pointer && is_index(operand(i, 1).kind) ? ""
                                                                                   : "not a pointer and a distance";
      case Code::Load: return check_memory(i, i.type, i.operands[2], i.operands[3]);
      case Code::Store: return check_memory(i, operand(i, 2), i.operands[3], i.operands[4]);
      case Code::Get:
      case Code::Column:
      case Code::Set: return check_local(i);
      case Code::Call:
        return std::ranges::find(functions, i.name) != functions.end() ? "" : "the prelude has no such function";
      case Code::Range: return check_range(i);
      case Code::If: return is_bool(i.operands[0], 1) ? "" : "not a Bool of one lane";
      case Code::End: return scopes_.size() > 1 ? "" : "nothing is open";
      case Code::Shuffle:
      case Code::Barrier:
      case Code::WarpBarrier: return scopes_.back().diverges ? "threads may be apart here" : "";
      default: return "";
    }
  }

  std::string_view check_lanes(const Instruction& i) const {
    for (const Value o : i.operands)
      if (o != none && type(o).lanes != 1 && type(o).lanes != i.type.lanes) return "lanes differ";
    return "";
  }

  std::string_view check_indices(const Instruction& i) const {
    const Type a = operand(i, 0), b = operand(i, 1);
    if (a.kind != b.kind || !is_number(a.kind)) return "kinds differ";
    if (a.kind == Kind::Element && a.dtype != b.dtype) return "dtypes differ";
    return check_lanes(i);
  }

  std::string_view check_elements(const Instruction& i) const {
    for (const Value o : i.operands)
      if (type(o).kind != Kind::Element) return "not an element";
    return i.operands.empty() ? "the number of operands is wrong" : check_lanes(i);
  }

  std::string_view check_select(const Instruction& i) const {
    if (!is_bool(i.operands[0], i.type.lanes)) return "not a Bool";
    const Type a = operand(i, 1), b = operand(i, 2);
    return a.kind == b.kind && a.dtype == b.dtype ? check_lanes(i) : "types differ";
  }

  std::string_view check_memory(const Instruction& i, const Type& value, Value guard, Value stride) const {
    const Type pointer = operand(i, 0), position = operand(i, 1);
    const auto access = static_cast<Access>(i.attribute);
    if (pointer.kind != Kind::Pointer || !is_number(position.kind)) return "not a pointer and a position";
    if (value.kind != Kind::Element || value.dtype != pointer.dtype) return "not of the pointer's dtype";
    if (guard != none && !is_bool(guard, value.lanes)) return "the guard is not a Bool";
    if ((stride != none) != (access == Access::Strided)) return "a stride without strided lanes";
    return position.lanes == 1 || access == Access::Gather ? "" : "a position for each lane";
  }

  std::string_view check_local(const Instruction& i) const {
    const Value local = i.operands[0], at = i.operands[1];
    const Instruction& l = loops_[local];
    if (l.code != Code::Local) return "not a local";
    const Type value = i.code == Code::Set ? operand(i, 2) : i.type;
    if (value.kind != l.type.kind || value.dtype != l.type.dtype) return "not of the local's type";
    if (i.code != Code::Column && value.lanes != 1 && value.lanes != l.type.lanes) return "lanes differ";
    if (at == none) return l.attribute <= 1 ? "" : "a position is missing";
    const Instruction& position = loops_[at];
    const Value last = position.code == Code::Range ? position.operands[1] : at;
    if (loops_[last].code != Code::Constant) return "not a constant position";
    const std::uint64_t bound = position.code == Code::Range ? 0 : 1;
    return loops_[last].attribute + bound <= std::max<std::uint64_t>(l.attribute, 1) ? "" : "past the local's end";
  }

  std::string_view check_range(const Instruction& i) const {
    for (std::size_t k = 0; k < 3; ++k)
      if (operand(i, k).kind != i.type.kind || operand(i, k).lanes != 1) return "kinds differ";
    return is_index(i.type.kind) ? "" : "not an index";
  }

  const Loops& loops_;
  std::vector<bool> visible_, differs_;
  std::vector<Scope> scopes_{{0, false}};
};

}  // namespace

std::string verify(const Loops& loops) { return Verifier(loops).run(); }

void check([[maybe_unused]] const Loops& loops) {
#ifndef NDEBUG
  if (const std::string wrong = verify(loops); !wrong.empty())
    throw std::logic_error("The loops of " + loops.name + " are wrong: " + wrong + "\n" + to_string(loops));
#endif
}

}  // namespace sinter::inline v1::jit::loops
