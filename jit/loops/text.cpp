// Programs as text, for readers and golden files.
#include <fmt/format.h>

#include "../functions/functions.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

std::string_view name(Kind kind) noexcept {
  constexpr std::string_view names[]{"none",         "element",        "u32",     "index",      "offset", "i64",
                                     "fast_divisor", "fast_divisor64", "pointer", "fault_word", "padding"};
  return names[static_cast<std::size_t>(kind)];
}

/// The attribute by name; programs that the verifier refuses may have others.
template <std::size_t N>
std::string named(std::uint64_t attribute, const std::string_view (&names)[N]) {
  return attribute < N ? std::string(names[attribute]) : fmt::format("#{}", attribute);
}

constexpr std::string_view access_names[]{"unaligned", "aligned", "aligned_indexed", "strided", "gather", "run"};
constexpr std::string_view hint_names[]{"", "unrolled", "auto", "vectors", "lanes", "parallel"};

/// The attributes of an instruction, without its operands.
std::string detail(const Instruction& i) {
  switch (i.code) {
    case Opcode::Param: return " " + i.name;
    case Opcode::Call: return " " + i.name;
    case Opcode::Elementwise:
      return i.op == Op::call ? fmt::format(" call {}", function_of(FunctionId{i.attribute}).symbol)
                              : fmt::format(" {}", sinter::name(i.op));
    case Opcode::Load:
    case Opcode::Store: return " " + named(i.attribute, access_names);
    case Opcode::Constant:
      return i.type.kind == Kind::Element ? fmt::format(" {:#x}", i.attribute)
                                          : fmt::format(" {}", static_cast<std::int64_t>(i.attribute));
    case Opcode::Shared:
    case Opcode::Local:
    case Opcode::ShuffleXor:
    case Opcode::RecordFault:
    case Opcode::ReportFault: return fmt::format(" #{}", i.attribute);
    case Opcode::Ramp: return i.attribute == 0 ? "" : " aligned";
    case Opcode::Range: return i.attribute == 0 ? "" : " " + named(i.attribute, hint_names);
    default: return "";
  }
}

}  // namespace

std::string_view name(Opcode code) noexcept {
  constexpr std::string_view names[]{
      "param",       "constant",     "thread_idx", "block_idx", "grid_dim",     "block_dim",   "elementwise",
      "select",      "less",         "equal",      "and",       "add",          "sub",         "mul",
      "rem",         "div",          "convert",    "splat",     "ramp",         "low",         "high",
      "shuffle_xor", "advance",      "view",       "load",      "store",        "shared",      "row_cache",
      "barrier",     "warp_barrier", "local",      "get",       "column",       "set",         "call",
      "opaque",      "range",        "if",         "end",       "record_fault", "report_fault"};
  static_assert(std::size(names) == static_cast<std::size_t>(Opcode::ReportFault) + 1);
  return names[static_cast<std::size_t>(code)];
}

std::string to_string(Type type) {
  std::string out;
  if (type.kind == Kind::Element) out = info(type.dtype).name;
  if (type.kind == Kind::Pointer) out = fmt::format("{}*", info(type.dtype).name);
  if (out.empty()) out = name(type.kind);
  return type.width == 1 ? out : fmt::format("{}x{}", out, type.width);
}

std::string to_string(const LoopProgram& program) {
  std::string out =
      fmt::format("{}: {} threads, {} blocks, {}-bit indices{}{}\n", program.name, program.max_threads_per_block,
                  program.min_blocks_per_multiprocessor, program.wide ? 64 : 32, program.aliased ? ", aliased" : "",
                  program.serial ? ", serial" : "");
  std::size_t depth = 1;
  for (std::size_t v = 0; v < program.code.size(); ++v) {
    const Instruction& i = program.code[v];
    if (i.code == Opcode::End && depth > 1) --depth;
    out.append(2 * depth, ' ');
    if (i.type.kind != Kind::None) out += fmt::format("%{} = ", v);
    out += name(i.code);
    if (i.type.kind != Kind::None) out += "." + to_string(i.type);
    out += detail(i);
    for (const Value o : i.operands) out += o == none ? " -" : fmt::format(" %{}", o);
    out += '\n';
    if (i.code == Opcode::Range || i.code == Opcode::If) ++depth;
  }
  return out;
}

}  // namespace sinter::inline v1::jit::loops
