#include "names.hpp"

#include <fmt/format.h>

#include "dialect.hpp"

namespace sinter::inline v1::jit::dialects {

using loops::Instruction;
using loops::none;
using loops::Opcode;
using loops::Value;

const std::string& Names::define(Value v, std::string_view fallback) {
  const Instruction& i = program_[v];
  const std::string base = i.name.empty() || i.code == Opcode::Call ? std::string(fallback) : i.name;
  const int number = counts_[base]++;
  const std::string_view separator = base == "t" ? "" : "_";
  set(v, number == 0 && base != "t" ? base : fmt::format("{}{}{}", base, separator, number));
  return (*this)[v];
}

void Names::close() {
  counts_ = std::move(outer_counts_.back());
  outer_counts_.pop_back();
}

std::string Names::element(Value v, std::string_view l) const {
  const Instruction& i = program_[v];
  const bool is_single = i.type.width == 1;
  if (i.code == Opcode::Low) return element(i.operands[0], is_single ? "0" : l);
  if (i.code == Opcode::High) return element(i.operands[0], is_single ? "1" : fmt::format("{} + {}", l, i.type.width));
  return is_single || !is_array(v) ? (*this)[v] : fmt::format("{}.at[{}]", (*this)[v], l);
}

bool Names::is_array(Value v) const {
  return vector_loops_.loop[static_cast<std::size_t>(v)] == none || vector_loops_.outlives[static_cast<std::size_t>(v)];
}

std::string Names::as_comparison_operand(Value v) const {
  return program_[v].code == Opcode::Select ? (*this)[v] : without_parentheses((*this)[v]);
}

std::string without_parentheses(const std::string& n) {
  return n.starts_with('(') && n.ends_with(')') ? n.substr(1, n.size() - 2) : n;
}

}  // namespace sinter::inline v1::jit::dialects
