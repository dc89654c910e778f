#include "builder.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {

bool Builder::is_integer(Value v, std::int64_t n) const noexcept { return is_integer(v) && integer_of(v) == n; }

Value Builder::emit(Instruction i) {
  out_.code.push_back(std::move(i));
  return static_cast<Value>(out_.code.size() - 1);
}

Value Builder::emit_or_reuse(Instruction i) {
  const bool is_named = i.code == Opcode::Param;
  const Key key{i.code, i.op, i.type.kind, i.type.dtype, i.type.width, i.attribute, i.operands, is_named ? i.name : ""};
  for (const auto& scope : available_)
    if (const auto found = scope.find(key); found != scope.end()) return found->second;
  return available_.back()[key] = emit(std::move(i));
}

Value Builder::elementwise(Opcode code, Type type, std::initializer_list<Value> operands) {
  for (const Value v : operands) type.width = std::max(type.width, width(v));
  return emit_or_reuse({code, type, {}, 0, operands, {}});
}

Value Builder::integer(Kind kind, std::int64_t n) {
  return emit_or_reuse({Opcode::Constant, index_type(kind), {}, static_cast<std::uint64_t>(n), {}, {}});
}

Value Builder::op(Op op, DType dtype, std::span<const Value> operands, std::uint64_t attribute) {
  Instruction i{Opcode::Elementwise, element_type(dtype), op, attribute, {operands.begin(), operands.end()}, {}};
  for (const Value v : operands) i.type.width = std::max(i.type.width, width(v));
  return emit_or_reuse(std::move(i));
}

Value Builder::add(Value a, Value b) {
  if (is_integer(a)) std::swap(a, b);
  if (is_integer(b, 0)) return a;
  if (is_integer(a) && is_integer(b)) return integer(type(a).kind, integer_of(a) + integer_of(b));
  return elementwise(Opcode::Add, type(a), {a, b});
}

Value Builder::sub(Value a, Value b) {
  if (is_integer(b, 0)) return a;
  return elementwise(Opcode::Sub, type(a), {a, b});
}

Value Builder::mul(Value a, Value b) {
  if (is_integer(a)) std::swap(a, b);
  if (is_integer(b, 1) || is_integer(a, 0)) return a;
  if (is_integer(b, 0)) return b;
  if (is_integer(a) && is_integer(b)) return integer(type(a).kind, integer_of(a) * integer_of(b));
  return elementwise(Opcode::Mul, type(a), {a, b});
}

Value Builder::div(Value a, Value divisor) {
  if (is_integer(divisor, 1)) return a;
  return elementwise(Opcode::Div, type(a), {a, divisor});
}

Value Builder::rem_by(Value a, std::int64_t power) {
  if (power == 1) return integer(type(a).kind, 0);
  return elementwise(Opcode::Rem, type(a), {a, integer(type(a).kind, power)});
}

Value Builder::and_guard(Value a, Value b) {
  if (a == none || b == none) return a == none ? b : a;
  return elementwise(Opcode::And, bool_type(), {a, b});
}

Value Builder::convert(Value a, Kind kind) {
  if (type(a).kind == kind) return a;
  if (is_integer(a)) return integer(kind, integer_of(a));
  return elementwise(Opcode::Convert, index_type(kind), {a});
}

Value Builder::ramp(Value first, Value step, int width, bool aligned) {
  if (width == 1) return first;
  Type t = type(first);
  t.width = width;
  return emit_or_reuse({Opcode::Ramp, t, {}, aligned, {first, step}, {}});
}

Value Builder::first_of_run(Value vector) {
  const Instruction i = out_[vector];  // a copy: what follows appends
  const bool is_wide = i.type.kind == Kind::Int64 || (i.type.kind == Kind::Element && i.type.dtype == DType::Int64);
  if (!is_wide) return none;  // others may wrap within the vector
  if (i.code == Opcode::Ramp) return is_integer(i.operands[1], 1) ? i.operands[0] : none;
  const bool is_sum = i.code == Opcode::Add || (i.code == Opcode::Elementwise && i.op == Op::add);
  if (!is_sum && i.code != Opcode::Convert) return none;
  boost::container::small_vector<Value, 4> operands = i.operands;
  int runs = 0;
  for (Value& o : operands) {
    if (width(o) == 1) continue;
    o = first_of_run(o);
    if (o == none || ++runs > 1) return none;
  }
  return emit_or_reuse({i.code, with_width(vector, 1), i.op, i.attribute, operands, {}});
}

Value Builder::advance(Value pointer, Value elements) {
  if (is_integer(elements, 0)) return pointer;
  return emit_or_reuse({Opcode::Advance, type(pointer), {}, 0, {pointer, elements}, {}});
}

Value Builder::load(Value pointer, Value position, int width, Access access, Value guard, Value stride) {
  if (width == 1 && access != Access::Gather) access = Access::Unaligned, stride = none;
  return emit({Opcode::Load,
               element_type(type(pointer).dtype, width),
               {},
               static_cast<std::uint64_t>(access),
               {pointer, position, guard, stride},
               {}});
}

void Builder::store(Value pointer, Value position, Value value, Access access, Value guard, Value stride) {
  if (width(value) == 1) access = Access::Unaligned, stride = none;
  emit({Opcode::Store, {}, {}, static_cast<std::uint64_t>(access), {pointer, position, value, guard, stride}, {}});
}

Value Builder::shared(DType dtype, int count, std::string name) {
  return emit({Opcode::Shared, pointer_type(dtype), {}, static_cast<std::uint64_t>(count), {}, std::move(name)});
}

Value Builder::local(Type type, int count, Value first, std::string name) {
  return emit({Opcode::Local, type, {}, static_cast<std::uint64_t>(count), {first}, std::move(name)});
}

Value Builder::call(std::string function, Type type, std::span<const Value> operands) {
  if (type.kind != Kind::None)
    for (const Value v : operands) type.width = std::max(type.width, width(v));
  return emit({Opcode::Call, type, {}, 0, {operands.begin(), operands.end()}, std::move(function)});
}

Value Builder::begin_for(Value begin, Value end, Value step, LoopHint hint, std::string name) {
  const Value counter =
      emit({Opcode::Range, type(begin), {}, static_cast<std::uint64_t>(hint), {begin, end, step}, std::move(name)});
  available_.emplace_back();
  return counter;
}

void Builder::begin_if(Value condition) {
  emit({Opcode::If, {}, {}, 0, {condition}, {}});
  available_.emplace_back();
}

void Builder::end_scope() {
  available_.pop_back();
  emit({Opcode::End, {}, {}, 0, {}, {}});
}

}  // namespace sinter::inline v1::jit::loops
