// The names of IR values in the generated source.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vector_loops.hpp"

namespace sinter::inline v1::jit::dialects {

class Names {
 public:
  Names(const loops::LoopProgram& program, const VectorLoops& vector_loops)
      : program_(program), vector_loops_(vector_loops), names_(program.code.size()) {}

  /// A name, or an expression that stands for the value.
  const std::string& operator[](loops::Value v) const { return names_[static_cast<std::size_t>(v)]; }
  void set(loops::Value v, std::string name) { names_[static_cast<std::size_t>(v)] = std::move(name); }
  /// A new name that is visible until the scope is closed: the instruction's, or `fallback`.
  const std::string& define(loops::Value v, std::string_view fallback = "t");

  /// Names may be used again when the scope is closed.
  void open() { outer_counts_.push_back(counts_); }
  void close();

  /// An element of a value, as an expression; in a vector loop, element l.
  std::string element(loops::Value v, std::string_view l = "l") const;
  /// Whether a vector is an object of the generated source, not a variable of a vector loop.
  bool is_array(loops::Value v) const;
  /// As an operand of a comparison, where sums and products need no parentheses.
  std::string as_comparison_operand(loops::Value v) const;

 private:
  const loops::LoopProgram& program_;
  const VectorLoops& vector_loops_;
  std::vector<std::string> names_;
  std::map<std::string, int> counts_;  // of names that are visible
  std::vector<std::map<std::string, int>> outer_counts_;
};

}  // namespace sinter::inline v1::jit::dialects
