// Which operations become a chain, and its program.
#include <algorithm>
#include <optional>
#include <span>

#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::size_t longest_chain = 40;  // operations: a byte numbers their operands and the chain's blocks

/// An operation's form in a chain. `reversed` swaps the operands.
struct Form {
  enum Kind : std::uint8_t { Unary, Binary, Fma, Clamp, Load, Store } kind;
  ChainOpcode code;
  ChainOpcode reversed;
};

/// Conversions between float and 16-bit floats.
std::optional<Form> form_of_cast(const Step& s) {
  const auto is = [&](DType from, DType to) {
    return s.row == static_cast<int>(from) * cast_dtypes + static_cast<int>(to);
  };
  if (is(DType::Float16, DType::Float32)) return Form{Form::Load, ChainOpcode::load_half, ChainOpcode::load_half};
  if (is(DType::BFloat16, DType::Float32))
    return Form{Form::Load, ChainOpcode::load_bfloat16, ChainOpcode::load_bfloat16};
  if (is(DType::Float32, DType::Float16)) return Form{Form::Store, ChainOpcode::store_half, ChainOpcode::store_half};
  if (is(DType::Float32, DType::BFloat16))
    return Form{Form::Store, ChainOpcode::store_bfloat16, ChainOpcode::store_bfloat16};
  return std::nullopt;
}

std::optional<Form> form_of(const Step& s) {
  if (s.group == Group::Casts) return form_of_cast(s);
  if (s.group != Group::Float32 && s.group != Group::Float64) return std::nullopt;
  switch (static_cast<LoopOp>(s.row)) {
#define SINTER_UNARY(name) \
  case LoopOp::name: return Form{Form::Unary, ChainOpcode::name, ChainOpcode::name};
    SINTER_CHAIN_UNARY(SINTER_UNARY)
#undef SINTER_UNARY
#define SINTER_UNARY(name)                              \
  case LoopOp::name:                                    \
    if (s.group == Group::Float64) return std::nullopt; \
    return Form{Form::Unary, ChainOpcode::name, ChainOpcode::name};
    SINTER_CHAIN_UNARY_FLOAT(SINTER_UNARY)
#undef SINTER_UNARY
    case LoopOp::add: return Form{Form::Binary, ChainOpcode::add, ChainOpcode::add};
    case LoopOp::sub: return Form{Form::Binary, ChainOpcode::sub, ChainOpcode::reverse_sub};
    case LoopOp::mul: return Form{Form::Binary, ChainOpcode::mul, ChainOpcode::mul};
    case LoopOp::div: return Form{Form::Binary, ChainOpcode::div, ChainOpcode::reverse_div};
    case LoopOp::maximum: return Form{Form::Binary, ChainOpcode::maximum, ChainOpcode::maximum};
    case LoopOp::minimum: return Form{Form::Binary, ChainOpcode::minimum, ChainOpcode::minimum};
    case LoopOp::fma: return Form{Form::Fma, ChainOpcode::fma, ChainOpcode::fma_onto};
    case LoopOp::clamp: return Form{Form::Clamp, ChainOpcode::maximum, ChainOpcode::minimum};
    default: return std::nullopt;
  }
}

/// The dtype that a chain with this step computes in.
std::optional<Group> chain_of(const Step& s) {
  if (!form_of(s)) return std::nullopt;
  return s.group == Group::Casts ? Group::Float32 : s.group;
}

/// Writes the program of a run of steps.
class Writer {
 public:
  Writer(Steps& steps, const std::vector<std::uint32_t>& uses, std::vector<std::uint32_t>& inside,
         std::vector<std::uint32_t>& operand)
      : steps_(steps), uses_(uses), inside_(inside), operand_(operand) {}

  Chain write(std::span<const Step> run) {
    for (const Step& s : run)
      for (int k = 0; k < s.arity; ++k) ++inside_[s.in[k]];
    // The other readers of each value are known now; from here on `inside` counts the remaining reads.
    std::vector<bool> outside;
    for (const Step& s : run) outside.push_back(steps_.values[s.out].output || uses_[s.out] > inside_[s.out]);
    for (std::size_t j = 0; j < run.size(); ++j) {
      write_step(run[j]);
      for (int k = 0; k < run[j].arity; ++k) release(run[j].in[k]);
      if (form_of(run[j])->kind == Form::Store) continue;  // the accumulator is unchanged
      const ValueId v = accumulator_ = run[j].out;
      const std::uint32_t held = j + 1 < run.size() ? reads_of_accumulator(run[j + 1], v) : 0;
      if (outside[j]) store(v);
      if (inside_[v] > held && !outside[j]) keep(v);
    }
    emit(ChainOpcode::end_block);
    prefetch();
    for (const ValueId v : chain_.operands) operand_[v] = none;
    return std::move(chain_);
  }

 private:
  bool uniform(ValueId v) const { return steps_.values[v].level != Level::EachTile; }

  /// Whether the step reads only the accumulator as its factors: v * v, or v * v + w.
  static bool squares(const Step& s) {
    const auto op = static_cast<LoopOp>(s.row);
    return s.in[0] == s.in[1] && (op == LoopOp::mul || op == LoopOp::fma);
  }
  /// How many of the step's operands equal to v it reads from the accumulator.
  static std::uint32_t reads_of_accumulator(const Step& s, ValueId v) {
    if (squares(s) && s.in[0] == v) return 2;
    const Form::Kind kind = form_of(s)->kind;
    const int end = kind == Form::Load ? 0 : kind == Form::Clamp ? 1 : s.arity;
    return std::find(s.in, s.in + end, v) != s.in + end;
  }

  void emit(ChainOpcode code, std::uint8_t x = 0, std::uint8_t y = 0) { chain_.code.push_back({code, x, y}); }

  /// The number of the value's operand.
  std::uint8_t operand_of(ValueId v) {
    if (operand_[v] == none) {
      operand_[v] = static_cast<std::uint32_t>(chain_.operands.size());
      chain_.operands.push_back(v);
    }
    return static_cast<std::uint8_t>(operand_[v]);
  }
  void store(ValueId v, ChainOpcode code = ChainOpcode::store) {
    emit(code, operand_of(v));
    chain_.writes.push_back(v);
  }
  bool is_own(std::uint32_t operand) const { return operand != none && operand >= chain_operands - chain_.blocks; }

  /// Stores the accumulator, which holds v, in one of the chain's own blocks.
  void keep(ValueId v) {
    if (free_.empty()) free_.push_back(static_cast<std::uint8_t>(chain_operands - ++chain_.blocks));
    operand_[v] = free_.back();
    free_.pop_back();
    emit(ChainOpcode::store, static_cast<std::uint8_t>(operand_[v]));
  }
  /// A value's block is free again after its last read.
  void release(ValueId v) {
    if (--inside_[v] > 0 || !is_own(operand_[v])) return;
    free_.push_back(static_cast<std::uint8_t>(operand_[v]));
    operand_[v] = none;
  }

  /// Prepends a prefetch of each input array.
  void prefetch() {
    std::vector<ChainInstruction> all;
    for (const ValueId v : chain_.reads)
      if (steps_.values[v].kind == Value::Kind::Leaf && !uniform(v) && steps_.values[v].size >= sizeof(float))
        all.push_back({ChainOpcode::prefetch, static_cast<std::uint8_t>(operand_[v]), 0});
    chain_.prefetches = static_cast<std::uint32_t>(all.size());
    chain_.code.insert(chain_.code.begin(), all.begin(), all.end());
  }

  struct Source {
    Place place;
    std::uint8_t operand;
  };
  Source source(ValueId v) {
    const std::uint8_t o = operand_of(v);
    if (!is_own(o) && std::ranges::find(chain_.reads, v) == chain_.reads.end()) chain_.reads.push_back(v);
    return {uniform(v) ? Place::Uniform : Place::Memory, o};
  }

  void load(ValueId v) {
    binary(ChainOpcode::load, v);
    accumulator_ = v;
  }
  void binary(ChainOpcode code, ValueId x) {
    const Source s = source(x);
    emit(form(code, s.place), s.operand);
  }
  void ternary(ChainOpcode code, ValueId x, ValueId y) {
    const Source s = source(x), t = source(y);
    emit(form(code, s.place, t.place), s.operand, t.operand);
  }

  void write_step(const Step& s) {
    const Form f = *form_of(s);
    const ValueId a = s.in[0], b = s.in[1], c = s.in[2];
    if (squares(s) && accumulator_ != c) {
      if (accumulator_ != a) load(a);
      return f.kind == Form::Fma ? binary(ChainOpcode::square_add, c) : emit(ChainOpcode::square);
    }
    switch (f.kind) {
      case Form::Unary:
        if (accumulator_ != a) load(a);
        return emit(f.code);
      case Form::Binary:
        if (accumulator_ != a && accumulator_ != b) load(uniform(a) ? b : a);
        return accumulator_ == a ? binary(f.code, b) : binary(f.reversed, a);
      case Form::Fma:
        if (accumulator_ != a && accumulator_ != b && accumulator_ != c) load(!uniform(a) ? a : !uniform(b) ? b : c);
        return accumulator_ == a   ? ternary(f.code, b, c)
               : accumulator_ == b ? ternary(f.code, a, c)
                                   : ternary(f.reversed, a, b);
      case Form::Clamp:
        if (accumulator_ != a) load(a);
        binary(f.code, b);
        return binary(f.reversed, c);
      case Form::Load: return emit(f.code, source(a).operand);
      case Form::Store:
        if (accumulator_ != a) load(a);
        return store(s.out, f.code);
    }
  }

  Steps& steps_;
  const std::vector<std::uint32_t>& uses_;
  std::vector<std::uint32_t>& inside_;   // remaining reads of a value by the chain's steps
  std::vector<std::uint32_t>& operand_;  // the chain's operand for a value
  Chain chain_;
  std::vector<std::uint8_t> free_;
  ValueId accumulator_ = none;
};

}  // namespace

void make_chains(Steps& steps, const std::vector<std::uint32_t>& uses) {
  const std::vector<Step> all = std::move(steps.tiles);
  steps.tiles.clear();
  std::vector<std::uint32_t> inside(steps.values.size(), 0), operand(steps.values.size(), none);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    const std::optional<Group> group = chain_of(all[i]);
    while (group && end < all.size() && end - i < longest_chain && chain_of(all[end]) == group) ++end;
    if (end - i < 2) {
      steps.tiles.push_back(all[i++]);
      continue;
    }
    Step s;
    s.group = Group::Chains;
    s.row = *group == Group::Float64;
    s.chain = static_cast<std::uint32_t>(steps.chains.size());
    steps.chains.push_back(Writer(steps, uses, inside, operand).write({&all[i], end - i}));
    const Chain& chain = steps.chains.back();
    steps.chain_blocks = std::max(steps.chain_blocks, chain.blocks);
    steps.tiles.push_back(s);
    i = end;
  }
}

}  // namespace sinter::inline v1::jit::cpu
