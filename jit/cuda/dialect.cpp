#include "dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../plan/faults.hpp"
#include "expression.hpp"
#include "lane_loops.hpp"
#include "prelude.hpp"
#include "source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

using loops::Access;
using loops::Code;
using loops::Instruction;
using loops::Kind;
using loops::Loops;
using loops::none;
using loops::Type;
using loops::Value;

class Printer {
 public:
  explicit Printer(const Loops& loops)
      : loops_(loops), lanes_(loops), names_(loops.code.size()), params_(loops.name + "_params") {}

  std::string text() {
    const std::string function = body();
    const std::string own =
        "namespace sinter {\n\n" + params() + "\n" + function + "\n}  // namespace sinter\n\n" + entry();
    return "namespace sinter {\n\n" + prelude_for(own) + "}  // namespace sinter\n\n" +
           (uses_row_cache_ ? row_cache : "") + own;
  }

 private:
  static constexpr const char* row_cache = "extern __shared__ __align__(16) unsigned char row_cache[];\n\n";

  // ---- The kernel's frame

  std::string params() const {
    std::string out = fmt::format("struct {} {{\n", params_);
    for (const Instruction& i : loops_.code) {
      if (i.code != Code::Param) continue;
      const bool is_pointer =
          i.type.kind == Kind::Pointer || i.type.kind == Kind::FaultWord || i.type.kind == Kind::Unused;
      if (i.type.kind == Kind::Pointer)
        out += fmt::format("  {}{}* {};\n", is_input(i) ? "const " : "", storage_type(i.type.dtype), i.name);
      else
        out += fmt::format("  {}{} {};\n", is_pointer ? "" : "alignas(8) ", type(i.type), i.name);
    }
    return out + "};\n";
  }

  /// One resident block is asked for at least: told nothing, ptxas may spill to have more of them.
  std::string entry() const {
    return fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}, {}) {}(const __grid_constant__ sinter::{} p) {{\n"
        "  sinter::run(p);\n}}\n",
        loops_.block, loops_.resident_blocks, loops_.name, params_);
  }

  std::string body() {
    for (const Instruction& i : loops_.code)
      if (i.code == Code::Report) line("bool {} = false;", flag_name(i));
    for (Value v = 0; v < static_cast<Value>(loops_.code.size()); ++v) v = statement(v);
    return fmt::format("SINTER_DEVICE void run(const {}& p) {{\n", params_) + std::move(out_) + "}\n";
  }

  // ---- Lines and names

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    out_.append(2 * static_cast<std::size_t>(depth_), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
    out_ += '\n';
  }

  static bool is_input(const Instruction& i) noexcept { return i.name.starts_with('x'); }

  /// Whether a pointer leads to what is never written through it.
  bool is_const(Value pointer) const noexcept {
    const Instruction& i = loops_[pointer];
    if (i.code == Code::Advance || i.code == Code::View) return is_const(i.operands[0]);
    return i.code == Code::Param && is_input(i);
  }

  std::string_view type(Kind kind) const noexcept {
    switch (kind) {
      case Kind::Word: return "unsigned";
      case Kind::Index: return loops_.wide ? "unsigned long long" : "unsigned";
      case Kind::Offset: return loops_.wide ? "long long" : "int";
      case Kind::Long: return "long long";
      case Kind::Divider: return loops_.wide ? "WideDivider" : "Divider";
      case Kind::LongDivider: return "WideDivider";
      case Kind::FaultWord: return "unsigned*";
      case Kind::Unused: return "void*";
      case Kind::None:
      case Kind::Element:
      case Kind::Pointer: break;
    }
    __builtin_unreachable();
  }
  std::string type(Type t) const {
    const std::string one(t.kind == Kind::Element ? word_type(t.dtype) : type(t.kind));
    return t.lanes == 1 ? one : fmt::format("Lanes<{}, {}>", one, t.lanes);
  }

  const std::string& own_name(Value v, std::string_view otherwise = "t") {
    std::string& name = names_[static_cast<std::size_t>(v)];
    const std::string& hint = loops_[v].name;
    const std::string base = hint.empty() || loops_[v].code == Code::Call ? std::string(otherwise) : hint;
    const int number = counts_[base]++;
    name = number == 0 && base != "t" ? base : fmt::format("{}{}{}", base, base == "t" ? "" : "_", number);
    return name;
  }

  const std::string& name(Value v) const { return names_[static_cast<std::size_t>(v)]; }

  /// A lane of a value, as an expression; in a lane loop that is lane l.
  std::string lane(Value v, std::string_view l = "l") const {
    const Instruction& i = loops_[v];
    const std::string_view here = i.type.lanes == 1 ? "0" : l;
    if (i.code == Code::Low) return lane(i.operands[0], here);
    if (i.code == Code::High)
      return lane(i.operands[0], i.type.lanes == 1 ? "1" : fmt::format("{} + {}", l, i.type.lanes));
    if (i.type.lanes == 1 || !is_array(v)) return name(v);
    return fmt::format("{}.at[{}]", name(v), l);
  }
  /// Whether a vector is an object of the text, not a variable of a lane loop.
  bool is_array(Value v) const {
    return lanes_.loop[static_cast<std::size_t>(v)] == none || lanes_.outlives[static_cast<std::size_t>(v)];
  }

  // ---- Statements

  /// Writes an instruction, or a lane loop from its first to its last one, whose number it returns.
  Value statement(Value v) {
    const int number = lanes_.loop[static_cast<std::size_t>(v)];
    if (number == none) {
      single(v);
      return v;
    }
    Value last = v;
    for (Value next = v; next < static_cast<Value>(loops_.code.size()); ++next) {
      const int own = lanes_.loop[static_cast<std::size_t>(next)];
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
      if (lanes_.loop[static_cast<std::size_t>(v)] == none) {
        single(v);
        continue;
      }
      for (const Value o : i.operands)
        if (o != none) lanes = std::max(lanes, loops_[o].type.lanes);
      lanes = std::max(lanes, i.type.lanes);
      if (i.type.kind != Kind::None && is_array(v)) line("{} {};", type(i.type), own_name(v));
    }
    out_ += "#pragma unroll\n";
    open(fmt::format("for (int l = 0; l < {}; ++l)", lanes));
    for (Value v = first; v <= last; ++v)
      if (lanes_.loop[static_cast<std::size_t>(v)] != none) lanewise(v);
    close();
  }

  /// A result of one lane: a variable of the text.
  void define(Value v, std::string_view value) {
    const Instruction& i = loops_[v];
    Type one = i.type;
    one.lanes = 1;
    const bool in_array = i.type.lanes > 1 && is_array(v);
    if (in_array)
      line("{} = {};", lane(v), value);
    else
      line("const {} {} = {};", type(one), own_name(v), value);
  }

  void lanewise(Value v) {
    const Instruction& i = loops_[v];
    switch (i.code) {
      case Code::Load: return gather(v);
      case Code::Flag: return flag(i);
      case Code::Call:
        if (i.type.kind == Kind::None) return line("{};", call(i));
        [[fallthrough]];
      default: define(v, expression(i));
    }
  }

  void single(Value v) {
    const Instruction& i = loops_[v];
    switch (i.code) {
      case Code::Param: return param(v);
      case Code::Constant: return constant(v);
      case Code::Low:
      case Code::High: return;
      case Code::Advance: return pointer(v, fmt::format("{} + {}", name(i.operands[0]), name(i.operands[1])));
      case Code::View: return view(v);
      case Code::RowCache:
        uses_row_cache_ = true;
        names_[static_cast<std::size_t>(v)] = "row_cache";
        return;
      case Code::Shared:
        return line("__shared__ __align__(16) {} {}[{}];", storage_type(i.type.dtype), own_name(v), i.attribute);
      case Code::Load: return lanes_.loop[static_cast<std::size_t>(v)] == none ? load(v) : gather(v);
      case Code::Store: return store(i);
      case Code::Barrier: return line("__syncthreads();");
      case Code::WarpBarrier: return line("__syncwarp();");
      case Code::Local: return local(v);
      case Code::Get: return get(v);
      case Code::Set: return set(i);
      case Code::Range: return range(v);
      case Code::If: return open(fmt::format("if ({})", bare(i.operands[0])));
      case Code::End: return close();
      case Code::Flag: return flag(i);
      case Code::Report: return line("if ({}) report({}, {});", flag_name(i), name(i.operands[0]), name(i.operands[1]));
      case Code::Call:
        if (i.type.kind == Kind::None) return line("{};", call(i));
        return define(v, call(i));
      default: return scalar(v);
    }
  }

  /// Names may be used again when the block is closed.
  void open(std::string_view head) {
    outer_counts_.push_back(counts_);
    line("{} {{", head);
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
    counts_ = std::move(outer_counts_.back());
    outer_counts_.pop_back();
  }

  /// An index that is read once stands where it is read.
  void scalar(Value v) {
    const Instruction& i = loops_[v];
    const bool is_element =
        i.type.kind == Kind::Element && i.code != Code::Less && i.code != Code::Equal && i.code != Code::And;
    const bool is_short = is_atom(i) || (lanes_.uses[static_cast<std::size_t>(v)] == 1 && is_fixed(i));
    if (!is_element && i.name.empty() && i.type.lanes == 1 && is_short) {
      const std::string value = expression(i);
      names_[static_cast<std::size_t>(v)] = value.find(' ') == std::string::npos ? value : "(" + value + ")";
      return;
    }
    define(v, expression(i));
  }
  static bool is_atom(const Instruction& i) noexcept {
    return i.code == Code::Thread || i.code == Code::Block || i.code == Code::Blocks || i.code == Code::Threads;
  }
  /// Whether it is the same where the result is read: it reads no variable, which may change before.
  bool is_fixed(const Instruction& i) const {
    return i.code != Code::Opaque &&
           std::ranges::none_of(i.operands, [&](Value o) { return loops_[o].code == Code::Get; });
  }
  /// Without the parentheses around the whole.
  std::string bare(Value v) const {
    const std::string& n = name(v);
    return n.starts_with('(') && n.ends_with(')') ? n.substr(1, n.size() - 2) : n;
  }

  /// Of a comparison: sums and products need no parentheses there.
  std::string operand(Value v) const { return loops_[v].code == Code::Select ? name(v) : bare(v); }

  void param(Value v) {
    const Instruction& i = loops_[v];
    if (i.type.kind != Kind::Pointer) {
      names_[static_cast<std::size_t>(v)] = "p." + i.name;
      return;
    }
    if (lanes_.uses[static_cast<std::size_t>(v)] == 0) return;
    std::string& n = names_[static_cast<std::size_t>(v)];
    n = i.name + "_memory";
    line("{}{}* {}{} = p.{};", is_input(i) ? "const " : "", storage_type(i.type.dtype),
         loops_.aliased ? "" : "__restrict__ ", n, i.name);
  }

  void constant(Value v) {
    const Instruction& i = loops_[v];
    std::string& n = names_[static_cast<std::size_t>(v)];
    if (i.type.kind != Kind::Element)
      n = fmt::format("{}", static_cast<std::int64_t>(i.attribute));
    else if (category(i.type.dtype) != Category::Float)
      n = parenthesized(literal(i.type.dtype, i.attribute));
    else
      line("const {} {} = {};  // {}", type(i.type), own_name(v), literal(i.type.dtype, i.attribute),
           decimal(i.type.dtype, i.attribute));
  }

  static std::string parenthesized(std::string number) { return number.starts_with('-') ? "(" + number + ")" : number; }

  void pointer(Value v, std::string_view value) {
    line("{}{}* {} = {};", is_const(v) ? "const " : "", storage_type(loops_[v].type.dtype), own_name(v), value);
  }

  void view(Value v) {
    const Instruction& i = loops_[v];
    pointer(v, fmt::format("reinterpret_cast<{}{}*>({} + {})", is_const(v) ? "const " : "", storage_type(i.type.dtype),
                           name(i.operands[0]), name(i.operands[1])));
  }

  // ---- Memory

  std::string vector_type(const Type& t) const { return fmt::format("Lanes<{}, {}>", storage_type(t.dtype), t.lanes); }

  /// What a load reads or a store writes.
  std::string element(const Instruction& i, const Type& t) const {
    const Value pointer = i.operands[0], position = i.operands[1];
    const std::string& from = name(pointer);
    if (t.lanes == 1) return fmt::format("{}[{}]", from, bare(position));
    const std::string cast = fmt::format("reinterpret_cast<{}{}*>", is_const(pointer) ? "const " : "", vector_type(t));
    if (static_cast<Access>(i.attribute) == Access::Vectors)
      return fmt::format("{}({})[{}]", cast, from, bare(position));
    return fmt::format("*{}({} + {})", cast, from, name(position));
  }

  void load(Value v) {
    const Instruction& i = loops_[v];
    const Value guard = i.operands[2], stride = i.operands[3];
    const std::string value = stride == none ? element(i, i.type)
                                             : fmt::format("strided_lanes<{}>({} + {}, {})", vector_type(i.type),
                                                           name(i.operands[0]), name(i.operands[1]), name(stride));
    const std::string t = i.type.lanes == 1 ? std::string(storage_type(i.type.dtype)) : vector_type(i.type);
    if (guard == none) return line("const {} {} = {};", t, own_name(v), value);
    line("{} {}{{}};", t, own_name(v));
    line("if ({}) {} = {};", bare(guard), name(v), value);
  }

  void gather(Value v) {
    const Instruction& i = loops_[v];
    const Value guard = i.operands[2];
    const std::string value = fmt::format("{}[{}]", name(i.operands[0]), lane(i.operands[1]));
    if (guard == none) return define(v, value);
    const bool in_array = i.type.lanes > 1 && is_array(v);
    if (in_array)
      line("{} = {{}};", lane(v));
    else
      line("{} {}{{}};", storage_type(i.type.dtype), own_name(v));
    line("if ({}) {} = {};", lane(guard), lane(v), value);
  }

  void store(const Instruction& i) {
    const Value value = i.operands[2], guard = i.operands[3], stride = i.operands[4];
    const Type& t = loops_[value].type;
    const std::string condition = guard == none ? "" : fmt::format("if ({}) ", bare(guard));
    if (stride == none) {
      line("{}{} = {};", condition, element(i, t), t.lanes == 1 ? name(value) : whole(value));
      return;
    }
    if (guard != none) open(fmt::format("if ({})", bare(guard)));
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}[{} + l * {}] = {};", t.lanes, name(i.operands[0]), name(i.operands[1]),
         name(stride), lane(value));
    if (guard != none) close();
  }

  /// A vector as an object.
  std::string whole(Value v) const { return name(v); }

  // ---- Variables

  void local(Value v) {
    const Instruction& i = loops_[v];
    const Value first = i.operands[0];
    const std::string t = type(i.type);
    if (i.attribute > 1) return line("{} {}[{}];", t, own_name(v, "array"), i.attribute);
    if (first == none) return line("{} {};", t, own_name(v, "variable"));
    if (i.type.lanes == loops_[first].type.lanes) return line("{} {} = {};", t, own_name(v, "variable"), bare(first));
    line("{} {};", t, own_name(v, "variable"));
    splat(name(v), first, i.type.lanes);
  }

  void splat(std::string_view to, Value value, int lanes) {
    out_ += "#pragma unroll\n";
    line("for (int l = 0; l < {}; ++l) {}.at[l] = {};", lanes, to, name(value));
  }

  std::string place(Value local, Value at) const {
    return at == none || loops_[local].attribute <= 1 ? name(local) : fmt::format("{}[{}]", name(local), bare(at));
  }

  /// Until the local changes, the value needs no copy.
  void get(Value v) {
    const Instruction& i = loops_[v];
    const std::string value = place(i.operands[0], i.operands[1]);
    if (!changes_before(i.operands[0], v, lanes_.last_use[static_cast<std::size_t>(v)])) {
      names_[static_cast<std::size_t>(v)] = value;
      return;
    }
    line("const {} {} = {};", type(i.type), own_name(v), value);
  }

  bool changes_before(Value local, Value from, Value to) const {
    for (Value v = from + 1; v < to; ++v) {
      const Instruction& i = loops_[v];
      if (i.code == Code::Set && i.operands[0] == local) return true;
      if (i.code != Code::Call) continue;
      for (const Value o : i.operands)
        if (o == local) return true;
    }
    // A call may change what it reads.
    return to != none && loops_[to].code == Code::Call &&
           std::ranges::find(loops_[to].operands, local) != loops_[to].operands.end();
  }

  void set(const Instruction& i) {
    const Value local = i.operands[0], value = i.operands[2];
    const std::string to = place(local, i.operands[1]);
    if (loops_[local].type.lanes == loops_[value].type.lanes) return line("{} = {};", to, bare(value));
    splat(to, value, loops_[local].type.lanes);
  }

  void range(Value v) {
    const Instruction& i = loops_[v];
    const auto unroll = static_cast<loops::Unroll>(i.attribute);
    if (unroll != loops::Unroll::AsItLikes)
      out_ += unroll == loops::Unroll::All ? "#pragma unroll\n" : "#pragma unroll 1\n";
    const std::string begin = bare(i.operands[0]), end = operand(i.operands[1]), step = bare(i.operands[2]);
    outer_counts_.push_back(counts_);
    const std::string n = own_name(v, "i");
    const std::string next = step == "1" ? "++" + n : fmt::format("{} += {}", n, step);
    line("for ({} {} = {}; {} < {}; {}) {{", type(i.type), n, begin, n, end, next);
    ++depth_;
  }

  // ---- Values

  void flag(const Instruction& i) {
    const Value guard = i.operands[1];
    line("{} |= {}{};", flag_name(i), guard == none ? "" : lane(guard) + " && ", lane(i.operands[0]));
  }
  static std::string_view flag_name(const Instruction& i) noexcept {
    return static_cast<Fault>(i.attribute) == Fault::Division ? "fault" : "outside";
  }

  std::string call(const Instruction& i) const {
    std::string out = i.name + "(";
    for (std::size_t k = 0; k < i.operands.size(); ++k) out += (k ? ", " : "") + lane(i.operands[k]);
    return out + ")";
  }

  std::string expression(const Instruction& i) const {
    const auto a = [&](std::size_t k) { return lane(i.operands[k]); };
    switch (i.code) {
      case Code::Thread: return "threadIdx.x";
      case Code::Block: return "blockIdx.x";
      case Code::Blocks: return "gridDim.x";
      case Code::Threads: return "blockDim.x";
      case Code::Alu: return alu(i);
      case Code::Select: return fmt::format("{} ? {} : {}", a(0), a(1), a(2));
      case Code::Less: return fmt::format("{} < {}", a(0), a(1));
      case Code::Equal: return fmt::format("{} == {}", a(0), a(1));
      case Code::And: return fmt::format("{} && {}", a(0), a(1));
      case Code::Add: return fmt::format("{} + {}", a(0), a(1));
      case Code::Sub: return fmt::format("{} - {}", a(0), a(1));
      case Code::Mul: return fmt::format("{} * {}", a(0), a(1));
      case Code::Remainder: return fmt::format("{} % {}", a(0), a(1));
      case Code::Quotient: return quotient(i);
      case Code::Convert: return convert(i);
      case Code::Splat: return a(0);
      case Code::Ramp: return fmt::format("{} + l * {}", a(0), a(1));
      case Code::Column: return fmt::format("{}[l].at[{}]", name(i.operands[0]), bare(i.operands[1]));
      case Code::Shuffle: return fmt::format("from_lane({}, {})", a(0), i.attribute);
      case Code::Opaque: return fmt::format("again({})", a(0));
      case Code::Call: return call(i);
      default: __builtin_unreachable();
    }
  }

  std::string alu(const Instruction& i) const {
    std::vector<std::string> operands;
    for (const Value v : i.operands) operands.push_back(lane(v));
    if (i.op == Op::cast) return fmt::format("convert<{}>({})", word_type(i.type.dtype), operands[0]);
    return operation(i.op, loops_[i.operands.back()].type.dtype, std::move(operands));
  }

  std::string quotient(const Instruction& i) const {
    const std::string a = bare(i.operands[0]), divisor = lane(i.operands[1]);
    const Kind kind = loops_[i.operands[1]].type.kind;
    if (kind == Kind::Divider && !loops_.wide) return fmt::format("divide({}, {})", a, divisor);
    if (kind == Kind::Divider || kind == Kind::LongDivider) return fmt::format("wide_divide({}, {})", a, divisor);
    return fmt::format("{} / {}", name(i.operands[0]), divisor);
  }

  std::string convert(const Instruction& i) const {
    Type one = i.type;
    one.lanes = 1;
    const Instruction& from = loops_[i.operands[0]];
    Type was = from.type;
    was.lanes = 1;
    const std::string a = lane(i.operands[0]);
    return type(one) == type(was)
               ? a
               : fmt::format("static_cast<{}>({})", type(one), i.type.lanes == 1 ? bare(i.operands[0]) : a);
  }

  const Loops& loops_;
  const LaneLoops lanes_;
  std::vector<std::string> names_;
  const std::string params_;
  std::map<std::string, int> counts_;  // of names that are visible
  std::vector<std::map<std::string, int>> outer_counts_;
  std::string out_;
  int depth_ = 1;
  bool uses_row_cache_ = false;
};

}  // namespace

std::string print(const Loops& loops) { return Printer(loops).text(); }

}  // namespace sinter::inline v1::jit::cuda
