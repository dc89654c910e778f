#include "c_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "../cuda/expression.hpp"
#include "../dialects/printer.hpp"
#include "../functions/words.hpp"
#include "../loops/serial.hpp"
#include "c_expression.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

using dialects::ParamText;
using loops::Instruction;
using loops::Kind;

/// Whether a body is sums and products of its operands alone, which integers compute unsigned.
bool is_ring_expression(std::string_view body) noexcept {
  return body.find_first_not_of("abc +-*") == std::string_view::npos;
}

/// Whether the C library has the function, for float and double.
bool is_in_libm(std::string_view function) noexcept {
  for (int op = 0; op < op_count; ++op)
    if (has(static_cast<Op>(op), Libm) && name(static_cast<Op>(op)) == function) return true;
  return false;
}

/// A helper if there is one, because compilers vectorize loops that call it; else the C library's function.
std::string function_name(std::string_view word, DType compute) {
  if (word == "select") return "sinter_select";
  const std::string helper = fmt::format("sinter_{}_{}", word, short_name(compute));
  if (category(compute) == Category::Float && is_in_libm(word) && !is_helper(helper))
    return fmt::format("{}{}", word, compute == DType::Float32 ? "f" : "");
  return helper;
}

std::string substitute(std::string_view body, DType compute, const std::vector<std::string>& operands) {
  std::string out;
  for (std::size_t i = 0; i < body.size();) {
    std::size_t end = i;
    while (end < body.size() && (is_word_character(body[end]) || (body[end] == '.' && end > i))) ++end;
    if (end == i) {
      out += body[i++];
      continue;
    }
    const std::string_view word = body.substr(i, end - i);
    const std::size_t operand = word.size() == 1 ? static_cast<std::size_t>(word[0] - 'a') : operands.size();
    if (operand < operands.size())
      out += operands[operand];
    else if (word == "T")
      out += fmt::format("sinter_{}", short_name(compute));
    else if (end < body.size() && body[end] == '(')
      out += function_name(word, compute);
    else
      out += word;
    i = end;
  }
  return out;
}

/// The line before a loop whose iterations threads may share. Those that find a fault tell it at the end.
std::string parallel_loop(const Step& step) {
  std::vector<std::string> extents;
  for (int d = 0; d < step.versions.back().nest.ndim; ++d) extents.push_back(fmt::format("n->extents[{}]", d));
  std::vector<std::string_view> faults;
  for (const Fault f : all_faults)
    if (step.traits->faults.has(f)) faults.push_back(dialects::fault_name(f));
  if (faults.empty()) return fmt::format("SINTER_PARALLEL({})\n", fmt::join(extents, " * "));
  return fmt::format("SINTER_PARALLEL_FAULTS({}, {})\n", fmt::join(extents, " * "), fmt::join(faults, ", "));
}

/// C99 spelling of the loop IR. Programs have no vectors; OpenMP may share loops among threads.
class CDialect final : public dialects::Dialect {
 public:
  CDialect(const Model& model, std::size_t step);

  std::string_view type(DType dtype) const override { return value_type(dtype); }
  std::string_view memory_type(DType dtype) const override { return element_type(dtype); }
  std::string_view type(Kind, bool) const override { return "int64_t"; }
  std::string literal(DType dtype, std::uint64_t bits) const override { return c_literal(dtype, bits); }
  std::string comment(DType dtype, std::uint64_t bits) const override {
    return fmt::format("/* {} */", cuda::decimal(dtype, bits));
  }

  std::string operation(Op op, DType compute, std::vector<std::string> operands) const override;
  std::string conversion(DType from, DType to, const std::string& value) const override {
    return c_conversion(from, to, value);
  }
  std::string cast(std::string_view type, const std::string& value) const override {
    return fmt::format("({}){}", type, value);
  }
  std::string pointer_cast(std::string_view type, const std::string& value) const override { return cast(type, value); }
  std::string reference(const std::string& local) const override { return "&" + local; }
  std::string_view loop_hint(loops::LoopHint hint) const override {
    if (hint == loops::LoopHint::Parallel) return parallel_loop_;
    if (hint == loops::LoopHint::Lanes) return "SINTER_LANES\n";
    return hint == loops::LoopHint::Vectors ? "SINTER_VECTORS\n" : "";
  }
  std::string call(std::string_view function, std::span<const std::string> operands) const override {
    return fmt::format("sinter_{}({})", function, fmt::join(operands, ", "));
  }
  std::string report(const std::string& faults, const std::string& bit) const override {
    return fmt::format("*{} |= {}", faults, bit);
  }

  ParamText param(const loops::LoopProgram& program, const Instruction& param) const override;
  std::string kernel(const loops::LoopProgram& program, const std::string& body) const override;

 private:
  const Model& model_;
  const std::size_t step_;
  const std::string parallel_loop_;
  std::map<std::string, std::string> values_;  // of parameters, by name
};

CDialect::CDialect(const Model& model, std::size_t step)
    : model_(model), step_(step), parallel_loop_(parallel_loop(model.steps[step])) {
  const Step& s = model.steps[step];
  const SymbolicNest& nest = s.versions.back().nest;
  const std::size_t outputs = s.kernel->outputs.size();
  for (int d = 0; d < nest.ndim; ++d) values_[fmt::format("extent{}", d)] = fmt::format("n->extents[{}]", d);
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const std::string name = k < outputs ? fmt::format("y{}", k) : fmt::format("x{}", k - outputs);
    values_[name] = fmt::format("n->data[{}]", k);
    for (int d = 0; d < nest.ndim; ++d)
      values_[fmt::format("{}_stride{}", name, d)] = fmt::format("n->strides[{}][{}]", k, d);
  }
  int scalars = 0;
  for (const Node& n : s.kernel->graph.nodes())
    if (n.op == Op::scalar) values_[fmt::format("s{}", scalars++)] = c_scalar(model, n);
}

std::string CDialect::operation(Op op, DType compute, std::vector<std::string> operands) const {
  if (is_complex(compute)) return operands[0] + (op == Op::real ? ".re" : ".im");
  if (op == Op::complex) return fmt::format("{{{}, {}}}", operands[0], operands[1]);
  const std::string_view body = sinter::body(op);
  if (compute == DType::Bool && op == Op::add) return fmt::format("{} | {}", operands[0], operands[1]);
  if (compute == DType::Bool && op == Op::mul) return fmt::format("{} & {}", operands[0], operands[1]);
  if (category(compute) != Category::Int || !is_ring_expression(body)) return substitute(body, compute, operands);
  for (std::string& o : operands) o = fmt::format("(u{}){}", value_type(compute), o);
  return fmt::format("({})({})", value_type(compute), substitute(body, compute, operands));
}

ParamText CDialect::param(const loops::LoopProgram&, const Instruction& i) const {
  if (i.type.kind == Kind::FaultWord) return {i.name, ""};
  const std::string& value = values_.at(i.name);
  if (i.type.kind == Kind::Element)
    return {i.name, fmt::format("const {} {} = {};", value_type(i.type.dtype), i.name, value)};
  if (i.type.kind != Kind::Pointer) return {i.name, fmt::format("const int64_t {} = {};", i.name, value)};
  const std::string element = fmt::format("{}{}", dialects::is_input(i) ? "const " : "", element_type(i.type.dtype));
  return {i.name + "_data", fmt::format("{0} *const {1}_data = ({0} *){2};", element, i.name, value)};
}

std::string CDialect::kernel(const loops::LoopProgram&, const std::string& body) const {
  std::string unused;
  if (body.find("a->") == std::string::npos) unused += "  (void)a;\n";
  if (body.find("*faults") == std::string::npos) unused += "  (void)faults;\n";
  return fmt::format(
      "static void {0}_cpu_{1}(const {0}_arguments *a, const sinter_nest *n, int *faults) {{\n{2}{3}}}\n", model_.name,
      step_, unused, body);
}

}  // namespace

std::string c_kernel(const Model& model, std::size_t step) {
  const Step& s = model.steps[step];
  return dialects::print(loops::lower_serial(*s.kernel, *s.traits, s.versions.back().nest), CDialect(model, step));
}

}  // namespace sinter::inline v1::jit::exporting
