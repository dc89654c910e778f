#include "expressions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "../functions/functions.hpp"

namespace sinter::inline v1::jit::dialects {

using loops::Access;
using loops::Instruction;
using loops::Kind;
using loops::Opcode;
using loops::Type;
using loops::Value;

namespace {

Type scalar_of(Type t) noexcept {
  t.width = 1;
  return t;
}

}  // namespace

std::string Dialect::parallel(const loops::LoopProgram&, const Instruction& i, std::span<const std::string>) const {
  throw std::logic_error(fmt::format("the dialect has no {}", name(i.code)));
}

std::string Expressions::type(Type t) const {
  const std::string one(t.kind == Kind::Element ? dialect_.type(t.dtype) : dialect_.type(t.kind, program_.wide));
  return t.width == 1 ? one : fmt::format("Vec<{}, {}>", one, t.width);
}

std::string Expressions::memory_type(Type t) const {
  const std::string one(dialect_.memory_type(t.dtype));
  return t.width == 1 ? one : fmt::format("Vec<{}, {}>", one, t.width);
}

std::string Expressions::of(const Instruction& i) const {
  const auto a = [&](std::size_t k) { return names_.element(i.operands[k]); };
  switch (i.code) {
    case Opcode::Elementwise: return operation(i);
    case Opcode::Select: return fmt::format("{} ? {} : {}", a(0), a(1), a(2));
    case Opcode::Less: return fmt::format("{} < {}", a(0), a(1));
    case Opcode::Equal: return fmt::format("{} == {}", a(0), a(1));
    case Opcode::And: return fmt::format("{} && {}", a(0), a(1));
    case Opcode::Add: return fmt::format("{} + {}", a(0), a(1));
    case Opcode::Sub: return fmt::format("{} - {}", a(0), a(1));
    case Opcode::Mul: return fmt::format("{} * {}", a(0), a(1));
    case Opcode::Rem: return fmt::format("{} % {}", a(0), a(1));
    case Opcode::Div: return quotient(i);
    case Opcode::Convert: return convert(i);
    case Opcode::Splat: return a(0);
    case Opcode::Ramp:
      if (i.attribute == 0) return fmt::format("{} + l * {}", a(0), a(1));
      return fmt::format("({} & ~{}) | l", a(0), i.type.width - 1);
    case Opcode::ExtractColumn:
      return fmt::format("{}[l].at[{}]", names_[i.operands[0]], without_parentheses(names_[i.operands[1]]));
    case Opcode::Call: return call(i);
    default: return parallel(i);
  }
}

std::string Expressions::operation(const Instruction& i) const {
  std::vector<std::string> operands;
  for (const Value v : i.operands) operands.push_back(names_.element(v));
  const DType compute = program_[i.operands.back()].type.dtype;
  if (i.op == Op::call) return device_function(i, std::move(operands));
  if (i.op == Op::cast) return dialect_.conversion(compute, i.type.dtype, operands[0]);
  return dialect_.operation(i.op, compute, std::move(operands));
}

std::string Expressions::device_function(const Instruction& i, std::vector<std::string> operands) const {
  const DeviceFunction& f = function_of(FunctionId{i.attribute});
  std::string guard;
  if (operands.size() > f.source.parameters.size()) {
    guard = std::move(operands.back());
    operands.pop_back();
  }
  const std::string called = fmt::format("{}({})", f.symbol, fmt::join(operands, ", "));
  return guard.empty() ? called : fmt::format("{} ? {} : {}", guard, called, dialect_.literal(i.type.dtype, 0));
}

std::string Expressions::quotient(const Instruction& i) const {
  const Kind divisor = program_[i.operands[1]].type.kind;
  if (divisor == Kind::FastDivisor || divisor == Kind::FastDivisor64) return parallel(i);
  return fmt::format("{} / {}", names_[i.operands[0]], names_.element(i.operands[1]));
}

std::string Expressions::convert(const Instruction& i) const {
  const std::string from = type(scalar_of(program_[i.operands[0]].type)), to = type(scalar_of(i.type));
  const std::string value = names_.element(i.operands[0]);
  return from == to ? value : dialect_.cast(to, value);
}

std::string Expressions::call(const Instruction& i) const {
  std::vector<std::string> operands;
  for (const Value v : i.operands) {
    const bool is_local = program_[v].code == Opcode::Local;
    operands.push_back(is_local ? dialect_.reference(names_.element(v)) : names_.element(v));
  }
  return dialect_.call(i.name, operands);
}

std::string Expressions::parallel(const Instruction& i) const {
  std::vector<std::string> operands;
  for (const Value v : i.operands) operands.push_back(names_.element(v));
  return dialect_.parallel(program_, i, operands);
}

bool Expressions::is_const(Value pointer) const noexcept {
  const Instruction& i = program_[pointer];
  if (i.code == Opcode::Advance || i.code == Opcode::View) return is_const(i.operands[0]);
  return i.code == Opcode::Param && is_input(i);
}

std::string Expressions::pointer_to(std::string_view type, Value pointer) const {
  return fmt::format("{}{}*", is_const(pointer) ? "const " : "", type);
}

std::string Expressions::element(const Instruction& i, Type t) const {
  const Value pointer = i.operands[0], position = i.operands[1];
  const std::string& from = names_[pointer];
  if (t.width == 1) return fmt::format("{}[{}]", from, without_parentheses(names_[position]));
  const std::string vectors = pointer_to(memory_type(t), pointer);
  if (static_cast<Access>(i.attribute) == Access::AlignedIndexed)
    return fmt::format("{}[{}]", dialect_.pointer_cast(vectors, from), without_parentheses(names_[position]));
  return "*" + dialect_.pointer_cast(vectors, fmt::format("{} + {}", from, names_[position]));
}

std::string Expressions::lvalue(Value local, Value at) const {
  const std::string& n = names_[local];
  return at == loops::none || program_[local].attribute <= 1
             ? n
             : fmt::format("{}[{}]", n, without_parentheses(names_[at]));
}

}  // namespace sinter::inline v1::jit::dialects
