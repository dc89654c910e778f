#include "printer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../plan/faults.hpp"
#include "expressions.hpp"

namespace sinter::inline v1::jit::dialects {
namespace {

using loops::Code;
using loops::Instruction;
using loops::Kind;
using loops::Loops;
using loops::none;
using loops::Type;
using loops::Value;

class Printer {
 public:
  Printer(const Loops& loops, const Dialect& dialect)
      : loops_(loops), dialect_(dialect), lanes_(loops), names_(loops, lanes_), expressions_(loops, dialect, names_) {}

  std::string body() {
    for (const Instruction& i : loops_.code)
      if (i.code == Code::Report) line("bool {} = false;", flag_name(i));
    for (Value v = 0; v < static_cast<Value>(loops_.code.size()); ++v) v = statement(v);
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

  std::string bare(Value v) const { return dialects::bare(names_[v]); }
  int uses(Value v) const { return lanes_.uses[static_cast<std::size_t>(v)]; }
  int lane_loop_of(Value v) const { return lanes_.loop[static_cast<std::size_t>(v)]; }
  bool is_in_array(Value v) const { return loops_[v].type.lanes > 1 && names_.is_array(v); }

  // ---- Statements

  /// Writes an instruction, or a lane loop from its first to its last one, whose number it returns.
  Value statement(Value v) {
    const int number = lane_loop_of(v);
    if (number == none) {
      single(v);
      return v;
    }
    Value last = v;
    for (Value next = v; next < static_cast<Value>(loops_.code.size()); ++next) {
      const int own = lane_loop_of(next);
      if (own == number) last = next;
      if (own > number) break;
    }
    lane_loop(v, last);
    return last;
  }

  void lane_loop(Value first, Value last) {
    int lanes = 1;
    for (Value v = first; v <= last; ++v) {
      const Instruction& i = loops_[v];
      if (lane_loop_of(v) == none) {
        single(v);
        continue;
      }
      for (const Value o : i.operands)
        if (o != none) lanes = std::max(lanes, loops_[o].type.lanes);
      lanes = std::max(lanes, i.type.lanes);
      if (i.type.kind != Kind::None && names_.is_array(v)) line("{} {};", expressions_.type(i.type), names_.define(v));
    }
    out_ += "#pragma unroll\n";
    open(fmt::format("for (int l = 0; l < {}; ++l)", lanes));
    for (Value v = first; v <= last; ++v)
      if (lane_loop_of(v) != none) lanewise(v);
    close();
  }

  /// A result of one lane: a variable of the text.
  void define(Value v, std::string_view value) {
    Type one = loops_[v].type;
    one.lanes = 1;
    if (is_in_array(v))
      line("{} = {};", names_.lane(v), value);
    else
      line("const {} {} = {};", expressions_.type(one), names_.define(v), value);
  }

  void lanewise(Value v) {
    const Instruction& i = loops_[v];
    if (i.code == Code::Load) return gather(v);
    if (i.code == Code::Flag) return flag(i);
    call_or_value(v);
  }

  void call_or_value(Value v) {
    const Instruction& i = loops_[v];
    if (i.type.kind == Kind::None) return line("{};", expressions_.of(i));
    define(v, expressions_.of(i));
  }

  void single(Value v) {
    const Instruction& i = loops_[v];
    switch (i.code) {
      case Code::Param: return param(v);
      case Code::Constant: return constant(v);
      case Code::Low:
      case Code::High: return;
      case Code::Advance: return pointer(v, fmt::format("{} + {}", names_[i.operands[0]], names_[i.operands[1]]));
      case Code::View: return view(v);
      case Code::RowCache: return names_.set(v, expressions_.parallel(i));
      case Code::Shared: return line("{} {}[{}];", expressions_.parallel(i), names_.define(v), i.attribute);
      case Code::Load: return lane_loop_of(v) == none ? load(v) : gather(v);
      case Code::Store: return store(i);
      case Code::Barrier:
      case Code::WarpBarrier: return line("{};", expressions_.parallel(i));
      case Code::Local: return local(v);
      case Code::Get: return get(v);
      case Code::Set: return set(i);
      case Code::Range: return range(v);
      case Code::If: return open(fmt::format("if ({})", bare(i.operands[0])));
      case Code::End: return close();
      case Code::Flag: return flag(i);
      case Code::Report: return report(i);
      case Code::Call: return call_or_value(v);
      default: return scalar(v);
    }
  }

  /// An index that is read once stands where it is read.
  void scalar(Value v) {
    const Instruction& i = loops_[v];
    const bool is_element =
        i.type.kind == Kind::Element && i.code != Code::Less && i.code != Code::Equal && i.code != Code::And;
    const bool is_short = is_atom(i) || (uses(v) == 1 && is_fixed(i));
    const std::string value = expressions_.of(i);
    if (is_element || !i.name.empty() || i.type.lanes != 1 || !is_short) return define(v, value);
    names_.set(v, value.find(' ') == std::string::npos ? value : "(" + value + ")");
  }
  static bool is_atom(const Instruction& i) noexcept {
    return i.code == Code::Thread || i.code == Code::Block || i.code == Code::Blocks || i.code == Code::Threads;
  }
  /// Whether it is the same where the result is read: it reads no variable, which may change before.
  bool is_fixed(const Instruction& i) const {
    return i.code != Code::Opaque &&
           std::ranges::none_of(i.operands, [&](Value o) { return loops_[o].code == Code::Get; });
  }

  void param(Value v) {
    const Instruction& i = loops_[v];
    ParamText text = dialect_.param(loops_, i);
    if (!text.definition.empty() && uses(v) > 0) line("{}", text.definition);
    names_.set(v, std::move(text.name));
  }

  void constant(Value v) {
    const Instruction& i = loops_[v];
    if (i.type.kind != Kind::Element) return names_.set(v, fmt::format("{}", static_cast<std::int64_t>(i.attribute)));
    const std::string number = dialect_.literal(i.type.dtype, i.attribute);
    if (category(i.type.dtype) != Category::Float)
      return names_.set(v, number.starts_with('-') ? "(" + number + ")" : number);
    line("const {} {} = {};  {}", expressions_.type(i.type), names_.define(v), number,
         dialect_.comment(i.type.dtype, i.attribute));
  }

  // ---- Memory

  void pointer(Value v, std::string_view value) {
    const std::string_view element = dialect_.memory_type(loops_[v].type.dtype);
    line("{} {} = {};", expressions_.pointer_to(element, v), names_.define(v), value);
  }

  void view(Value v) {
    const Instruction& i = loops_[v];
    const std::string bytes = fmt::format("{} + {}", names_[i.operands[0]], names_[i.operands[1]]);
    pointer(v, dialect_.pointer_cast(expressions_.pointer_to(dialect_.memory_type(i.type.dtype), v), bytes));
  }

  void load(Value v) {
    const Instruction& i = loops_[v];
    const Value guard = i.operands[2], stride = i.operands[3];
    const std::string t = expressions_.memory_type(i.type);
    const std::string value = stride == none ? expressions_.element(i, i.type)
                                             : fmt::format("strided_lanes<{}>({} + {}, {})", t, names_[i.operands[0]],
                                                           names_[i.operands[1]], names_[stride]);
    if (guard == none) return line("const {} {} = {};", t, names_.define(v), value);
    line("{} {}{{}};", t, names_.define(v));
    line("if ({}) {} = {};", bare(guard), names_[v], value);
  }

  void gather(Value v) {
    const Instruction& i = loops_[v];
    const Value guard = i.operands[2];
    const std::string value = fmt::format("{}[{}]", names_[i.operands[0]], names_.lane(i.operands[1]));
    if (guard == none) return define(v, value);
    if (is_in_array(v))
      line("{} = {{}};", names_.lane(v));
    else
      line("{} {}{{}};", dialect_.memory_type(i.type.dtype), names_.define(v));
    line("if ({}) {} = {};", names_.lane(guard), names_.lane(v), value);
  }

  void store(const Instruction& i) {
    const Value value = i.operands[2], guard = i.operands[3], stride = i.operands[4];
    const Type& t = loops_[value].type;
    if (stride == none) {
      const std::string condition = guard == none ? "" : fmt::format("if ({}) ", bare(guard));
      return line("{}{} = {};", condition, expressions_.element(i, t), names_[value]);
    }
    if (guard != none) open(fmt::format("if ({})", bare(guard)));
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}[{} + l * {}] = {};", t.lanes, names_[i.operands[0]], names_[i.operands[1]],
         names_[stride], names_.lane(value));
    if (guard != none) close();
  }

  // ---- Variables

  void local(Value v) {
    const Instruction& i = loops_[v];
    const Value first = i.operands[0];
    const std::string t = expressions_.type(i.type);
    if (i.attribute > 1) return line("{} {}[{}];", t, names_.define(v, "array"), i.attribute);
    const std::string& n = names_.define(v, "variable");
    if (first == none) return line("{} {};", t, n);
    if (i.type.lanes == loops_[first].type.lanes) return line("{} {} = {};", t, n, bare(first));
    line("{} {};", t, n);
    splat(n, first, i.type.lanes);
  }

  void splat(std::string_view to, Value value, int lanes) {
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}.at[l] = {};", lanes, to, names_[value]);
  }

  /// Until the local changes, the value needs no copy.
  void get(Value v) {
    const Instruction& i = loops_[v];
    const std::string value = expressions_.place(i.operands[0], i.operands[1]);
    if (!changes_before(i.operands[0], v, lanes_.last_use[static_cast<std::size_t>(v)])) return names_.set(v, value);
    line("const {} {} = {};", expressions_.type(i.type), names_.define(v), value);
  }

  bool changes_before(Value local, Value from, Value to) const {
    const auto is_passed = [&](const Instruction& i) {
      return i.code == Code::Call && std::ranges::find(i.operands, local) != i.operands.end();
    };
    for (Value v = from + 1; v < to; ++v)
      if (is_passed(loops_[v]) || (loops_[v].code == Code::Set && loops_[v].operands[0] == local)) return true;
    return to != none && is_passed(loops_[to]);  // a call may change what it reads
  }

  void set(const Instruction& i) {
    const Value local = i.operands[0], value = i.operands[2];
    const std::string to = expressions_.place(local, i.operands[1]);
    if (loops_[local].type.lanes == loops_[value].type.lanes) return line("{} = {};", to, bare(value));
    splat(to, value, loops_[local].type.lanes);
  }

  void range(Value v) {
    const Instruction& i = loops_[v];
    const auto unroll = static_cast<loops::Unroll>(i.attribute);
    if (unroll != loops::Unroll::CompilerDefault)
      out_ += unroll == loops::Unroll::All ? "#pragma unroll\n" : "#pragma unroll 1\n";
    const std::string begin = bare(i.operands[0]), end = names_.compared(i.operands[1]), step = bare(i.operands[2]);
    names_.open();
    const std::string n = names_.define(v, "i");
    const std::string next = step == "1" ? "++" + n : fmt::format("{} += {}", n, step);
    line("for ({} {} = {}; {} < {}; {}) {{", expressions_.type(i.type), n, begin, n, end, next);
    ++depth_;
  }

  // ---- Faults

  void flag(const Instruction& i) {
    const Value guard = i.operands[1];
    line("{} |= {}{};", flag_name(i), guard == none ? "" : names_.lane(guard) + " && ", names_.lane(i.operands[0]));
  }
  void report(const Instruction& i) {
    line("if ({}) {};", flag_name(i), dialect_.report(names_[i.operands[0]], names_[i.operands[1]]));
  }
  static std::string_view flag_name(const Instruction& i) noexcept {
    return static_cast<Fault>(i.attribute) == Fault::Division ? "fault" : "outside";
  }

  const Loops& loops_;
  const Dialect& dialect_;
  const LaneLoops lanes_;
  Names names_;
  const Expressions expressions_;
  std::string out_;
  int depth_ = 1;
};

}  // namespace

std::string print(const Loops& loops, const Dialect& dialect) {
  return dialect.kernel(loops, Printer(loops, dialect).body());
}

}  // namespace sinter::inline v1::jit::dialects
