#include "printer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "expressions.hpp"

namespace sinter::inline v1::jit::dialects {
namespace {

using loops::Instruction;
using loops::Kind;
using loops::LoopProgram;
using loops::none;
using loops::Opcode;
using loops::Type;
using loops::Value;

class Printer {
 public:
  Printer(const LoopProgram& program, const Dialect& dialect)
      : program_(program),
        dialect_(dialect),
        vector_loops_(program),
        names_(program, vector_loops_),
        expressions_(program, dialect, names_) {}

  std::string body() {
    for (const Instruction& i : program_.code)
      if (i.code == Opcode::ReportFault) line("bool {} = false;", fault_name(i));
    for (Value v = 0; v < static_cast<Value>(program_.code.size()); ++v) v = statement(v);
    return std::move(out_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    out_.append(2 * static_cast<std::size_t>(depth_), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
    out_ += '\n';
  }

  void open(std::string_view head) {
    names_.open();
    line("{} {{", head);
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
    names_.close();
  }

  std::string without_parentheses(Value v) const { return dialects::without_parentheses(names_[v]); }
  int uses(Value v) const { return vector_loops_.uses[static_cast<std::size_t>(v)]; }
  int vector_loop_of(Value v) const { return vector_loops_.loop[static_cast<std::size_t>(v)]; }
  bool is_in_array(Value v) const { return program_[v].type.width > 1 && names_.is_array(v); }

  // ---- Statements

  /// Writes an instruction, or a vector loop from its first to its last instruction, which it returns.
  Value statement(Value v) {
    const int number = vector_loop_of(v);
    if (number == none) {
      single(v);
      return v;
    }
    Value last = v;
    for (Value next = v; next < static_cast<Value>(program_.code.size()); ++next) {
      const int own = vector_loop_of(next);
      if (own == number) last = next;
      if (own > number) break;
    }
    vector_loop(v, last);
    return last;
  }

  void vector_loop(Value first, Value last) {
    int width = 1;
    for (Value v = first; v <= last; ++v) {
      const Instruction& i = program_[v];
      if (vector_loop_of(v) == none) {
        single(v);
        continue;
      }
      for (const Value o : i.operands)
        if (o != none) width = std::max(width, program_[o].type.width);
      width = std::max(width, i.type.width);
      if (i.type.kind != Kind::None && names_.is_array(v)) line("{} {};", expressions_.type(i.type), names_.define(v));
    }
    out_ += "#pragma unroll\n";
    open(fmt::format("for (int l = 0; l < {}; ++l)", width));
    for (Value v = first; v <= last; ++v)
      if (vector_loop_of(v) != none) vector_statement(v);
    close();
  }

  /// Defines the result of a scalar instruction, or of one element in a vector loop.
  void define(Value v, std::string_view value) {
    Type one = program_[v].type;
    one.width = 1;
    if (is_in_array(v))
      line("{} = {};", names_.element(v), value);
    else
      line("const {} {} = {};", expressions_.type(one), names_.define(v), value);
  }

  void vector_statement(Value v) {
    const Instruction& i = program_[v];
    if (i.code == Opcode::Load) return gather(v);
    if (i.code == Opcode::RecordFault) return record_fault(i);
    call_or_value(v);
  }

  void call_or_value(Value v) {
    const Instruction& i = program_[v];
    if (i.type.kind == Kind::None) return line("{};", expressions_.of(i));
    define(v, expressions_.of(i));
  }

  void single(Value v) {
    const Instruction& i = program_[v];
    switch (i.code) {
      case Opcode::Param: return param(v);
      case Opcode::Constant: return constant(v);
      case Opcode::Low:
      case Opcode::High: return;
      case Opcode::Advance: return pointer(v, fmt::format("{} + {}", names_[i.operands[0]], names_[i.operands[1]]));
      case Opcode::View: return view(v);
      case Opcode::RowCache: return names_.set(v, expressions_.parallel(i));
      case Opcode::Shared: return line("{} {}[{}];", expressions_.parallel(i), names_.define(v), i.attribute);
      case Opcode::Load: return vector_loop_of(v) == none ? load(v) : gather(v);
      case Opcode::Store: return store(i);
      case Opcode::Barrier:
      case Opcode::WarpBarrier: return line("{};", expressions_.parallel(i));
      case Opcode::Local: return local(v);
      case Opcode::Get: return get(v);
      case Opcode::Set: return set(i);
      case Opcode::Range: return range(v);
      case Opcode::If: return open(fmt::format("if ({})", without_parentheses(i.operands[0])));
      case Opcode::End: return close();
      case Opcode::RecordFault: return record_fault(i);
      case Opcode::ReportFault: return report_fault(i);
      case Opcode::Call: return call_or_value(v);
      default: return scalar(v);
    }
  }

  /// An index that is read once stands where it is read.
  void scalar(Value v) {
    const Instruction& i = program_[v];
    const bool is_element =
        i.type.kind == Kind::Element && i.code != Opcode::Less && i.code != Opcode::Equal && i.code != Opcode::And;
    const bool is_short = is_builtin(i) || (uses(v) == 1 && can_inline(i));
    const std::string value = expressions_.of(i);
    if (is_element || !i.name.empty() || i.type.width != 1 || !is_short) return define(v, value);
    names_.set(v, value.find(' ') == std::string::npos ? value : "(" + value + ")");
  }
  static bool is_builtin(const Instruction& i) noexcept {
    return i.code == Opcode::ThreadIdx || i.code == Opcode::BlockIdx || i.code == Opcode::GridDim ||
           i.code == Opcode::BlockDim;
  }
  /// Whether the expression can stand where its result is used: no operand reads a variable that may change in between.
  bool can_inline(const Instruction& i) const {
    return i.code != Opcode::Opaque &&
           std::ranges::none_of(i.operands, [&](Value o) { return program_[o].code == Opcode::Get; });
  }

  void param(Value v) {
    const Instruction& i = program_[v];
    ParamText text = dialect_.param(program_, i);
    if (!text.definition.empty() && uses(v) > 0) line("{}", text.definition);
    names_.set(v, std::move(text.name));
  }

  void constant(Value v) {
    const Instruction& i = program_[v];
    if (i.type.kind != Kind::Element) return names_.set(v, fmt::format("{}", static_cast<std::int64_t>(i.attribute)));
    const std::string number = dialect_.literal(i.type.dtype, i.attribute);
    if (category(i.type.dtype) != Category::Float)
      return names_.set(v, number.starts_with('-') ? "(" + number + ")" : number);
    line("const {} {} = {};  {}", expressions_.type(i.type), names_.define(v), number,
         dialect_.comment(i.type.dtype, i.attribute));
  }

  // ---- Memory

  void pointer(Value v, std::string_view value) {
    const std::string_view element = dialect_.memory_type(program_[v].type.dtype);
    line("{} {} = {};", expressions_.pointer_to(element, v), names_.define(v), value);
  }

  void view(Value v) {
    const Instruction& i = program_[v];
    const std::string bytes = fmt::format("{} + {}", names_[i.operands[0]], names_[i.operands[1]]);
    pointer(v, dialect_.pointer_cast(expressions_.pointer_to(dialect_.memory_type(i.type.dtype), v), bytes));
  }

  void load(Value v) {
    const Instruction& i = program_[v];
    const Value guard = i.operands[2], stride = i.operands[3];
    const std::string t = expressions_.memory_type(i.type);
    const std::string first = fmt::format("{} + {}", names_[i.operands[0]], names_[i.operands[1]]);
    const bool is_run = static_cast<loops::Access>(i.attribute) == loops::Access::Run;
    const std::string value = is_run           ? fmt::format("load_run<{}>({})", t, first)
                              : stride == none ? expressions_.element(i, i.type)
                                               : fmt::format("load_strided<{}>({}, {})", t, first, names_[stride]);
    if (guard == none) return line("const {} {} = {};", t, names_.define(v), value);
    line("{} {}{{}};", t, names_.define(v));
    line("if ({}) {} = {};", without_parentheses(guard), names_[v], value);
  }

  void gather(Value v) {
    const Instruction& i = program_[v];
    const Value guard = i.operands[2];
    const std::string value = fmt::format("{}[{}]", names_[i.operands[0]], names_.element(i.operands[1]));
    if (guard == none) return define(v, value);
    if (is_in_array(v))
      line("{} = {{}};", names_.element(v));
    else
      line("{} {}{{}};", dialect_.memory_type(i.type.dtype), names_.define(v));
    line("if ({}) {} = {};", names_.element(guard), names_.element(v), value);
  }

  void store(const Instruction& i) {
    const Value value = i.operands[2], guard = i.operands[3], stride = i.operands[4];
    const Type& t = program_[value].type;
    if (stride == none) {
      const std::string condition = guard == none ? "" : fmt::format("if ({}) ", without_parentheses(guard));
      return line("{}{} = {};", condition, expressions_.element(i, t), names_[value]);
    }
    if (guard != none) open(fmt::format("if ({})", without_parentheses(guard)));
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}[{} + l * {}] = {};", t.width, names_[i.operands[0]], names_[i.operands[1]],
         names_[stride], names_.element(value));
    if (guard != none) close();
  }

  // ---- Variables

  void local(Value v) {
    const Instruction& i = program_[v];
    const Value first = i.operands[0];
    const std::string t = expressions_.type(i.type);
    if (i.attribute > 1) return line("{} {}[{}];", t, names_.define(v, "array"), i.attribute);
    const std::string& n = names_.define(v, "variable");
    if (first == none) return line("{} {};", t, n);
    if (i.type.width == program_[first].type.width) return line("{} {} = {};", t, n, without_parentheses(first));
    line("{} {};", t, n);
    splat(n, first, i.type.width);
  }

  void splat(std::string_view to, Value value, int width) {
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}.at[l] = {};", width, to, names_[value]);
  }

  /// A copy is needed only if the local is overwritten before the last use.
  void get(Value v) {
    const Instruction& i = program_[v];
    const std::string value = expressions_.lvalue(i.operands[0], i.operands[1]);
    if (!changes_before(i.operands[0], v, vector_loops_.last_use[static_cast<std::size_t>(v)]))
      return names_.set(v, value);
    line("const {} {} = {};", expressions_.type(i.type), names_.define(v), value);
  }

  bool changes_before(Value local, Value from, Value to) const {
    const auto is_passed = [&](const Instruction& i) {
      return i.code == Opcode::Call && std::ranges::find(i.operands, local) != i.operands.end();
    };
    for (Value v = from + 1; v < to; ++v)
      if (is_passed(program_[v]) || (program_[v].code == Opcode::Set && program_[v].operands[0] == local)) return true;
    return to != none && is_passed(program_[to]);  // a call may change what it reads
  }

  void set(const Instruction& i) {
    const Value local = i.operands[0], value = i.operands[2];
    const std::string to = expressions_.lvalue(local, i.operands[1]);
    if (program_[local].type.width == program_[value].type.width)
      return line("{} = {};", to, without_parentheses(value));
    splat(to, value, program_[local].type.width);
  }

  void range(Value v) {
    const Instruction& i = program_[v];
    out_ += dialect_.loop_hint(static_cast<loops::LoopHint>(i.attribute));
    const std::string begin = without_parentheses(i.operands[0]), end = names_.as_comparison_operand(i.operands[1]),
                      step = without_parentheses(i.operands[2]);
    names_.open();
    const std::string n = names_.define(v, "i");
    const std::string next = step == "1" ? "++" + n : fmt::format("{} += {}", n, step);
    line("for ({} {} = {}; {} < {}; {}) {{", expressions_.type(i.type), n, begin, n, end, next);
    ++depth_;
  }

  // ---- Faults

  void record_fault(const Instruction& i) {
    const Value guard = i.operands[1];
    line("{} |= {}{};", fault_name(i), guard == none ? "" : names_.element(guard) + " && ",
         names_.element(i.operands[0]));
  }
  void report_fault(const Instruction& i) {
    line("if ({}) {};", fault_name(i), dialect_.report(names_[i.operands[0]], names_[i.operands[1]]));
  }
  static std::string_view fault_name(const Instruction& i) noexcept {
    return dialects::fault_name(static_cast<Fault>(i.attribute));
  }

  const LoopProgram& program_;
  const Dialect& dialect_;
  const VectorLoops vector_loops_;
  Names names_;
  const Expressions expressions_;
  std::string out_;
  int depth_ = 1;
};

}  // namespace

std::string_view fault_name(Fault fault) noexcept {
  return fault == Fault::DivisionByZero ? "division_by_zero" : "index_out_of_range";
}

std::string print(const LoopProgram& program, const Dialect& dialect) {
  return dialect.kernel(program, Printer(program, dialect).body());
}

}  // namespace sinter::inline v1::jit::dialects
