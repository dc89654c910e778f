#include "row_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "expression.hpp"
#include "source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

/// What needs no place of its own in Row: it is written wherever it is used.
bool is_simple(Op op) noexcept {
  return op == Op::constant || op == Op::scalar || op == Op::array || op == Op::leaf || op == Op::index ||
         op == Op::count;
}

}  // namespace

RowFunctions::RowFunctions(const RowPasses& passes, std::string params, bool wide)
    : passes_(passes),
      kernel_(passes.kernel),
      graph_(passes.kernel.graph),
      params_(std::move(params)),
      index_(wide ? "unsigned long long" : "unsigned"),
      parts_(passes, index_),
      faults_(faults_of(graph_)),
      must_be_inside_(faults_.any()) {
  for (const Node& n : graph_.nodes()) must_be_inside_ |= n.op == Op::load;
  find_members();
}

bool RowFunctions::is_member(std::size_t node) const noexcept {
  return passes_.stages.per_row[node] && !is_simple(graph_.nodes()[node].op);
}

/// From the last to the first, since later values ask for earlier ones.
void RowFunctions::find_members() {
  used_.resize(graph_.nodes().size());
  member_.resize(used_.size());
  const auto use = [&](std::span<const Operand> values, auto stops) {
    const auto needed = made_of(graph_, values, stops);
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i] && is_member(i)) used_[i] = true;
  };
  const auto at_members = [&](std::size_t i) { return is_member(i); };
  for (const RowPass& w : passes_.passes) use(w.wanted, at_members);
  use(row_outputs(), at_members);
  for (int stages = passes_.stages.count; stages >= 0; --stages) {
    const auto at_earlier = [&](std::size_t i) {
      return is_member(i) && (combines(graph_.nodes()[i]) || passes_.stages.stage[i] < stages);
    };
    const std::vector<Operand> made = members_of(stages);
    const auto needed = made_of(graph_, made, at_earlier);
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i] && at_earlier(i)) used_[i] = true;
  }
  int number = 0;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (used_[i]) member_[i] = fmt::format("v{}", number++);
}

/// What is computed when so many stages are over, but for their own results.
std::vector<Operand> RowFunctions::members_of(int stages) const {
  std::vector<Operand> found;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (used_[i] && !combines(graph_.nodes()[i]) && passes_.stages.stage[i] == stages)
      found.push_back({static_cast<NodeId>(i), 0});
  return found;
}

std::vector<Operand> RowFunctions::row_outputs() const {
  std::vector<Operand> found;
  for (std::size_t k = 0; k < graph_.outputs().size(); ++k)
    if (!passes_.is_element_output(k)) found.push_back(graph_.outputs()[k]);
  return found;
}

bool RowFunctions::is_row_input(std::size_t input) const noexcept {
  if (passes_.is_element_input(input)) return false;
  return std::ranges::none_of(graph_.nodes(), [&](const Node& n) { return n.op == Op::array && n.attribute == input; });
}

bool RowFunctions::has_row_outputs() const { return !row_outputs().empty(); }

bool RowFunctions::has_row_function(int stage) const {
  if (!members_of(stage).empty()) return true;
  if (stage == 0) return false;
  const auto is_used = [&](Operand o) { return used_[static_cast<std::size_t>(o.node)]; };
  return std::ranges::any_of(pass(stage - 1).reductions, is_used) ||
         std::ranges::any_of(pass(stage - 1).online, is_used, &OnlineSum::sum);
}

std::string RowFunctions::structs() const {
  std::string out = "// What is one for each row.\nstruct Row {\n";
  for (std::size_t k = 0; k < kernel_.inputs.size(); ++k)
    for (const Node& n : graph_.nodes())
      if ((n.op == Op::leaf || n.op == Op::index) && n.attribute == k && is_row_input(k)) {
        out += fmt::format("  {} x{};\n", storage_type(n.dtype), k);
        break;
      }
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (used_[i])
      out += fmt::format("  {} {};  // {}\n", word_type(graph_.nodes()[i].dtype), member_[i],
                         sinter::name(graph_.nodes()[i].op));
  out += "};\n";
  for (int s = 0; s < passes_.stages.count; ++s) out += "\n" + parts_.text(s);
  return out;
}

std::string RowFunctions::functions() const {
  std::string out;
  for (int stages = 0; stages <= passes_.stages.count; ++stages) {
    if (has_row_function(stages)) out += row_function(stages) + "\n";
    if (static_cast<std::size_t>(stages) < passes_.passes.size())
      out += pass_function(static_cast<std::size_t>(stages)) + "\n";
  }
  return has_row_outputs() ? out + finish_function() + "\n" : out;
}

Writer RowFunctions::writer(int but_after) const {
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < kernel_.inputs.size(); ++k)
    inputs.push_back(fmt::format("{}x{}", passes_.is_element_input(k) ? "" : is_row_input(k) ? "r." : "p.", k));
  for (const Node& n : graph_.nodes())
    if (n.op == Op::array) inputs[n.attribute] = fmt::format("p.x{}", n.attribute);
  Writer w(kernel_, std::move(inputs));
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (used_[i] && (combines(graph_.nodes()[i]) || passes_.stages.stage[i] != but_after))
      w.know({static_cast<NodeId>(i), 0}, "r." + member_[i]);
  return w;
}

std::string RowFunctions::fault_parameters() const {
  return fmt::format("{}{}", faults_.division ? ", bool& fault" : "", faults_.position ? ", bool& outside" : "");
}

std::string RowFunctions::row_function(int stages) const {
  Writer w = writer(stages);
  if (stages > 0) {
    for (const RowParts::Field& f : parts_.fields(stages - 1))
      if (const auto node = static_cast<std::size_t>(f.reduction.node); used_[node])
        w.line(f.position ? fmt::format("r.{} = int64(a.{}_at);", member_[node], f.name)
                          : fmt::format("r.{} = a.{};", member_[node], f.name));
    for (const RowParts::OnlineField& f : parts_.online_fields(stages - 1))
      if (const auto node = static_cast<std::size_t>(f.sum.sum.node); used_[node])
        w.line(fmt::format("r.{} = {};", member_[node], f.result("a")));
  }
  const std::vector<Operand> made = members_of(stages);
  w.write(made_of(graph_, made, [&](std::size_t i) {
    return used_[i] && (combines(graph_.nodes()[i]) || passes_.stages.stage[i] != stages);
  }));
  for (const Operand o : made) w.line(fmt::format("r.{} = {};", member_[static_cast<std::size_t>(o.node)], w.name(o)));
  const std::string part = stages > 0 ? fmt::format(", const Part{}& a", stages - 1) : "";
  return fmt::format("SINTER_DEVICE void row{}(const {}& p{}, Row& r{}) {{\n{}}}\n", stages, params_, part,
                     fault_parameters(), w.take());
}

std::string RowFunctions::element_inputs(const RowPass& pass) const {
  std::vector<std::string_view> types(kernel_.inputs.size());
  for (const Node& n : graph_.nodes())
    if (n.op == Op::leaf || n.op == Op::index) types[n.attribute] = storage_type(n.dtype);
  std::string out;
  for (std::size_t k = 0; k < types.size(); ++k)
    if (pass.inputs[k]) out += fmt::format(", {} x{}", types[k], k);
  return out;
}

std::string RowFunctions::pass_function(std::size_t number) const {
  const RowPass& pass = passes_.passes[number];
  if (!pass.reductions.empty()) {
    const int stage = static_cast<int>(number);
    return is_online(stage) ? stage_function(stage) + "\n" + near_function(stage) : stage_function(stage);
  }
  Writer w = writer();
  w.write(made_of(graph_, pass.wanted, [&](std::size_t i) { return used_[i]; }));
  std::string outputs;
  for (std::size_t k = 0; k < graph_.outputs().size(); ++k) {
    if (!passes_.is_element_output(k)) continue;
    const Operand o = graph_.outputs()[k];
    outputs += fmt::format(", {}& y{}", storage_type(graph_[o].dtype), k);
    w.line(fmt::format("y{} = {};", k, w.name(o)));
  }
  return fmt::format("SINTER_DEVICE void element(const {}& p, const Row& r{}{}{}) {{\n{}}}\n", params_,
                     element_inputs(pass), outputs, fault_parameters(), w.take());
}

std::string RowFunctions::stage_function(int stage) const {
  Writer w = writer();
  w.write(made_of(graph_, pass(stage).wanted, [&](std::size_t i) { return used_[i]; }));
  std::string values;
  for (const RowParts::Field& f : parts_.fields(stage)) {
    values += fmt::format("{}{}", values.empty() ? "" : ", ", w.name(graph_.operands(graph_[f.reduction])[0]));
    if (f.position) values += ", at";
  }
  return fmt::format("SINTER_DEVICE {0}{1} {2}{1}(const {3}& p, const Row& r{4}{5}{6}) {{\n{7}  return {{{8}}};\n}}\n",
                     is_online(stage) ? "Pivot" : "Part", stage, is_online(stage) ? "pivot" : "stage", params_,
                     element_inputs(pass(stage)), gives_position(stage) ? fmt::format(", {} at", index_) : "",
                     fault_parameters(), w.take(), values);
}

/// The terms of online sums about the pivots that the thread has now.
std::string RowFunctions::near_function(int stage) const {
  Writer w = writer();
  std::vector<Operand> wanted;
  std::vector<bool> pivots(graph_.nodes().size());
  const std::vector<RowParts::OnlineField> fields = parts_.online_fields(stage);
  for (const RowParts::OnlineField& f : fields) {
    wanted.push_back(graph_.operands(graph_[f.sum.sum])[0]);
    pivots[static_cast<std::size_t>(f.sum.pivot.node)] = true;
    w.know(f.sum.pivot, "o." + f.pivot());
  }
  w.write(made_of(graph_, wanted, [&](std::size_t i) { return used_[i] || pivots[i]; }));
  std::string values;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values += fmt::format("{}{}", i ? ", " : "", w.name(wanted[i]));
    if (fields[i].is_square()) values += ", " + w.name(fields[i].sum.distance);
  }
  return fmt::format(
      "SINTER_DEVICE Centered{0} centered{0}(const {1}& p, const Row& r{2}, const Online{0}& o{3}) {{\n{4}  return "
      "{{{5}}};\n}}\n",
      stage, params_, element_inputs(pass(stage)), fault_parameters(), w.take(), values);
}

std::string RowFunctions::finish_function() const {
  Writer w = writer();
  const std::vector<Operand> wanted = row_outputs();
  w.write(made_of(graph_, wanted, [&](std::size_t i) { return used_[i]; }));
  std::string outputs;
  for (std::size_t k = 0; k < graph_.outputs().size(); ++k) {
    if (passes_.is_element_output(k)) continue;
    const Operand o = graph_.outputs()[k];
    outputs += fmt::format(", {}& y{}", storage_type(graph_[o].dtype), k);
    w.line(fmt::format("y{} = {};", k, w.name(o)));
  }
  return fmt::format("SINTER_DEVICE void finish(const {}& p, const Row& r{}) {{\n{}}}\n", params_, outputs, w.take());
}

}  // namespace sinter::inline v1::jit::cuda
