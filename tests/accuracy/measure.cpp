#include "measure.hpp"

#include <tbb/parallel_for.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include <jit/evaluate/evaluator.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "exact.hpp"

namespace sinter::accuracy {
namespace {

using runtime::TensorRef;

/// The wider float that results of T are held against.
template <class T>
using WiderThan = std::conditional_t<std::is_same_v<T, double>, Quad, Extended>;

/// What T computes in.
template <class T>
using HeldAs = std::conditional_t<test::is_16_bit_float<T>, float, T>;

template <class T>
struct Format {
  static constexpr int digits = std::is_same_v<T, double>  ? 53
                                : std::is_same_v<T, float> ? 24
                                : std::is_same_v<T, half>  ? 11
                                                           : 8;
  static constexpr int least = std::is_same_v<T, double> ? -1022 : std::is_same_v<T, half> ? -14 : -126;
  static constexpr int most = 1 - least;  // the exponent of the largest numbers
};

template <class T>
HeldAs<T> value_of(Bits b) {
  if constexpr (test::is_16_bit_float<T>)
    return test::widen_float<T>(b);
  else
    return test::as<T>(b);
}

/// An operation's exact value for some operands, and one unit in the last place there.
template <class R>
struct Expected {
  bool counts = true;  // in the domain
  R value{}, unit{};
};

template <class T, class R>
Expected<R> expect(Op op, const Operands<R>& v) {
  using F = Format<T>;
  Expected<R> e;
  const R most = R(std::numeric_limits<HeldAs<T>>::max());
  e.counts = in_domain(op, v, most);
  if (!e.counts || !exact(op, v, e.value)) return e;
  const R size = fmax(fabs(e.value), scale(op, v, R(std::numeric_limits<HeldAs<T>>::min())));
  const int exponent = size == 0 || is_nan(size) ? F::least : is_infinite(size) ? F::most : ilogb(size);
  e.unit = ldexp(R(1), std::clamp(exponent, F::least, F::most) - F::digits + 1);
  return e;
}

/// Units in the last place between the exact value and a result; infinite where NaN, an infinity or the sign of a zero
/// is wrong. An infinity counts as the power of two behind the largest number, and is right behind that.
template <class T, class R>
double distance(Op op, const Expected<R>& e, T got) {
  using F = Format<T>;
  const R g = R(value_of<T>(test::to_bits(got))), edge = ldexp(R(1), F::most + 1);
  if (is_nan(e.value) || is_nan(g)) return is_nan(e.value) && is_nan(g) ? 0 : INFINITY;
  if (is_infinite(e.value)) return e.value == g ? 0 : INFINITY;
  if (is_infinite(g)) {
    if (is_negative(e.value) != is_negative(g)) return INFINITY;
    return fabs(e.value) >= edge ? 0
                                 : static_cast<double>((edge - fabs(e.value)) / ldexp(R(1), F::most - F::digits + 1));
  }
  if (loses_smallest(op) && g == 0 && fabs(e.value) < ldexp(R(1), Format<HeldAs<T>>::least + 8)) return 0;
  // What cancels to nothing has no sign of its own, nor has a sum of zeros, by whichever formula, or a root of sinc.
  const bool sums = measured_in(op) == "the largest term" || op == Op::sinc;
  const bool has_sign = e.value == 0 ? !sums : measured_in(op).empty();
  if (g == 0 && has_sign && is_negative(e.value) != is_negative(g)) return INFINITY;
  return static_cast<double>(fabs(e.value - g) / e.unit);
}

/// What the reference of the tests says, for operations that have no wider one.
Bits plain(Op op, DType dtype, DType result, const std::vector<Bits>& held) {
  const Bits value = test::apply(op, dtype, held);
  return category(result) == Category::Float ? test::convert_bits(value, test::held(result), result) : value;
}

bool same(DType t, Bits a, Bits b) {
  if (a == b || category(t) != Category::Float) return a == b;
  const auto is_not = [t](Bits v) {
    const double wide = test::as<double>(test::convert_bits(v, t, DType::Float64));
    return wide != wide;
  };
  return is_not(a) && is_not(b);
}

Bits bits_at(const runtime::TensorImpl& t, std::size_t i) {
  Bits b = 0;
  std::memcpy(&b, t.data + i * size_of(t.dtype), size_of(t.dtype));
  return b;
}

/// Operations of a dtype that take as many operands, as one graph.
class Group {
 public:
  Group(DType dtype, std::size_t operands, const std::vector<std::string>& only) : dtype_(dtype) {
    std::vector<jit::Operand> leaves;
    for (std::size_t k = 0; k < operands; ++k)
      leaves.push_back(recorded_.graph.leaf(dtype, static_cast<std::uint32_t>(k)));
    for (const Op op : measured_ops(dtype)) {
      if (given_operands(op) != operands) continue;
      if (!only.empty() && std::ranges::find(only, name(op)) == only.end()) continue;
      ops_.push_back(op);
      std::vector<jit::Operand> all = leaves;
      for (const double value : defaults(op))
        all.push_back(recorded_.graph.constant(DType::Float64, test::to_bits(value)));
      recorded_.graph.output(recorded_.graph.apply(op, all));
    }
  }
  const std::vector<Op>& ops() const { return ops_; }

  std::vector<TensorRef> evaluate(const Columns& columns, const Target& on) {
    if (on.isa) jit::cpu::set_isa(*on.isa);
    std::vector<TensorRef> leaves;
    recorded_.leaves.clear();
    for (const std::vector<Bits>& column : columns) {
      const TensorRef leaf = runtime::empty(Shape{column.size()}, dtype_, Device());
      for (std::size_t i = 0; i < column.size(); ++i)
        std::memcpy(leaf->data + i * size_of(dtype_), &column[i], size_of(dtype_));
      leaves.push_back(jit::to(*leaf, dtype_, on.device));
      recorded_.leaves.push_back(leaves.back().get());
    }
    recorded_.device = on.device;
    std::vector<TensorRef> outputs(ops_.size());
    jit::evaluate_recorded(recorded_, outputs.data(), jit::Mode::Fused);
    runtime::backend(on.device).synchronize();
    for (TensorRef& t : outputs) t = jit::contiguous(*jit::to(*t, t->dtype, Device()));
    return outputs;
  }

 private:
  DType dtype_;
  jit::Recorded recorded_;
  std::vector<Op> ops_;
};

template <class T, class R>
Operands<R> wide_operands(Op op, const Columns& columns, std::size_t i) {
  Operands<R> v{};
  std::size_t k = 0;
  for (; k < columns.size(); ++k) v[k] = R(value_of<T>(columns[k][i]));
  for (const double value : defaults(op)) v[k++] = R(static_cast<HeldAs<T>>(value));
  return v;
}

/// The errors of one operation in some results, by target, added to those that were found before.
template <class T>
void judge(Op op, const Columns& columns, const std::vector<runtime::TensorImpl*>& results,
           std::vector<Largest>& worst) {
  using R = WiderThan<T>;
  const DType dtype = dtype_of<T>;
  std::vector<Bits> given(columns.size());
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    const Operands<R> v = wide_operands<T, R>(op, columns, i);
    const Expected<R> e = expect<T, R>(op, v);
    if (!e.counts) continue;
    const bool bit_by_bit = e.unit == 0;
    Bits expected = 0;
    if (bit_by_bit) {
      std::vector<Bits> held;
      for (std::size_t k = 0; k < info(op).arity; ++k) held.push_back(test::to_bits(static_cast<HeldAs<T>>(v[k])));
      expected = plain(op, dtype, results[0]->dtype, held);
    }
    for (std::size_t target = 0; target < results.size(); ++target) {
      const Bits got = bits_at(*results[target], i);
      const double ulps = !bit_by_bit                                   ? distance<T, R>(op, e, test::as<T>(got))
                          : same(results[target]->dtype, got, expected) ? 0
                                                                        : INFINITY;
      Largest& so_far = worst[target];
      so_far.exact = bit_by_bit;
      if (ulps > so_far.ulps || so_far.operands.empty()) {
        so_far.ulps = ulps;
        so_far.operands.clear();
        for (const auto& column : columns) so_far.operands.push_back(column[i]);
      }
    }
  }
}

/// Extended must be wide enough to judge T by: quad precision says the same of the worst results.
template <class T>
void check_reference(Op op, const std::vector<Bits>& tuple) {
  Columns columns;
  for (const Bits b : tuple) columns.push_back({b});
  const auto narrow = expect<T, Extended>(op, wide_operands<T, Extended>(op, columns, 0));
  const auto wide = expect<T, Quad>(op, wide_operands<T, Quad>(op, columns, 0));
  if (wide.unit == 0 || !(fabs(Quad(narrow.value) - wide.value) > wide.unit / 100)) return;  // or no number
  std::string operands;
  for (const auto& column : columns) operands += ' ' + test::show(dtype_of<T>, column[0]);
  throw Error("the reference of " + std::string(name(op)) + " is off by more than 0.01 ulp at" + operands);
}

template <class T>
void measure_group(std::size_t operands, Depth depth, const std::vector<Target>& on,
                   const std::vector<std::vector<Bits>>& more, const std::vector<std::string>& only, Errors& errors) {
  const DType dtype = dtype_of<T>;
  Group group(dtype, operands, only);
  if (group.ops().empty()) return;
  std::vector<std::vector<Largest>> worst(group.ops().size(), std::vector<Largest>(on.size()));
  Arguments arguments(dtype, operands, depth, [&](const Columns& columns) {
    std::vector<std::vector<TensorRef>> results;
    for (const Target& target : on) results.push_back(group.evaluate(columns, target));
    tbb::parallel_for(std::size_t{0}, group.ops().size(), [&](std::size_t o) {
      std::vector<runtime::TensorImpl*> of_op;
      for (const auto& all : results) of_op.push_back(all[o].get());
      judge<T>(group.ops()[o], columns, of_op, worst[o]);
    });
  });
  for (const auto& tuple : more)
    if (tuple.size() == operands) arguments.add(tuple);
  arguments.run();
  for (std::size_t o = 0; o < group.ops().size(); ++o)
    for (std::size_t t = 0; t < on.size(); ++t) {
      if constexpr (!std::is_same_v<T, double>) check_reference<T>(group.ops()[o], worst[o][t].operands);
      errors[{group.ops()[o], on[t].name}] = worst[o][t];
    }
}

}  // namespace

std::vector<Target> targets() {
  std::vector<Target> all;
  for (int i = 0; i <= static_cast<int>(jit::cpu::isa()); ++i) {
    const auto isa = static_cast<jit::cpu::Isa>(i);
    all.push_back({std::string(jit::cpu::isa_name(isa)), Device(), isa});
  }
  all.push_back({"cuda", Device("cuda:0"), {}});
  return all;
}

const std::vector<double>& defaults(Op op) {
  static const std::map<Op, std::vector<double>> all = {
#define SINTER_OP(...)
#define SINTER_DEFAULTS(name, ...) {Op::name, {__VA_ARGS__}},
#include <sinter/jit/op_list.def>
  };
  static const std::vector<double> none;
  const auto at = all.find(op);
  return at == all.end() ? none : at->second;
}

std::size_t given_operands(Op op) { return info(op).arity - defaults(op).size(); }

namespace {

/// Of real numbers they choose, or make complex ones of them.
bool is_of_complex_numbers(Op op) { return op >= Op::real && op <= Op::sgn; }

/// Parts of losses and norms, which no program calls.
bool is_part(Op op) {
  return op == Op::cross_entropy_term || op == Op::norm_term || op == Op::norm_root || op == Op::norm_sqrt;
}

}  // namespace

std::vector<Op> measured_ops(DType dtype) {
  std::vector<Op> ops;
  for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (is_of_complex_numbers(op) || is_part(op)) continue;
    const DTypeRule rule = info(op).rule;
    std::vector<OperandType> types(given_operands(op), OperandType{dtype});
    types.resize(info(op).arity, OperandType{DType::Float32, true});
    const OpTypes t = op_types(op, types);
    if (t.ok && t.compute == dtype && rule != DTypeRule::Logical && rule != DTypeRule::Select) ops.push_back(op);
  }
  return ops;
}

Errors measure(DType dtype, Depth depth, const std::vector<Target>& on, const std::vector<std::vector<Bits>>& more,
               const std::vector<std::string>& only) {
  Errors errors;
  test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T> || test::is_16_bit_float<T>)
      for (std::size_t operands = 1; operands <= max_arity; ++operands)
        measure_group<T>(operands, depth, on, more, only, errors);
  });
  return errors;
}

}  // namespace sinter::accuracy
