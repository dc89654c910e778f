// Instructions that compute a value, as expressions.
#pragma once
#include <string>
#include <vector>

#include "dialect.hpp"
#include "names.hpp"

namespace sinter::inline v1::jit::dialects {

class Expressions {
 public:
  Expressions(const loops::LoopProgram& program, const Dialect& dialect, const Names& names)
      : program_(program), dialect_(dialect), names_(names) {}

  std::string type(loops::Type t) const;
  /// The type of elements in memory.
  std::string memory_type(loops::Type t) const;
  /// The value of an instruction; of one of its elements if it is a vector.
  std::string of(const loops::Instruction& i) const;
  /// An instruction that only parallel languages have.
  std::string parallel(const loops::Instruction& i) const;

  /// A pointer type; `const` for inputs, which are never written.
  std::string pointer_to(std::string_view type, loops::Value pointer) const;
  /// The lvalue of the vector or element that a load reads or a store writes.
  std::string element(const loops::Instruction& i, loops::Type t) const;
  /// The variable, or the element at a position of the array.
  std::string lvalue(loops::Value local, loops::Value at) const;

 private:
  std::string operation(const loops::Instruction& i) const;
  std::string device_function(const loops::Instruction& i, std::vector<std::string> operands) const;
  std::string quotient(const loops::Instruction& i) const;
  std::string convert(const loops::Instruction& i) const;
  std::string call(const loops::Instruction& i) const;
  bool is_const(loops::Value pointer) const noexcept;

  const loops::LoopProgram& program_;
  const Dialect& dialect_;
  const Names& names_;
};

}  // namespace sinter::inline v1::jit::dialects
