#include "row_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "expression.hpp"
#include "source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

/// What reductions.def says of no element.
std::string_view identity_of(Op op) noexcept {
  switch (op) {
#define SINTER_REDUCTION(name, arity, rule, identity, combine, doc) \
  case Op::name: return #identity;
#include "../ops/reductions.def"
    default: return "none";
  }
}

bool finds_least(Op op) noexcept { return op == Op::amin || op == Op::argmin; }

/// A value that no element is worse than, for reductions that have none of no element.
std::string worst(DType dtype, bool greatest) {
  const auto of = [&]<class T>(T) {
    return std::numeric_limits<T>::has_infinity
               ? greatest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity()
           : greatest ? std::numeric_limits<T>::max()
                      : std::numeric_limits<T>::lowest();
  };
  switch (dtype) {
    case DType::Float64: return literal(dtype, std::bit_cast<std::uint64_t>(of(double{})));
    case DType::Float32: return literal(dtype, std::bit_cast<std::uint32_t>(of(float{})));
    case DType::Int64: return literal(dtype, static_cast<std::uint64_t>(of(std::int64_t{})));
    case DType::Bool: return greatest ? "true" : "false";
    default: return literal(dtype, static_cast<std::uint64_t>(of(std::int32_t{})));
  }
}

/// The least finite value of a float dtype.
std::string lowest(DType dtype) {
  return dtype == DType::Float64 ? literal(dtype, std::bit_cast<std::uint64_t>(std::numeric_limits<double>::lowest()))
                                 : literal(dtype, std::bit_cast<std::uint32_t>(std::numeric_limits<float>::lowest()));
}

std::string identity_value(Op op, DType dtype) {
  std::string_view identity = identity_of(op);
  if (identity == "none") return worst(dtype, finds_least(op));
  return fmt::format("{}{}", word_type(dtype), identity.substr(1));  // T(0)
}

bool is_float_sum(Op op, DType dtype) noexcept { return op == Op::sum && category(dtype) == Category::Float; }

/// What "%" stands for in these lines.
std::string replaced(std::string_view lines, std::string_view name) {
  std::string out;
  for (const char c : lines) c == '%' ? out.append(name) : out.append(1, c);
  return out;
}

}  // namespace

std::string RowParts::OnlineField::result(std::string_view part) const {
  if (is_square()) return fmt::format("{}.{}.squares", part, name);
  if (sum.pivot != sum.lead) return fmt::format("{}.{}", part, name);
  // Less an infinite or NaN greatest element there is no sum.
  return fmt::format("{0}.{1} + ({0}.{2} - {0}.{2})", part, name, lead);
}

RowParts::RowParts(const RowPasses& passes, std::string_view index)
    : passes_(passes), graph_(passes.kernel.graph), index_(index) {}

std::vector<RowParts::Field> RowParts::fields(int stage) const {
  std::vector<Field> found;
  for (const Operand o : pass(stage).reductions)
    found.push_back({o, graph_[graph_.operands(graph_[o])[0]].dtype, facts(graph_[o].op).gives_position,
                     fmt::format("a{}", found.size())});
  return found;
}

bool RowParts::gives_position(int stage) const noexcept {
  return std::ranges::any_of(pass(stage).reductions, [&](Operand o) { return facts(graph_[o].op).gives_position; });
}

bool RowParts::has_float_sum(int stage) const noexcept {
  return std::ranges::any_of(pass(stage).reductions,
                             [&](Operand o) { return is_float_sum(graph_[o].op, graph_[o].dtype); });
}

std::vector<RowParts::OnlineField> RowParts::online_fields(int stage) const {
  const std::vector<Field> leads = fields(stage);
  std::vector<OnlineField> found;
  for (const OnlineSum& s : pass(stage).online) {
    const auto lead = std::ranges::find(leads, s.lead, &Field::reduction);
    found.push_back({s, graph_[s.sum].dtype, fmt::format("a{}", leads.size() + found.size()), lead->name});
  }
  return found;
}

bool RowParts::has_squares(int stage) const noexcept {
  return std::ranges::any_of(pass(stage).online, [](const OnlineSum& s) { return s.kind == OnlineSum::Kind::Squares; });
}

std::string RowParts::text(int stage) const {
  if (pass(stage).online.empty()) return plain_part(stage);
  return pivot_part(stage) + "\n" + centered_part(stage) + "\n" + online(stage) + "\n" + online_part(stage) +
         whole(stage);
}

std::string RowParts::members(int stage) const {
  std::string out;
  for (const Field& f : fields(stage)) {
    out += fmt::format("  {} {};  // {}\n", word_type(f.dtype), f.name, sinter::name(graph_[f.reduction].op));
    if (f.position) out += fmt::format("  {} {}_at;\n", index_, f.name);
  }
  return out;
}

std::string RowParts::identity_values(int stage) const {
  std::string out;
  for (const Field& f : fields(stage)) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", identity_value(graph_[f.reduction].op, f.dtype));
    if (f.position) out += fmt::format(", ~{}(0)", index_ == "unsigned" ? "unsigned" : "uint64");
  }
  return out;
}

std::string RowParts::add_lines(const Field& f) const {
  const Op op = graph_[f.reduction].op;
  const std::string a = "a." + f.name, b = "b." + f.name;
  if (!f.position) return fmt::format("  {} = {};\n", a, operation(op, f.dtype, {a, b}));
  return fmt::format(
      "  const bool {0}_wins = {1}, {0}_loses = {2};\n  if ({0}_wins || (!{0}_loses && {3}_at < {4}_at)) {{\n"
      "    {4} = {3};\n    {4}_at = {3}_at;\n  }}\n",
      f.name, operation(op, f.dtype, {a, b}), operation(op, f.dtype, {b, a}), b, a);
}

/// add, and where there are sums of floats add_long and finalize.
std::string RowParts::additions(const std::string& type, int stage) const {
  std::string add, add_long, finalize;
  for (const Field& f : fields(stage)) {
    add += add_lines(f);
    if (!is_float_sum(graph_[f.reduction].op, f.dtype)) {
      add_long += add_lines(f);
      continue;
    }
    add_long += replaced("  add_exactly(a.%, compensation.%, b.%);\n", f.name);
    finalize += replaced("  a.% = compensated(a.%, compensation.%);\n", f.name);
  }
  std::string out = fmt::format("SINTER_DEVICE void add({0}& a, const {0}& b) {{\n{1}}}\n", type, add);
  if (!has_float_sum(stage)) return out;
  out +=
      fmt::format("SINTER_DEVICE void add_long({0}& a, {0}& compensation, const {0}& b) {{\n{1}}}\n", type, add_long);
  return out + fmt::format("SINTER_DEVICE void finalize({0}& a, const {0}& compensation) {{\n{1}}}\n", type, finalize);
}

std::string RowParts::from_lane(int stage) const {
  std::string out;
  for (const Field& f : fields(stage)) {
    out += fmt::format("{}from_lane(a.{}, lanes)", out.empty() ? "" : ", ", f.name);
    if (f.position) out += fmt::format(", from_lane(a.{}_at, lanes)", f.name);
  }
  return out;
}

std::string RowParts::plain_part(int stage) const {
  const std::string type = fmt::format("Part{}", stage);
  return fmt::format("// Of some elements of a row, when {} stage{} over.\nstruct {} {{\n{}", stage,
                     stage == 1 ? " is" : "s are", type, members(stage)) +
         fmt::format("  SINTER_DEVICE {} identity() {{ return {{{}}}; }}\n}};\n", type, identity_values(stage)) +
         additions(type, stage) +
         fmt::format("SINTER_DEVICE {0} across(const {0}& a, int lanes) {{ return {{{1}}}; }}\n", type,
                     from_lane(stage));
}

std::string RowParts::pivot_part(int stage) const {
  const std::string type = fmt::format("Pivot{}", stage);
  return fmt::format("// Of some elements of a row, when {} stage{} over: what pivots come from.\nstruct {} {{\n{}",
                     stage, stage == 1 ? " is" : "s are", type, members(stage)) +
         fmt::format("  SINTER_DEVICE {} identity() {{ return {{{}}}; }}\n}};\n", type, identity_values(stage)) +
         additions(type, stage);
}

std::string RowParts::centered_part(int stage) const {
  std::string members, first, add, add_long, finalize;
  const auto sum = [&](DType dtype, const std::string& name, std::string_view of) {
    members += fmt::format("  {} {};  // of {}\n", word_type(dtype), name, of);
    first += fmt::format("{}{}(0)", first.empty() ? "" : ", ", word_type(dtype));
    add += replaced("  a.% = a.% + b.%;\n", name);
    add_long += replaced("  add_exactly(a.%, compensation.%, b.%);\n", name);
    finalize += replaced("  a.% = compensated(a.%, compensation.%);\n", name);
  };
  for (const OnlineField& f : online_fields(stage)) {
    sum(f.dtype, f.name, f.is_square() ? "squares" : "exponentials");
    if (f.is_square()) sum(f.dtype, f.name + "_sum", "distances");
  }
  const std::string type = fmt::format("Centered{}", stage);
  return fmt::format("// Of the same elements: sums of their distances from a pivot.\nstruct {} {{\n{}", type,
                     members) +
         fmt::format("  SINTER_DEVICE {} identity() {{ return {{{}}}; }}\n}};\n", type, first) +
         fmt::format("SINTER_DEVICE void add({0}& a, const {0}& b) {{\n{1}}}\n", type, add) +
         fmt::format("SINTER_DEVICE void add_long({0}& a, {0}& compensation, const {0}& b) {{\n{1}}}\n", type,
                     add_long) +
         fmt::format("SINTER_DEVICE void finalize({0}& a, const {0}& compensation) {{\n{1}}}\n", type, finalize);
}

std::string RowParts::online(int stage) const {
  std::string members, first;
  for (const OnlineField& f : online_fields(stage)) {
    members += fmt::format("  {} {};\n", word_type(f.dtype), f.pivot());
    first += ", " + (f.is_square() ? fmt::format("{}(0)", word_type(f.dtype)) : lowest(f.dtype));
  }
  if (has_squares(stage)) {
    members += fmt::format("  {} count, next;  // of elements: those so far, and with which pivots move\n", index_);
    first += ", 0, 0";
  }
  const std::string type = fmt::format("Online{}", stage);
  return fmt::format("// What a thread knows of its elements.\nstruct {0} {{\n  Pivot{1} pivot, pivot_compensation;\n",
                     type, stage) +
         fmt::format("  Centered{0} centered, centered_compensation;\n{1}", stage, members) +
         fmt::format(
             "  SINTER_DEVICE {0} identity() {{ return {{Pivot{1}::identity(), {{}}, Centered{1}::identity(), "
             "{{}}{2}}}; }}\n}};\n",
             type, stage, first) +
         advance(stage) +
         fmt::format(
             "SINTER_DEVICE void add({}& o, const Centered{}& batch) {{ add_long(o.centered, o.centered_compensation, "
             "batch); }}\n",
             type, stage);
}

/// A mean is a pivot until there are twice as many elements; the greatest element until one is much greater.
std::string RowParts::advance(int stage) const {
  std::string first, moved, raised;
  for (const OnlineField& f : online_fields(stage)) {
    const std::string_view type = word_type(f.dtype);
    if (f.is_square()) {
      first += fmt::format("    if (o.count == 0) o.{} = first_pivot(batch.{}, {}(count));\n", f.pivot(), f.lead, type);
      moved += fmt::format(
          "    if (o.count > 0) move_pivot(o.{0}, o.centered.{1}, o.centered_compensation.{1}, o.centered.{1}_sum, "
          "o.centered_compensation.{1}_sum, {2}(o.count));\n",
          f.pivot(), f.name, type);
    } else {
      raised += fmt::format("  raise_pivot(o.{0}, o.centered.{1}, o.centered_compensation.{1}, o.pivot.{2});\n",
                            f.pivot(), f.name, f.lead);
    }
  }
  std::string out =
      fmt::format("SINTER_DEVICE void advance(Online{0}& o, const Pivot{0}& batch, {1} count) {{\n", stage, index_);
  if (has_squares(stage))
    out += "  if (o.count >= o.next) {\n" + first + moved +
           "    o.next = 2 * (o.count + count);\n  }\n  o.count += count;\n";
  return out +
         (has_float_sum(stage) ? "  add_long(o.pivot, o.pivot_compensation, batch);\n" : "  add(o.pivot, batch);\n") +
         raised + "}\n";
}

std::string RowParts::whole(int stage) const {
  std::string values;
  for (const Field& f : fields(stage)) {
    values += fmt::format("{}o.pivot.{}", values.empty() ? "" : ", ", f.name);
    if (f.position) values += fmt::format(", o.pivot.{}_at", f.name);
  }
  for (const OnlineField& f : online_fields(stage))
    if (f.is_square())
      values += fmt::format(", moments_about(o.{0}, o.centered.{1}_sum, o.centered.{1}, {2}(o.count))", f.pivot(),
                            f.name, word_type(f.dtype));
    else
      values += fmt::format(", at_greatest(o.centered.{1}, o.{0}, o.pivot.{2})", f.pivot(), f.name, f.lead);
  return fmt::format(
      "SINTER_DEVICE Part{0} whole(Online{0}& o) {{\n{1}  finalize(o.centered, o.centered_compensation);\n  return "
      "{{{2}}};\n}}\n",
      stage, has_float_sum(stage) ? "  finalize(o.pivot, o.pivot_compensation);\n" : "", values);
}

std::string RowParts::online_part(int stage) const {
  std::string members = this->members(stage), first = identity_values(stage), add, lanes = from_lane(stage);
  for (const OnlineField& f : online_fields(stage)) {
    const std::string_view type = word_type(f.dtype);
    if (f.is_square()) {
      members += fmt::format("  Moments<{}> {};\n", type, f.name);
      first += fmt::format(", Moments<{}>{{}}", type);
      add += replaced("  a.% = merged(a.%, b.%);\n", f.name);
      lanes += replaced(", moments_across(a.%, lanes)", f.name);
    } else {
      members += fmt::format("  {} {};  // sum of exponentials of distances from {}\n", type, f.name, f.lead);
      first += fmt::format(", {}(0)", type);
      add += fmt::format("  a.{0} = raised(a.{0}, a.{1}, b.{1}) + raised(b.{0}, b.{1}, a.{1});\n", f.name, f.lead);
      lanes += replaced(", from_lane(a.%, lanes)", f.name);
    }
  }
  for (const Field& f : fields(stage)) add += add_lines(f);
  const std::string type = fmt::format("Part{}", stage);
  return fmt::format("struct {} {{\n{}", type, members) +
         fmt::format("  SINTER_DEVICE {} identity() {{ return {{{}}}; }}\n}};\n", type, first) +
         fmt::format("SINTER_DEVICE void add({0}& a, const {0}& b) {{\n{1}}}\n", type, add) +
         fmt::format("SINTER_DEVICE {0} across(const {0}& a, int lanes) {{ return {{{1}}}; }}\n", type, lanes);
}

}  // namespace sinter::inline v1::jit::cuda
