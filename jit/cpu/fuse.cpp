// Which neighbouring operations become one step. A step is absorbed by the only one that reads it.
#include <algorithm>
#include <initializer_list>
#include <optional>

#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

/// fma(x, scale, shift) for uniform scale and shift.
struct Affine {
  ValueId x, scale, shift;
};
/// fma(y, scale, shift) for the step's operand y.
struct Outer {
  ValueId scale, shift;
};

using Forms = Step::Forms;
constexpr Forms wrapped{3, 2};

class Fuser {
 public:
  Fuser(Steps& steps, std::vector<std::uint32_t>& uses)
      : steps_(steps), uses_(uses), producer_(steps.values.size(), no_slot) {}

  void run() {
    for (std::uint32_t i = 0; i < steps_.tiles.size(); ++i) {
      const Step& s = steps_.tiles[i];
      if (s.group == Group::Float32 || s.group == Group::Float64) {
        double_ = s.group == Group::Float64;
        if (steps_.values[s.out].size == (double_ ? 8 : 4)) fuse(i);
      }
      producer_[steps_.tiles[i].out] = i;
    }
  }

 private:
  void fuse(std::uint32_t i) {
    Step& s = steps_.tiles[i];
    for (const auto rule : {&Fuser::horner, &Fuser::before, &Fuser::after, &Fuser::negated, &Fuser::pair})
      if ((this->*rule)(s)) return;
  }

  Group plain() const { return double_ ? Group::Float64 : Group::Float32; }
  Group fused() const { return double_ ? Group::Fused64 : Group::Fused32; }
  bool is(const Step& s, RowOp op) const { return s.group == plain() && s.row == static_cast<int>(op); }
  bool uniform(ValueId v) const { return steps_.values[v].uniform; }

  /// The step that makes v, if v is read once and goes to no output.
  Step* sole_producer(ValueId v) {
    if (v >= producer_.size() || producer_[v] == no_slot || uses_[v] != 1 || steps_.values[v].output) return nullptr;
    Step& s = steps_.tiles[producer_[v]];
    return s.group == plain() || s.group == fused() ? &s : nullptr;
  }

  void replace(Step& s, Step& absorbed, int row, std::initializer_list<ValueId> in, Forms forms) {
    absorbed.arity = 0;
    s.forms = forms;
    s.group = fused();
    s.row = static_cast<std::uint16_t>(row);
    s.arity = 0;
    for (const ValueId v : in) s.in[s.arity++] = v;
  }

  ValueId constant(double x) {
    std::uint64_t bits = __builtin_bit_cast(std::uint64_t, x);
    if (!double_) bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(x));
    const int which = (x == 1 ? 0 : x == -1 ? 1 : 2) + (double_ ? 3 : 0);
    if (constants_[which] == no_slot) constants_[which] = add_constant(bits);
    return constants_[which];
  }
  ValueId add_constant(std::uint64_t bits) {
    Value v;
    v.size = double_ ? 8 : 4;
    v.uniform = true;
    v.number = static_cast<std::uint32_t>(steps_.constants.size());
    steps_.constants.push_back(bits);
    steps_.values.push_back(v);
    return static_cast<ValueId>(steps_.values.size() - 1);
  }
  ValueId one() { return constant(1); }
  ValueId minus_one() { return constant(-1); }
  ValueId minus_zero() { return constant(-0.0); }

  /// The negative of a uniform value.
  ValueId negative(ValueId v) {
    const Value& of = steps_.values[v];
    if (of.kind == Value::Kind::Constant)
      return add_constant(steps_.constants[of.number] ^ (std::uint64_t{1} << (double_ ? 63 : 31)));
    const ValueId result = add_constant(0);
    steps_.values[result].kind = Value::Kind::Result;
    steps_.once.push_back({plain(), 1, static_cast<std::uint16_t>(RowOp::neg), result, {0, 1}, {v}});
    return result;
  }

  /// The step as a multiply-add of one value that is not uniform with uniform ones.
  std::optional<Affine> affine(const Step& s) {
    if (is(s, RowOp::neg)) return Affine{s.in[0], minus_one(), minus_zero()};
    const bool binary = is(s, RowOp::add) || is(s, RowOp::sub) || is(s, RowOp::mul);
    if (!binary && !is(s, RowOp::fma)) return std::nullopt;
    if (uniform(s.in[0]) == uniform(s.in[1])) return std::nullopt;
    const bool swapped = uniform(s.in[0]);
    const ValueId x = s.in[swapped ? 1 : 0], u = s.in[swapped ? 0 : 1];
    if (is(s, RowOp::add)) return Affine{x, one(), u};
    if (is(s, RowOp::mul)) return Affine{x, u, minus_zero()};
    if (is(s, RowOp::sub)) return swapped ? Affine{x, minus_one(), u} : Affine{x, one(), negative(u)};
    if (!uniform(s.in[2])) return std::nullopt;
    return Affine{x, u, s.in[2]};
  }

  /// The step as a multiply-add of its operand k.
  std::optional<Outer> outer(const Step& s, int k) {
    const ValueId other = s.in[1 - (k & 1)];
    if (is(s, RowOp::neg)) return Outer{minus_one(), minus_zero()};
    if (is(s, RowOp::mul)) return Outer{other, minus_zero()};
    if (is(s, RowOp::add)) return Outer{one(), other};
    if (is(s, RowOp::sub) && k == 1) return Outer{minus_one(), other};
    if (is(s, RowOp::sub) && uniform(other)) return Outer{one(), negative(other)};
    if (is(s, RowOp::fma) && k < 2) return Outer{other, s.in[2]};
    return std::nullopt;
  }

  /// The function in the middle of a fused row, if the step computes one.
  std::optional<Inner> function(const Step& s) const {
    if (s.group != plain()) return std::nullopt;
    switch (static_cast<RowOp>(s.row)) {
#define SINTER_INNER(name) \
  case RowOp::name: return Inner::name;
      SINTER_INNER(exp)
      SINTER_INNER(log)
      SINTER_INNER(tanh)
      SINTER_INNER(erf)
      SINTER_INNER(sqrt)
      SINTER_INNER(sigmoid)
      SINTER_INNER(reciprocal)
      SINTER_INNER(square)
      SINTER_INNER(abs)
      SINTER_INNER(relu)
#undef SINTER_INNER
      default: return std::nullopt;
    }
  }
  bool is_open(const Step& s) {
    return s.group == fused() && s.row < inner_count && s.in[3] == one() && s.in[4] == minus_zero();
  }

  /// f(x * s + t)
  bool before(Step& s) {
    const auto f = function(s);
    Step* inner = f ? sole_producer(s.in[0]) : nullptr;
    const auto a = inner ? affine(*inner) : std::nullopt;
    if (!a) return false;
    replace(s, *inner, static_cast<int>(*f), {a->x, a->scale, a->shift, one(), minus_zero()}, wrapped);
    return true;
  }

  /// f(x) * p + q, f(x * s + t) * p + q, or (x * s + t) * p + q.
  bool after(Step& s) {
    if (s.group != plain()) return false;
    for (int k = 0; k < s.arity && k < 2; ++k) {
      Step* inner = sole_producer(s.in[k]);
      if (!inner || (s.arity > 1 && s.in[0] == s.in[1])) continue;
      const auto f = function(*inner);
      const auto a = f || is_open(*inner) ? std::nullopt : affine(*inner);
      if (!f && !a && !is_open(*inner)) continue;
      const auto o = outer(s, k);
      if (!o) continue;
      if (f)
        replace(s, *inner, static_cast<int>(*f), {inner->in[0], one(), minus_zero(), o->scale, o->shift}, wrapped);
      else if (a)
        replace(s, *inner, static_cast<int>(Inner::none), {a->x, a->scale, a->shift, o->scale, o->shift}, wrapped);
      else
        replace(s, *inner, inner->row, {inner->in[0], inner->in[1], inner->in[2], o->scale, o->shift}, wrapped);
      return true;
    }
    return false;
  }

  /// fma(fma(r, x, c1), x, c2), and longer.
  bool horner(Step& s) {
    if (!is(s, RowOp::fma) || !uniform(s.in[2])) return false;
    for (int k = 0; k < 2; ++k) {
      const ValueId x = s.in[1 - k];
      Step* inner = sole_producer(s.in[k]);
      if (!inner || uniform(x) || s.in[k] == x) continue;
      const int steps = inner->row - first_horner + 2;
      if (inner->group == fused() && steps >= 2 && steps < horner_longest && inner->in[0] == x) {
        const ValueId c = s.in[2];
        const Step shorter = *inner;
        replace(s, *inner, shorter.row + 1, {}, {1, 1});
        std::copy_n(shorter.in, shorter.arity, s.in);
        s.in[shorter.arity] = c;
        s.arity = static_cast<std::uint8_t>(shorter.arity + 1);
        return true;
      }
      if (!is(*inner, RowOp::fma) || !uniform(inner->in[2])) continue;
      for (int j = 0; j < 2; ++j)
        if (inner->in[1 - j] == x && inner->in[j] != x) {
          replace(s, *inner, first_horner, {x, inner->in[j], inner->in[2], s.in[2]}, {1, 1});
          return true;
        }
    }
    return false;
  }

  /// fma with an operand that is the negative of another.
  bool negated(Step& s) {
    if (!is(s, RowOp::fma)) return false;
    for (const int k : {2, 0, 1}) {
      Step* inner = sole_producer(s.in[k]);
      if (!inner || !is(*inner, RowOp::neg)) continue;
      const ValueId other = s.in[1 - (k & 1)];
      if (k == 2)
        replace(s, *inner, negated_addend, {s.in[0], s.in[1], inner->in[0]}, {0, 3});
      else
        replace(s, *inner, negated_factor, {inner->in[0], other, s.in[2]}, {0, 3});
      return true;
    }
    return false;
  }

  /// Two of +, - and * on three operands.
  bool pair(Step& s) {
    const auto second = cheap(s);
    if (!second || s.in[0] == s.in[1]) return false;
    for (int k = 0; k < 2; ++k) {
      Step* inner = sole_producer(s.in[k]);
      const auto first = inner ? cheap(*inner) : std::nullopt;
      if (!first) continue;
      const Cheap then = k == 1 && *second == Cheap::sub ? Cheap::rsub : *second;
      replace(s, *inner, pair_index(*first, then), {inner->in[0], inner->in[1], s.in[1 - k]}, {0, 3});
      return true;
    }
    return false;
  }
  std::optional<Cheap> cheap(const Step& s) const {
    if (is(s, RowOp::add)) return Cheap::add;
    if (is(s, RowOp::sub)) return Cheap::sub;
    if (is(s, RowOp::mul)) return Cheap::mul;
    return std::nullopt;
  }

  Steps& steps_;
  std::vector<std::uint32_t>& uses_;
  std::vector<std::uint32_t> producer_;  // the step that makes a value
  bool double_ = false;
  ValueId constants_[6] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};  // 1, -1, -0 of float and of double
};

}  // namespace

void fuse_steps(Steps& steps, std::vector<std::uint32_t>& uses) { Fuser(steps, uses).run(); }

}  // namespace sinter::inline v1::jit::cpu
