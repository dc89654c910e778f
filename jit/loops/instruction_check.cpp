#include "instruction_check.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <sinter/jit/device_function.hpp>
#include "../ops/traits.hpp"
#include "../plan/faults.hpp"
#include "prelude_calls.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

constexpr int max_width = 64;
constexpr std::size_t max_shared_bytes = 48 << 10;  // bytes that a kernel may declare

bool is_index(Type t) noexcept {
  return t.kind == Kind::UInt32 || t.kind == Kind::Index || t.kind == Kind::Offset || t.kind == Kind::Int64;
}
bool is_element(Type t) noexcept { return t.kind == Kind::Element; }
bool is_bool(Type t) noexcept { return is_element(t) && t.dtype == DType::Bool; }
bool is_complex_element(Type t) noexcept { return is_element(t) && is_complex(t.dtype); }
bool is_scalar(Type t) noexcept { return t.width == 1; }

/// Whether a value has this vector width or is broadcast to it.
bool fits(Type t, int width) noexcept { return t.width == 1 || t.width == width; }
/// Equal except for the vector width.
bool is_like(Type a, Type b) noexcept {
  return a.kind == b.kind && (a.kind != Kind::Element || a.dtype == b.dtype) &&
         (a.kind != Kind::Pointer || a.dtype == b.dtype);
}

class InstructionCheck {
 public:
  InstructionCheck(const LoopProgram& program, Value v, const std::vector<bool>& is_set)
      : program_(program), i_(program[v]), t_(i_.type), is_set_(is_set) {}

  std::string_view run() const {
    if (t_.width < 1 || t_.width > max_width || (t_.width & (t_.width - 1)) != 0) return "not a valid vector width";
    if (!is_index(t_) && !is_element(t_) && t_.width != 1) return "not a valid vector width";
    switch (i_.code) {
      case Opcode::Param: return t_.kind != Kind::None && is_scalar(t_) && !i_.name.empty() ? "" : "not a parameter";
      case Opcode::Constant: return constant();
      case Opcode::ThreadIdx:
      case Opcode::BlockIdx:
      case Opcode::GridDim:
      case Opcode::BlockDim: return t_ == index_type(Kind::UInt32) ? "" : "not a u32";
      case Opcode::Range: return range();
      case Opcode::If: return is_bool(at(0)) && is_scalar(at(0)) ? expect_no_result() : "not a scalar Bool";
      case Opcode::End:
      case Opcode::Barrier:
      case Opcode::WarpBarrier: return expect_no_result();
      case Opcode::RecordFault: return fault_record();
      case Opcode::ReportFault:
        return at(0).kind == Kind::FaultWord && at(1) == index_type(Kind::UInt32) && is_fault()
                   ? expect_no_result()
                   : "not a fault and its code";
      default: break;
    }
    if (const std::string_view wrong = value(); !wrong.empty()) return wrong;
    return memory();
  }

 private:
  Type type(Value v) const { return v == none ? Type{} : program_[v].type; }
  Type at(std::size_t k) const { return type(i_.operands[k]); }
  bool has(std::size_t k) const { return i_.operands[k] != none; }
  std::string_view expect_no_result() const { return t_.kind == Kind::None ? "" : "it must not have a result"; }
  bool is_fault() const { return i_.attribute < all_faults.size(); }
  std::optional<std::uint64_t> known(Value v) const {
    if (program_[v].code != Opcode::Constant) return std::nullopt;
    return program_[v].attribute;
  }

  /// The operands from the first one on are like the result, and have its vector width or are scalars.
  std::string_view like_result(std::size_t first = 0) const {
    for (std::size_t k = first; k < i_.operands.size(); ++k) {
      if (!is_like(at(k), t_)) return "kinds differ";
      if (!fits(at(k), t_.width)) return "vector widths differ";
    }
    return "";
  }

  /// A constant has no more bits than its type.
  std::string_view constant() const {
    if (!is_scalar(t_) || (!is_index(t_) && !is_element(t_))) return "not a number";
    if (is_element(t_))
      return size_of(t_.dtype) >= 8 || i_.attribute >> 8 * size_of(t_.dtype) == 0 ? "" : "more bits than the dtype has";
    const auto n = static_cast<std::int64_t>(i_.attribute);
    if (t_.kind == Kind::Int64 || (program_.wide && t_.kind != Kind::UInt32)) return "";
    const bool fits = t_.kind == Kind::Offset ? n == static_cast<std::int32_t>(n) : n == static_cast<std::uint32_t>(n);
    return fits ? "" : "more bits than the kind has";
  }

  std::string_view value() const {
    switch (i_.code) {
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul: return is_index(t_) ? like_result() : "not an index";
      case Opcode::Rem: return rem();
      case Opcode::Div: return div();
      case Opcode::Less:
      case Opcode::Equal:
        if (!is_bool(t_) || !is_index(at(0)) || !is_like(at(0), at(1))) return "kinds differ";
        return fits(at(0), t_.width) && fits(at(1), t_.width) ? "" : "vector widths differ";
      case Opcode::And: return is_bool(t_) ? like_result() : "not a Bool";
      case Opcode::Select:
        if (!is_index(t_) && !is_element(t_)) return "not a number";
        return is_bool(at(0)) && fits(at(0), t_.width) ? like_result(1) : "not a Bool";
      case Opcode::Elementwise: return elements();
      case Opcode::Convert: return conversion();
      case Opcode::Splat: return is_scalar(at(0)) && (is_index(t_) || is_element(t_)) ? like_result() : "not one value";
      case Opcode::Ramp: return ramp();
      case Opcode::Low:
      case Opcode::High: return is_like(at(0), t_) && at(0).width == 2 * t_.width ? "" : "not half of the width";
      case Opcode::ShuffleXor:
        if (i_.attribute < 1 || i_.attribute > 31) return "not a lane mask";
        return at(0) == t_ && is_element(t_) ? "" : "kinds differ";
      case Opcode::Opaque: return at(0) == t_ && t_ == index_type(Kind::UInt32) ? "" : "not a u32";
      default: return "";
    }
  }

  std::string_view rem() const {
    const auto power = known(i_.operands[1]);
    if (!power || *power == 0 || (*power & (*power - 1)) != 0) return "not a power of two";
    return is_index(t_) ? like_result() : "not an index";
  }

  std::string_view ramp() const {
    if (!is_index(t_) || !is_scalar(at(0)) || !is_scalar(at(1))) return "not an index and a step";
    if (i_.attribute != 0 && (known(i_.operands[1]) != 1 || (t_.width & (t_.width - 1)) != 0)) return "not aligned";
    return like_result();
  }

  std::string_view div() const {
    if (!is_index(t_) || !is_like(at(0), t_) || !fits(at(0), t_.width)) return "not an index";
    const Type divisor = at(1);
    if (divisor.kind == Kind::FastDivisor) return t_.kind == Kind::Index ? "" : "kinds differ";
    if (divisor.kind == Kind::FastDivisor64) return t_.kind == Kind::Int64 ? "" : "kinds differ";
    return is_like(divisor, t_) && fits(divisor, t_.width) && known(i_.operands[1]) != 0 ? "" : "kinds differ";
  }

  std::string_view conversion() const {
    if (!is_index(at(0)) || !fits(at(0), t_.width)) return "not an index";
    return is_index(t_) || (is_element(t_) && category(t_.dtype) == Category::Int) ? "" : "not an integer";
  }

  /// All operands except a condition have the same dtype.
  std::string_view elements() const {
    if (i_.op == Op::call) return device_function();
    const bool combines = is_reduction(i_.op) && i_.op != Op::count;
    if (i_.op == Op::load || i_.op == Op::count || info(i_.op).rule == DTypeRule::Product) return "not an operation";
    if (i_.operands.empty() || i_.operands.size() != (combines ? 2 : info(i_.op).arity))
      return "the number of operands is wrong";
    if (!is_element(t_) || !std::ranges::all_of(i_.operands, [&](Value o) { return is_element(type(o)); }))
      return "not an element";
    if (is_complex_element(t_) && i_.op != Op::complex) return "not the parts of a complex number";
    for (std::size_t k = 0; k < i_.operands.size(); ++k) {
      if (!fits(at(k), t_.width)) return "vector widths differ";
      if (is_complex_element(at(k)) && i_.op != Op::real && i_.op != Op::imag)
        return "not the parts of a complex number";
      const bool is_condition = info(i_.op).rule == DTypeRule::Select && k == 0;
      if (is_condition ? !is_bool(at(k)) : at(k).dtype != type(i_.operands.back()).dtype) return "dtypes differ";
    }
    return t_.dtype == result_dtype(combines) ? "" : "not the operation's dtype";
  }

  std::string_view device_function() const {
    const FunctionSource& f = source_of(FunctionId{i_.attribute});
    const std::size_t count = f.parameters.size();
    if (i_.operands.size() != count && i_.operands.size() != count + 1) return "the number of operands is wrong";
    for (std::size_t k = 0; k < i_.operands.size(); ++k) {
      const DType dtype = k < count ? f.parameters[k].dtype : DType::Bool;
      if (!is_element(at(k)) || at(k).dtype != dtype) return "not the parameter's dtype";
      if (!fits(at(k), t_.width)) return "vector widths differ";
    }
    return is_element(t_) && t_.dtype == f.result ? "" : "not the function's dtype";
  }

  DType result_dtype(bool combines) const {
    const DType compute = type(i_.operands.back()).dtype;
    if (i_.op == Op::cast) return t_.dtype;
    if (combines) return traits_of(i_.op).gives_position ? DType::Bool : compute;
    std::array<OperandType, max_arity> types;
    for (std::size_t k = 0; k < i_.operands.size(); ++k) types[k] = {at(k).dtype};
    return op_types(i_.op, std::span(types).first(i_.operands.size())).result;
  }

  // ---- Memory and variables

  std::string_view memory() const {
    switch (i_.code) {
      case Opcode::Advance:
        if (t_.kind != Kind::Pointer || at(0) != t_) return "not a pointer";
        return is_index(at(1)) && is_scalar(at(1)) ? "" : "not a distance";
      case Opcode::View:
        if (t_.kind != Kind::Pointer || at(0).kind != Kind::Pointer) return "not a pointer";
        return is_index(at(1)) && is_scalar(at(1)) ? "" : "not a distance";
      case Opcode::Shared:
        return t_.kind == Kind::Pointer && i_.attribute > 0 && i_.attribute <= max_shared_bytes / size_of(t_.dtype)
                   ? ""
                   : "not an array in shared memory";
      case Opcode::RowCache: return t_ == pointer_type(DType::UInt8) ? "" : "not bytes";
      case Opcode::Load: return is_written(i_.operands[0]) && !program_.serial ? "reads an output" : access(t_, 2);
      case Opcode::Store:
        if (t_.kind != Kind::None) return expect_no_result();
        return is_read(i_.operands[0]) ? "writes an input" : access(at(2), 3);
      case Opcode::Local: return local();
      case Opcode::Get:
      case Opcode::ExtractColumn:
      case Opcode::Set: return local_access();
      case Opcode::Call: return call();
      default: return "";
    }
  }

  /// The parameter that a pointer comes from is named as an input or output.
  char name_of_root(Value pointer) const {
    while (program_[pointer].code == Opcode::Advance || program_[pointer].code == Opcode::View)
      pointer = program_[pointer].operands[0];
    return program_[pointer].code == Opcode::Param ? program_[pointer].name[0] : ' ';
  }
  bool is_read(Value pointer) const { return name_of_root(pointer) == 'x'; }
  bool is_written(Value pointer) const { return name_of_root(pointer) == 'y'; }

  /// Checks a load or store: operand `guard` is the guard, and the next one the stride.
  std::string_view access(Type value, std::size_t guard) const {
    const Type pointer = at(0), position = at(1);
    if (pointer.kind != Kind::Pointer || !is_element(value) || value.dtype != pointer.dtype)
      return "not of the pointer's dtype";
    if (i_.attribute > static_cast<std::uint64_t>(Access::Run)) return "not an access mode";
    const auto access = static_cast<Access>(i_.attribute);
    const bool gathers = access == Access::Gather, is_computed = gathers || access == Access::Run;
    if (is_scalar(value) && !gathers && access != Access::Unaligned) return "a vector access needs several width";
    if (!(is_computed ? is_element(position) && category(position.dtype) == Category::Int : is_index(position)))
      return "not a position";
    if (position.width != (gathers ? value.width : 1)) return "not a position for each element";
    if (has(guard) && (!is_bool(at(guard)) || !(is_scalar(at(guard)) || (gathers && fits(at(guard), value.width)))))
      return "the guard is not a Bool";
    if (has(guard + 1) != (access == Access::Strided)) return "only strided accesses have a stride";
    return !has(guard + 1) || (is_index(at(guard + 1)) && is_scalar(at(guard + 1))) ? "" : "not a stride";
  }

  std::string_view local() const {
    if (!is_index(t_) && !is_element(t_)) return "not a local";
    if (i_.attribute < 1 || i_.attribute > 1024) return "not an array";
    if (!has(0)) return "";
    if (i_.attribute > 1) return "an array has no initial value";
    return like_result();
  }

  std::string_view local_access() const {
    const Instruction& local = program_[i_.operands[0]];
    if (local.code != Opcode::Local) return "not a local";
    if (i_.code == Opcode::Set) {
      if (t_.kind != Kind::None) return expect_no_result();
      if (!is_like(at(2), local.type) || !fits(at(2), local.type.width)) return "not of the local's type";
    } else if (!is_set_[static_cast<std::size_t>(i_.operands[0])]) {
      return "the local is read before it is set";
    }
    if (i_.code == Opcode::Get && t_ != local.type) return "not of the local's type";
    if (i_.code != Opcode::ExtractColumn) return position(local.attribute);
    if (!is_like(t_, local.type) || static_cast<std::uint64_t>(t_.width) != local.attribute)
      return "not of the local's type";
    return has(1) ? position(static_cast<std::uint64_t>(local.type.width)) : "a position is missing";
  }

  /// Whether a position is known to be below a bound.
  std::string_view position(std::uint64_t bound) const {
    if (!has(1)) return bound == 1 ? "" : "a position is missing";
    if (program_[i_.operands[1]].type != index_type(Kind::Index)) return "not a position";
    const auto range = range_of(i_.operands[1]);
    if (!range) return "not a known position";
    return range->first >= 0 && range->second < static_cast<std::int64_t>(bound) ? "" : "past the local's end";
  }

  /// The largest value of a number, or of a remainder.
  std::optional<std::int64_t> bound(Value v) const {
    while (program_[v].code == Opcode::Convert) v = program_[v].operands[0];
    const bool is_rest = program_[v].code == Opcode::Rem;
    const auto n = known(is_rest ? program_[v].operands[1] : v);
    constexpr std::uint64_t limit = 1 << 20;  // far from overflow
    if (!n || *n >= limit) return std::nullopt;
    return static_cast<std::int64_t>(*n) - is_rest;
  }

  /// The least and the largest value of a number, of a counter that is unrolled or left to the compiler, and of sums.
  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(Value v) const {
    const auto constant_bound = [&](Value n) { return known(n) ? bound(n) : std::nullopt; };
    if (const auto n = constant_bound(v)) return std::pair(*n, *n);
    const Instruction& p = program_[v];
    if (p.code == Opcode::Range) {
      const auto begin = constant_bound(p.operands[0]), end = bound(p.operands[1]);
      const bool is_rolled = p.attribute == static_cast<std::uint64_t>(LoopHint::Rolled);
      return begin && end && *begin < *end && !is_rolled ? std::optional(std::pair(*begin, *end - 1)) : std::nullopt;
    }
    if (p.code != Opcode::Add) return std::nullopt;
    const auto a = range_of(p.operands[0]), b = range_of(p.operands[1]);
    return a && b ? std::optional(std::pair(a->first + b->first, a->second + b->second)) : std::nullopt;
  }

  std::string_view call() const {
    const PreludeCall* known = find_call(i_.name);
    if (!known) return "the prelude has no such function";
    if (i_.operands.size() != static_cast<std::size_t>(known->locals + known->values))
      return "the number of operands is wrong";
    if (known->has_result ? !is_element(t_) : t_.kind != Kind::None) return "not the function's result";
    const DType dtype = at(0).dtype;
    if (dtype != DType::Float32 && dtype != DType::Float64) return "not a function of this dtype";
    int width = t_.width;
    for (std::size_t k = 0; k < i_.operands.size(); ++k) {
      if (!is_like(at(k), known->has_result ? t_ : element_type(dtype))) return "dtypes differ";
      width = std::max(width, at(k).width);
    }
    for (std::size_t k = 0; k < i_.operands.size(); ++k) {
      const Value o = i_.operands[k];
      const bool is_local = k < static_cast<std::size_t>(known->locals);
      if (!fits(at(k), width) || (is_local && at(k).width != width)) return "vector widths differ";
      if (is_local && (program_[o].code != Opcode::Local || program_[o].attribute != 1)) return "not a local";
      if (is_local && !is_set_[static_cast<std::size_t>(o)]) return "the local is read before it is set";
    }
    return known->has_result && width != t_.width ? "vector widths differ" : "";
  }

  // ---- Control flow

  std::string_view range() const {
    if (!is_index(t_) || !is_scalar(t_)) return "not an index";
    if (i_.attribute > static_cast<std::uint64_t>(LoopHint::Parallel)) return "not a loop hint";
    for (std::size_t k = 0; k < 3; ++k)
      if (at(k) != t_) return "kinds differ";
    const auto step = known(i_.operands[2]);
    if (step && static_cast<std::int64_t>(*step) <= 0) return "the counter does not grow";
    const bool is_known = known(i_.operands[0]) && known(i_.operands[1]) && step;
    return is_known || i_.attribute != static_cast<std::uint64_t>(LoopHint::Unrolled)
               ? ""
               : "a fully unrolled loop needs constant bounds";
  }

  std::string_view fault_record() const {
    if (t_.kind != Kind::None || !is_fault()) return "not a fault";
    if (!is_bool(at(0)) || (has(1) && !is_bool(at(1)))) return "not a Bool";
    return !has(1) || fits(at(1), at(0).width) || is_scalar(at(0)) ? "" : "vector widths differ";
  }

  const LoopProgram& program_;
  const Instruction& i_;
  const Type t_;
  const std::vector<bool>& is_set_;
};

}  // namespace

std::string_view check_instruction(const LoopProgram& program, Value v, const std::vector<bool>& is_set) {
  return InstructionCheck(program, v, is_set).run();
}

}  // namespace sinter::inline v1::jit::loops
