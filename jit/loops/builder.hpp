// Appends instructions to a program; what is computed twice in one scope is one instruction.
#pragma once
#include <initializer_list>
#include <map>
#include <tuple>

#include "../plan/faults.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

class Builder {
 public:
  explicit Builder(Loops& out) : out_(out) {}

  const Loops& loops() const noexcept { return out_; }
  Type type(Value v) const noexcept { return out_[v].type; }
  int lanes(Value v) const noexcept { return type(v).lanes; }

  Value param(std::string name, Type type) { return pure({Code::Param, type, {}, 0, {}, std::move(name)}); }
  Value constant(DType dtype, std::uint64_t bits) {
    return pure({Code::Constant, element_type(dtype), {}, bits, {}, {}});
  }
  Value integer(Kind kind, std::int64_t n);
  Value special(Code code) { return pure({code, index_type(Kind::Word), {}, 0, {}, {}}); }

  /// An operation of the tables. `dtype` is that of the result; a reduction combines two partial results.
  Value alu(Op op, DType dtype, std::span<const Value> operands);
  Value alu(Op op, DType dtype, std::initializer_list<Value> operands) {
    return alu(op, dtype, std::span(operands.begin(), operands.size()));
  }
  Value cast(Value a, DType dtype) { return type(a).dtype == dtype ? a : alu(Op::cast, dtype, {a}); }
  /// Converts to the storage dtype.
  Value stored(Value a) { return cast(a, storage(type(a).dtype)); }
  Value select(Value condition, Value a, Value b) { return lanewise(Code::Select, type(a), {condition, a, b}); }

  /// Index arithmetic; both operands have the same kind.
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  /// Multiplication and division, rounding down, by a constant.
  Value times(Value a, std::int64_t n) { return mul(a, integer(type(a).kind, n)); }
  Value over(Value a, std::int64_t power) { return quotient(a, integer(type(a).kind, power)); }
  Value quotient(Value a, Value divisor);
  Value remainder(Value a, std::int64_t power);
  Value less(Value a, Value b) { return lanewise(Code::Less, bool_type(), {a, b}); }
  Value equal(Value a, Value b) { return lanewise(Code::Equal, bool_type(), {a, b}); }
  /// Conjunction of two guards; none means always true.
  Value both(Value a, Value b);
  /// Converts an index to another kind.
  Value convert(Value a, Kind kind);
  /// Converts an index to an element of an integer dtype.
  Value element(Value a, DType dtype) { return lanewise(Code::Convert, element_type(dtype), {a}); }
  Value ramp(Value first, Value step, int lanes);

  Value splat(Value a, int lanes) {
    return this->lanes(a) == lanes ? a : pure({Code::Splat, with_lanes(a, lanes), {}, 0, {a}, {}});
  }
  Value low(Value a) { return pure({Code::Low, with_lanes(a, lanes(a) / 2), {}, 0, {a}, {}}); }
  Value high(Value a) { return pure({Code::High, with_lanes(a, lanes(a) / 2), {}, 0, {a}, {}}); }
  Value shuffle(Value a, int distance) {
    return emit({Code::Shuffle, type(a), {}, static_cast<std::uint64_t>(distance), {a}, {}});
  }
  Value opaque(Value a) { return emit({Code::Opaque, type(a), {}, 0, {a}, {}}); }

  Value advance(Value pointer, Value elements);
  Value view(Value pointer, Value bytes, DType dtype) {
    return pure({Code::View, pointer_type(dtype), {}, 0, {pointer, bytes}, {}});
  }
  Value load(Value pointer, Value position, int lanes, Access access, Value guard = none, Value stride = none);
  void store(Value pointer, Value position, Value value, Access access, Value guard = none, Value stride = none);
  Value shared(DType dtype, int count, std::string name);
  Value row_cache() { return pure({Code::RowCache, pointer_type(DType::UInt8), {}, 0, {}, {}}); }
  void barrier() { emit({Code::Barrier, {}, {}, 0, {}, {}}); }
  void warp_barrier() { emit({Code::WarpBarrier, {}, {}, 0, {}, {}}); }

  Value local(Type type, int count, Value first, std::string name);
  Value get(Value local, Value at = none) { return emit({Code::Get, type(local), {}, 0, {local, at}, {}}); }
  Value column(Value local, Value at, int lanes) {
    return emit({Code::Column, with_lanes(local, lanes), {}, 0, {local, at}, {}});
  }
  void set(Value local, Value at, Value value) { emit({Code::Set, {}, {}, 0, {local, at, value}, {}}); }
  void set(Value local, Value value) { set(local, none, value); }
  /// A function of the prelude. Without a type it has no result; lane by lane if an operand has several.
  Value call(std::string function, Type type, std::span<const Value> operands);
  Value call(std::string function, Type type, std::initializer_list<Value> operands) {
    return call(std::move(function), type, std::span(operands.begin(), operands.size()));
  }

  /// Loops and conditions last as long as the object.
  class Scope {
   public:
    explicit Scope(Builder& b) : b_(b) {}
    Scope(const Scope&) = delete;
    ~Scope() { b_.end(); }

   private:
    Builder& b_;
  };
  Value range(Value begin, Value end, Value step, Unroll unroll, std::string name);
  /// A counter from 0 that is unrolled.
  Value unrolled(int count, std::string name) {
    const Value begin = integer(Kind::Index, 0), end = integer(Kind::Index, count), step = integer(Kind::Index, 1);
    return range(begin, end, step, Unroll::All, std::move(name));
  }
  void when(Value condition);
  void end();

  void flag(Fault fault, Value condition, Value guard) {
    emit({Code::Flag, {}, {}, static_cast<std::uint64_t>(fault), {condition, guard}, {}});
  }
  void report(Fault fault, Value pointer, Value code) {
    emit({Code::Report, {}, {}, static_cast<std::uint64_t>(fault), {pointer, code}, {}});
  }

  /// Sets a name as a hint to the printer, unless the value has one.
  Value named(Value v, std::string_view name) {
    if (std::string& n = out_.code[static_cast<std::size_t>(v)].name; n.empty()) n = name;
    return v;
  }

 private:
  using Key =
      std::tuple<Code, Op, Kind, DType, int, std::uint64_t, boost::container::small_vector<Value, 4>, std::string>;

  Type with_lanes(Value a, int lanes) const noexcept {
    Type t = type(a);
    t.lanes = lanes;
    return t;
  }
  bool is_integer(Value v, std::int64_t n) const noexcept;
  bool is_integer(Value v) const noexcept { return out_[v].code == Code::Constant && type(v).kind != Kind::Element; }
  std::int64_t integer_of(Value v) const noexcept { return static_cast<std::int64_t>(out_[v].attribute); }
  Value lanewise(Code code, Type type, std::initializer_list<Value> operands);
  Value emit(Instruction i);
  Value pure(Instruction i);

  Loops& out_;
  std::vector<std::map<Key, Value>> known_{1};  // by scope, of which the last one is open
};

}  // namespace sinter::inline v1::jit::loops
