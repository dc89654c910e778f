// The names of IR values in the generated source.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lane_loops.hpp"

namespace sinter::inline v1::jit::dialects {

class Names {
 public:
  Names(const loops::Loops& loops, const LaneLoops& lanes) : loops_(loops), lanes_(lanes), names_(loops.code.size()) {}

  /// A name, or an expression that stands for the value.
  const std::string& operator[](loops::Value v) const { return names_[static_cast<std::size_t>(v)]; }
  void set(loops::Value v, std::string name) { names_[static_cast<std::size_t>(v)] = std::move(name); }
  /// A new name that is visible until the scope is closed: the instruction's, or `otherwise`.
  const std::string& define(loops::Value v, std::string_view otherwise = "t");

  /// Names may be used again when the scope is closed.
  void open() { outer_counts_.push_back(counts_); }
  void close();

  /// A lane of a value, as an expression; in a lane loop that is lane l.
  std::string lane(loops::Value v, std::string_view l = "l") const;
  /// Whether a vector is an object of the text, not a variable of a lane loop.
  bool is_array(loops::Value v) const;
  /// As an operand of a comparison, where sums and products need no parentheses.
  std::string compared(loops::Value v) const;

 private:
  const loops::Loops& loops_;
  const LaneLoops& lanes_;
  std::vector<std::string> names_;
  std::map<std::string, int> counts_;  // of names that are visible
  std::vector<std::map<std::string, int>> outer_counts_;
};

}  // namespace sinter::inline v1::jit::dialects
