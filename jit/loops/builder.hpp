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
  explicit Builder(LoopProgram& out) : out_(out) {}

  const LoopProgram& program() const noexcept { return out_; }
  Type type(Value v) const noexcept { return out_[v].type; }
  int width(Value v) const noexcept { return type(v).width; }

  Value param(std::string name, Type type) { return emit_or_reuse({Opcode::Param, type, {}, 0, {}, std::move(name)}); }
  Value constant(DType dtype, std::uint64_t bits) {
    return emit_or_reuse({Opcode::Constant, element_type(dtype), {}, bits, {}, {}});
  }
  Value integer(Kind kind, std::int64_t n);
  Value builtin(Opcode code) { return emit_or_reuse({code, index_type(Kind::UInt32), {}, 0, {}, {}}); }

  /// An operation of the tables. `dtype` is that of the result; a reduction combines two partial results.
  Value op(Op op, DType dtype, std::span<const Value> operands, std::uint64_t attribute = 0);
  Value op(Op op, DType dtype, std::initializer_list<Value> operands) {
    return this->op(op, dtype, std::span(operands.begin(), operands.size()));
  }
  Value cast(Value a, DType dtype) { return type(a).dtype == dtype ? a : op(Op::cast, dtype, {a}); }
  /// Converts to the storage dtype.
  Value to_storage(Value a) { return cast(a, storage(type(a).dtype)); }
  Value select(Value condition, Value a, Value b) { return elementwise(Opcode::Select, type(a), {condition, a, b}); }

  /// Index arithmetic; both operands have the same kind.
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  /// Multiplication and division, rounding down, by a constant.
  Value mul_by(Value a, std::int64_t n) { return mul(a, integer(type(a).kind, n)); }
  Value div_by(Value a, std::int64_t n) { return div(a, integer(type(a).kind, n)); }
  Value div(Value a, Value divisor);
  Value rem_by(Value a, std::int64_t power);
  Value less(Value a, Value b) { return elementwise(Opcode::Less, bool_type(), {a, b}); }
  Value equal(Value a, Value b) { return elementwise(Opcode::Equal, bool_type(), {a, b}); }
  /// Conjunction of two guards; none means always true.
  Value and_guard(Value a, Value b);
  /// Converts an index to another kind.
  Value convert(Value a, Kind kind);
  /// Converts an index to an element of an integer dtype.
  Value element(Value a, DType dtype) { return elementwise(Opcode::Convert, element_type(dtype), {a}); }
  /// If it is aligned, the step is 1 and `first` a multiple of the width: a target compiler sees that indices differ in
  /// their low bits only.
  Value ramp(Value first, Value step, int width, bool aligned = false);
  /// The first of a vector of 64-bit integers that are known to increase by 1; none of another vector.
  Value first_of_run(Value vector);

  Value splat(Value a, int width) {
    return this->width(a) == width ? a : emit_or_reuse({Opcode::Splat, with_width(a, width), {}, 0, {a}, {}});
  }
  Value low(Value a) { return emit_or_reuse({Opcode::Low, with_width(a, width(a) / 2), {}, 0, {a}, {}}); }
  Value high(Value a) { return emit_or_reuse({Opcode::High, with_width(a, width(a) / 2), {}, 0, {a}, {}}); }
  Value shuffle_xor(Value a, int lane_mask) {
    return emit({Opcode::ShuffleXor, type(a), {}, static_cast<std::uint64_t>(lane_mask), {a}, {}});
  }
  Value opaque(Value a) { return emit({Opcode::Opaque, type(a), {}, 0, {a}, {}}); }

  Value advance(Value pointer, Value elements);
  Value view(Value pointer, Value bytes, DType dtype) {
    return emit_or_reuse({Opcode::View, pointer_type(dtype), {}, 0, {pointer, bytes}, {}});
  }
  Value load(Value pointer, Value position, int width, Access access, Value guard = none, Value stride = none);
  void store(Value pointer, Value position, Value value, Access access, Value guard = none, Value stride = none);
  Value shared(DType dtype, int count, std::string name);
  Value row_cache() { return emit_or_reuse({Opcode::RowCache, pointer_type(DType::UInt8), {}, 0, {}, {}}); }
  void barrier() { emit({Opcode::Barrier, {}, {}, 0, {}, {}}); }
  void warp_barrier() { emit({Opcode::WarpBarrier, {}, {}, 0, {}, {}}); }

  Value local(Type type, int count, Value first, std::string name);
  Value get(Value local, Value at = none) { return emit({Opcode::Get, type(local), {}, 0, {local, at}, {}}); }
  Value column(Value local, Value at, int width) {
    return emit({Opcode::ExtractColumn, with_width(local, width), {}, 0, {local, at}, {}});
  }
  void set(Value local, Value at, Value value) { emit({Opcode::Set, {}, {}, 0, {local, at, value}, {}}); }
  void set(Value local, Value value) { set(local, none, value); }
  /// A function of the prelude. Without a type it has no result. Vectors: element by element.
  Value call(std::string function, Type type, std::span<const Value> operands);
  Value call(std::string function, Type type, std::initializer_list<Value> operands) {
    return call(std::move(function), type, std::span(operands.begin(), operands.size()));
  }

  /// `body` emits what is within the loop, given its counter, or within the condition.
  void emit_for(Value begin, Value end, Value step, LoopHint hint, std::string name, const auto& body) {
    body(begin_for(begin, end, step, hint, std::move(name)));
    end_scope();
  }
  void emit_if(Value condition, const auto& body) {
    begin_if(condition);
    body();
    end_scope();
  }
  /// A loop from 0.
  void emit_counted(int count, std::string name, const auto& body, LoopHint hint = LoopHint::CompilerDefault) {
    const Value begin = integer(Kind::Index, 0), end = integer(Kind::Index, count), step = integer(Kind::Index, 1);
    emit_for(begin, end, step, hint, std::move(name), body);
  }
  /// The same, unrolled.
  void emit_unrolled(int count, std::string name, const auto& body) {
    emit_counted(count, std::move(name), body, LoopHint::Unrolled);
  }

  void record_fault(Fault fault, Value condition, Value guard) {
    emit({Opcode::RecordFault, {}, {}, static_cast<std::uint64_t>(fault), {condition, guard}, {}});
  }
  void report_fault(Fault fault, Value pointer, Value code) {
    emit({Opcode::ReportFault, {}, {}, static_cast<std::uint64_t>(fault), {pointer, code}, {}});
  }

  /// Sets a name as a hint to the printer, unless the value has one.
  Value named(Value v, std::string_view name) {
    if (std::string& n = out_.code[static_cast<std::size_t>(v)].name; n.empty()) n = name;
    return v;
  }

 private:
  using Key =
      std::tuple<Opcode, Op, Kind, DType, int, std::uint64_t, boost::container::small_vector<Value, 4>, std::string>;

  Type with_width(Value a, int width) const noexcept {
    Type t = type(a);
    t.width = width;
    return t;
  }
  bool is_integer(Value v, std::int64_t n) const noexcept;
  bool is_integer(Value v) const noexcept { return out_[v].code == Opcode::Constant && type(v).kind != Kind::Element; }
  std::int64_t integer_of(Value v) const noexcept { return static_cast<std::int64_t>(out_[v].attribute); }
  Value elementwise(Opcode code, Type type, std::initializer_list<Value> operands);
  Value emit(Instruction i);
  /// An equal instruction that is visible here, or a new one.
  Value emit_or_reuse(Instruction i);
  Value begin_for(Value begin, Value end, Value step, LoopHint hint, std::string name);
  void begin_if(Value condition);
  void end_scope();

  LoopProgram& out_;
  std::vector<std::map<Key, Value>> available_{1};  // by scope, innermost last
};

}  // namespace sinter::inline v1::jit::loops
