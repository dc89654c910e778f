// Instructions that compute a value, as expressions.
#pragma once
#include <string>

#include "dialect.hpp"
#include "names.hpp"

namespace sinter::inline v1::jit::dialects {

class Expressions {
 public:
  Expressions(const loops::Loops& loops, const Dialect& dialect, const Names& names)
      : loops_(loops), dialect_(dialect), names_(names) {}

  std::string type(loops::Type t) const;
  /// Of elements in memory.
  std::string memory_type(loops::Type t) const;
  /// Of a lane, where the instruction has several.
  std::string of(const loops::Instruction& i) const;
  /// The text of an instruction that only dialects of parallel threads have.
  std::string parallel(const loops::Instruction& i) const;

  /// `const T*` of an input's elements, which are never written through a pointer to them.
  std::string pointer_to(std::string_view type, loops::Value pointer) const;
  /// What a load reads or a store writes.
  std::string element(const loops::Instruction& i, loops::Type t) const;
  /// The variable, or the one at a position of the array.
  std::string place(loops::Value local, loops::Value at) const;

 private:
  std::string alu(const loops::Instruction& i) const;
  std::string quotient(const loops::Instruction& i) const;
  std::string convert(const loops::Instruction& i) const;
  std::string call(const loops::Instruction& i) const;
  bool is_const(loops::Value pointer) const noexcept;

  const loops::Loops& loops_;
  const Dialect& dialect_;
  const Names& names_;
};

}  // namespace sinter::inline v1::jit::dialects
