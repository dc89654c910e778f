// The parts of a reducing kernel's text that know nothing of threads: what a row and a part of it are, what an element
// adds to a part, what follows from the whole.
#pragma once
#include <string>
#include <vector>

#include "../plan/faults.hpp"
#include "row_parts.hpp"

namespace sinter::inline v1::jit::cuda {

/// Writes `Row`, the values that are one for each row; for each stage s `PartS`, what is known of a part of a row, and
/// `stageS`, that of an element, or `leadS` and `nearS` where it has online sums; `rowK`, the values that K stages
/// give; `element` and `finish`, the outputs.
class RowFunctions {
 public:
  RowFunctions(const RowPasses& passes, std::string params, bool wide);

  /// Row and the parts; before the parameters, which may point to parts.
  std::string structs() const;
  std::string functions() const;

  bool has_row_function(int stage) const;
  bool gives_position(int stage) const noexcept { return parts_.gives_position(stage); }
  /// Whether parts have float sums, which add up with less error by add_long and finalize.
  bool has_float_sum(int stage) const noexcept { return parts_.has_float_sum(stage); }
  /// Whether the stage has online sums: leadS and nearS instead of stageS.
  bool is_online(int stage) const noexcept { return !pass(stage).online.empty(); }
  bool has_row_outputs() const;
  /// Whether a value of no element may harm: it is not computed then.
  bool must_be_inside() const noexcept { return must_be_inside_; }
  /// Whether the input is a member of Row.
  bool is_row_input(std::size_t input) const noexcept;

 private:
  const RowPass& pass(int stage) const { return passes_.passes[static_cast<std::size_t>(stage)]; }
  /// Whether the value is a member of Row where some function asks for it.
  bool is_member(std::size_t node) const noexcept;
  void find_members();
  std::vector<Operand> members_of(int stages) const;
  std::vector<Operand> row_outputs() const;
  std::string row_function(int stages) const;
  std::string pass_function(std::size_t pass) const;
  std::string stage_function(int stage) const;
  std::string near_function(int stage) const;
  std::string finish_function() const;
  /// A writer that knows the members but those that are made when so many stages are over.
  class Writer writer(int but_after = -1) const;
  std::string element_inputs(const RowPass& pass) const;
  std::string fault_parameters() const;

  const RowPasses& passes_;
  const Kernel& kernel_;
  const Graph& graph_;
  const std::string params_;
  const std::string_view index_;
  const RowParts parts_;
  const Faults faults_;
  bool must_be_inside_ = false;
  std::vector<bool> used_;           // members of Row, by node
  std::vector<std::string> member_;  // their names
};

}  // namespace sinter::inline v1::jit::cuda
