// Which operations become a compiled loop, and its C++ text.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <sinter/jit/ops.hpp>
#include "cost.hpp"
#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr double most_row_work = 1;       // ns per element; a vector then takes as long as starting a row of tiles
constexpr std::size_t longest_loop = 40;  // operations, as of a chain; longer ones take long to compile
// Each reads at most three values and stores one; the states of reductions are among the 64 leaves that are tracked.
static_assert(longest_loop * 4 + 64 <= chain_operands);

std::optional<std::string_view> type_name(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::UInt8: return "std::uint8_t";
    case DType::Int8: return "std::int8_t";
    case DType::UInt16: return "std::uint16_t";
    case DType::Int16: return "std::int16_t";
    case DType::Int32: return "std::int32_t";
    case DType::Int64: return "std::int64_t";
    case DType::Float16: return "Half";
    case DType::BFloat16: return "BFloat16";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    default: return std::nullopt;
  }
}

/// Whether an operation calls a library's function, which compiled loops do not have.
bool calls_library(Op op, DType dtype) {
  switch (op) {
    case Op::exp2:
    case Op::expm1:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::atan2:
    case Op::sinh:
    case Op::cosh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::hypot:
    case Op::lgamma:
    case Op::erfc: return true;
    case Op::pow: return dtype == DType::Float32 || dtype == DType::Float64;
    case Op::log:
    case Op::tanh:
    case Op::erf:
    case Op::gelu:
    case Op::gelu_tanh: return dtype == DType::Float64;
    default: return false;
  }
}

/// Writes the loops of one kernel.
class LoopWriter {
 public:
  LoopWriter(Steps& steps, const Graph& graph, const std::vector<std::uint32_t>& uses, const LeafPatterns& leaves)
      : steps_(steps), graph_(graph), uses_(uses), leaves_(leaves) {}

  bool takes(const Step& s) const {
    const Node& n = node(s.out);
    if (s.check != Check::None) return false;
    if (n.op == Op::cast) return type_name(n.dtype) && type_name(compute_dtype_of(s));
    if (s.group == Group::Bool) return rule(n.op) == DTypeRule::Logical;
    if (s.group != Group::Float32 && s.group != Group::Float64 && s.group != Group::Int32 && s.group != Group::Int64)
      return false;
    return !is_random(n.op) && rule(n.op) != DTypeRule::Int64 && !calls_library(n.op, compute_dtype_of(s));
  }

  /// Whether all steps can be one loop, which computes what is the same for a row, or for all, before its elements. A
  /// row's work is done on a whole vector, so it must be small, or smaller than the work on the elements. The loop
  /// reads and writes arrays, so nothing is gathered or spread.
  bool takes_all(std::span<const Step> run) const {
    const std::size_t count = steps_.once.size() + steps_.rows.size() + run.size();
    const auto is_taken = [&](const Step& s) { return takes(s); };
    return !run.empty() && count <= longest_loop && steps_.runs.empty() && steps_.spread.empty() &&
           cost(steps_.rows) <= std::max(cost(run), leaves_.few_in_row ? 0 : most_row_work) &&
           std::ranges::all_of(run, is_taken) && std::ranges::all_of(steps_.once, is_taken) &&
           std::ranges::all_of(steps_.rows, is_taken) && steps_.writes_outputs_once();
  }

  /// `before` are computed before the elements, and not stored. `is_all`: this is the only loop, so that leaves of
  /// every second element are read in place.
  Chain write(std::span<const Step> before, std::span<const Step> run, bool is_all) {
    chain_ = Chain();
    every_second_ = is_all ? leaves_.every_second : 0;
    inside_.clear();
    numbers_.clear();
    made_.clear();
    for (std::string& text : texts_) text.clear();
    advances_.clear();
    for (const auto steps : {before, run})
      for (const Step& s : steps) add(s);
    const std::string row = steps_.reductions.empty() ? stored_row(run) : reduced_row(run);
    const std::size_t loop = steps_.chains.size();
    loops_ += fmt::format(
        "static void loop_{}(void* const* operands, const std::int64_t* steps, std::int64_t rows, std::int64_t n, "
        "bool streams, const std::int64_t* ahead) {{\n{}  for (; rows > 0; --rows) {{\n{}{}{}  }}\n  "
        "clear_upper_halves();\n}}\n",
        loop, text_of(Level::Once), text_of(Level::EachRow), row, advances_);
    table_ += fmt::format("{}loop_{}", table_.empty() ? "" : ", ", loop);
    return std::move(chain_);
  }

  std::string text() const {
    if (loops_.empty()) return {};
    return fmt::format(
        "namespace sinter::inline v1::jit::cpu::SINTER_ISA {{\nnamespace functions {{\n{}}}  // namespace functions\n\n"
        "{}\nextern \"C\" __attribute__((visibility(\"default\"))) void (*const sinter_loops[])(void* const*, const "
        "std::int64_t*, "
        "std::int64_t, std::int64_t, bool, const std::int64_t*) = {{{}}};\n"
        "}}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA\n",
        functions_, loops_, table_);
  }

 private:
  const Node& node(ValueId v) const {
    const Value& value = steps_.values[v];
    return graph_.nodes()[value.kind == Value::Kind::Spread ? value.number : v];
  }
  std::string stores_of(std::span<const Step> run) {
    std::string stores;
    for (const Step& s : run) {
      if (!is_stored(s.out)) continue;
      stores += fmt::format("      store(p{}, i, range, v{});\n", add_operand(s.out), number(s.out));
      chain_.writes.push_back(s.out);
    }
    return stores;
  }
  /// Rows start such that the first array's vectors are aligned. Of several arrays none is streamed.
  std::string stored_row(std::span<const Step> run) {
    const std::size_t first_operand = chain_.operands.size();
    const std::string stores = stores_of(run);
    const std::string_view type = type_of(chain_.writes[0]);
    return fmt::format(
        "    for_each_block<{}>(n, unaligned_elements<{}>(p{}, n, streams), streams, [=](std::int64_t i, auto range) "
        "SINTER_LAMBDA {{\n{}{}    }});\n",
        chain_.writes.size() == 1 ? type : std::string_view("bool"), type, first_operand, text_of(Level::EachTile),
        stores);
  }
  /// Blocks are reduced as they are computed, from the row's first element on.
  std::string reduced_row(std::span<const Step> run) {
    const std::string stores = stores_of(run);
    std::string rows, adds, arguments, ends;
    for (std::size_t k = 0; k < steps_.reductions.size(); ++k) {
      const ValueReduction& r = steps_.reductions[k];
      rows += fmt::format("    {} r{};\n", row_type(r.op), k);
      adds += fmt::format("      r{}.add(range, v{});\n", k, number(r.of));
      arguments += fmt::format(", r{}", k);
      ends += fmt::format("    r{}.end_row(p{});\n", k, add_operand(r.state));
    }
    return fmt::format(
        "{}    for_each_reduced_block(n, [&](std::int64_t i, auto range) SINTER_LAMBDA {{\n{}{}{}    }}{});\n{}", rows,
        text_of(Level::EachTile), stores, adds, arguments, ends);
  }
  static std::string_view row_type(Op reduction) {
    switch (reduction) {
      case Op::sum: return "RowSum";
      case Op::prod: return "RowValue<Products>";
      case Op::amax: return "RowValue<Largest>";
      default: return "RowValue<Smallest>";
    }
  }
  bool is_stored(ValueId v) { return steps_.values[v].output ? steps_.is_stored(v) : uses_[v] > inside_[v]; }
  double cost(std::span<const Step> steps) const {
    double sum = 0;
    for (const Step& s : steps) sum += nanoseconds(node(s.out).op, compute_dtype_of(s));
    return sum;
  }
  static DTypeRule rule(Op op) { return info(op).rule; }
  std::string_view type_of(ValueId v) const { return *type_name(node(v).dtype); }
  DType compute_dtype_of(const Step& s) const { return node(s.in[s.arity - 1]).dtype; }

  /// Values are numbered in their order in the loop, so that equal loops have equal text.
  std::size_t number(ValueId v) { return numbers_.try_emplace(v, numbers_.size()).first->second; }
  /// What is computed before the rows, for each of them, for each block.
  std::string& text_of(Level level) { return texts_[static_cast<std::size_t>(level)]; }
  void declare(Level level, ValueId v, const std::string& value) {
    text_of(level) += fmt::format("{:{}}const auto v{} = {};\n", "", 2 + 2 * static_cast<int>(level), number(v), value);
  }

  std::size_t add_operand(ValueId v) {
    const std::size_t operand = chain_.operands.size();
    chain_.operands.push_back(v);
    text_of(Level::Once) +=
        fmt::format("  char* p{0} = static_cast<char*>(operands[{0}]);\n  const auto step{0} = steps[{0}];\n", operand);
    advances_ += fmt::format("    p{0} += step{0};\n", operand);
    return operand;
  }

  void add(const Step& s) {
    for (int k = 0; k < s.arity; ++k) {
      ++inside_[s.in[k]];
      read(s.in[k]);
    }
    declare(steps_.values[s.out].level, s.out, value_of(s));
    made_.insert(s.out);
  }

  void read(ValueId v) {
    if (!made_.insert(v).second) return;
    chain_.reads.push_back(v);
    const Level level = steps_.values[v].level;
    const std::size_t operand = add_operand(v);
    if (level != Level::EachTile) return declare(level, v, fmt::format("broadcast<{}>(p{})", type_of(v), operand));
    const bool is_second = takes_every_second(v);
    if (!is_second) prefetch(v, operand);
    declare(level, v,
            fmt::format("{}<{}>(p{}, i, range)", is_second ? "load_every_second" : "load", type_of(v), operand));
  }
  bool takes_every_second(ValueId v) const {
    const Value& value = steps_.values[v];
    return value.kind == Value::Kind::Leaf && value.number < 64 && (every_second_ >> value.number & 1) != 0;
  }

  void prefetch(ValueId v, std::size_t operand) {
    const Value& value = steps_.values[v];
    const auto at = std::ranges::find(steps_.prefetched, value.number);
    if (value.kind != Value::Kind::Leaf || at == steps_.prefetched.end()) return;
    text_of(Level::Once) +=
        fmt::format("  const auto ahead{} = ahead ? ahead[{}] : 0;\n", operand, at - steps_.prefetched.begin());
    text_of(Level::EachTile) +=
        fmt::format("      if (ahead{0}) prefetch<{1}>(p{0} + ahead{0}, i, range);\n", operand, type_of(v));
  }

  std::string value_of(const Step& s) {
    const Node& n = node(s.out);
    if (n.op == Op::cast) return fmt::format("cast<{}>(v{})", type_of(s.out), number(s.in[0]));
    define(n.op);
    const ValueId b = s.arity > 1 ? s.in[1] : s.in[0], c = s.arity > 2 ? s.in[2] : b;
    return fmt::format("apply<functions::{}_op, {}>(v{}, v{}, v{})", name(n.op), *type_name(compute_dtype_of(s)),
                       number(s.in[0]), number(b), number(c));
  }

  /// The operation's tokens as a function on vectors, as in simd/loops.hpp.
  void define(Op op) {
    if (std::ranges::find(defined_, op) != defined_.end()) return;
    defined_.push_back(op);
    functions_ += fmt::format(
        "struct {}_op {{\n  template <class T, class A, class B, class C>\n"
        "  static SINTER_INLINE auto apply(A a, B b, C c) {{ return {}; }}\n}};\n",
        name(op), body(op));
  }

  Steps& steps_;
  const Graph& graph_;
  const std::vector<std::uint32_t>& uses_;
  const LeafPatterns& leaves_;
  std::uint64_t every_second_ = 0;
  std::map<ValueId, std::uint32_t> inside_;  // reads of a value by the loop's steps
  std::map<ValueId, std::size_t> numbers_;
  std::set<ValueId> made_;  // values that the text has declared
  std::string texts_[3];
  std::string advances_;  // from row to row
  Chain chain_;
  std::vector<Op> defined_;
  std::string functions_, loops_, table_;
};

}  // namespace

void make_loops(Steps& steps, const Graph& graph, const std::vector<std::uint32_t>& uses, const LeafPatterns& leaves) {
  const std::vector<Step> all = std::move(steps.tiles);
  steps.tiles.clear();
  LoopWriter writer(steps, graph, uses, leaves);
  const auto add_loop = [&](std::span<const Step> before, std::span<const Step> run, bool is_all) {
    Step s;
    s.group = Group::Chains;
    s.chain = static_cast<std::uint32_t>(steps.chains.size());
    steps.chains.push_back(writer.write(before, run, is_all));
    steps.tiles.push_back(s);
  };
  if (writer.takes_all(all)) {
    std::vector<Step> before = std::move(steps.once);
    before.insert(before.end(), steps.rows.begin(), steps.rows.end());
    steps.once.clear();
    steps.rows.clear();
    add_loop(before, all, true);
    steps.text = writer.text();
    return;
  }
  steps.reductions.clear();
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && end - i < longest_loop && writer.takes(all[end])) ++end;
    if (end - i < 2) {
      steps.tiles.push_back(all[i++]);
      continue;
    }
    add_loop({}, {&all[i], end - i}, false);
    i = end;
  }
  steps.text = writer.text();
}

}  // namespace sinter::inline v1::jit::cpu
