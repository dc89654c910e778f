// How the printer spells the loop IR in one C-like language: types, calls, memory accesses, the frame of a kernel.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../loops/loops.hpp"

namespace sinter::inline v1::jit::dialects {

/// The expression for a parameter, and the statement that defines it; empty if none is needed.
struct ParamText {
  std::string name, definition;
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// Types of values in computations and of elements in memory.
  virtual std::string_view type(DType dtype) const = 0;
  virtual std::string_view memory_type(DType dtype) const = 0;
  /// `wide`: as LoopProgram::wide.
  virtual std::string_view type(loops::Kind kind, bool wide) const = 0;
  /// An expression that has exactly this value.
  virtual std::string literal(DType dtype, std::uint64_t bits) const = 0;
  /// A comment with the value in decimal.
  virtual std::string comment(DType dtype, std::uint64_t bits) const = 0;

  /// An elementwise operation other than a cast. `compute` is the dtype of its operands.
  virtual std::string operation(Op op, DType compute, std::vector<std::string> operands) const = 0;
  virtual std::string conversion(DType from, DType to, const std::string& value) const = 0;
  /// Casts of indices and of pointers.
  virtual std::string cast(std::string_view type, const std::string& value) const = 0;
  virtual std::string pointer_cast(std::string_view type, const std::string& value) const = 0;
  /// The argument for a local that the called function may change.
  virtual std::string reference(const std::string& local) const { return local; }
  virtual std::string call(std::string_view function, std::span<const std::string> operands) const = 0;
  /// The line before a loop; empty if none is needed.
  virtual std::string_view loop_hint(loops::LoopHint hint) const {
    if (hint == loops::LoopHint::Unrolled) return "#pragma unroll\n";
    return hint == loops::LoopHint::Rolled ? "#pragma unroll 1\n" : "";
  }
  /// Constructs of parallel languages only: thread indices, shuffles, barriers, shared memory.
  virtual std::string parallel(const loops::LoopProgram& program, const loops::Instruction& i,
                               std::span<const std::string> operands) const;
  virtual std::string report(const std::string& fault_word, const std::string& code) const = 0;

  virtual ParamText param(const loops::LoopProgram& program, const loops::Instruction& param) const = 0;
  /// The complete source of a kernel whose statements are `body`.
  virtual std::string kernel(const loops::LoopProgram& program, const std::string& body) const = 0;
};

/// Inputs are never written through their pointers.
inline bool is_input(const loops::Instruction& param) noexcept { return param.name.starts_with('x'); }

/// Removes the outer parentheses.
std::string without_parentheses(const std::string& expression);

}  // namespace sinter::inline v1::jit::dialects
