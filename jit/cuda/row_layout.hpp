// What all parts of a reducing kernel's text ask for: its operands, and which threads process a row.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../plan/class_key.hpp"
#include "row_functions.hpp"

namespace sinter::inline v1::jit::cuda {

/// An output or input, as the kernel's loops see it.
struct RowOperand {
  std::string name;  // y0, x3
  std::string type;  // in memory
  std::size_t number;
  bool output;
  bool memory;
  bool array;
  bool per_row;
  Pattern pattern;
  std::optional<int> row_cache;  // in bytes of a column, where its part of the row cache begins

  /// An input of elements of which a row has one value alone.
  bool is_same_in_row() const noexcept { return !output && !per_row && pattern == Pattern::Uniform; }
  /// An input that is read from memory for each element.
  bool is_loaded() const noexcept { return !output && memory && !array && !per_row && pattern != Pattern::Uniform; }
};

struct RowLayout {
  RowLayout(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);
  RowLayout(const RowLayout&) = delete;  // parts refer to others

  int stages() const noexcept { return passes.stages.count; }
  /// Whether a thread may be in no row.
  bool may_be_outside() const noexcept { return scheme.across || scheme.team > 0; }
  bool shares_memory() const noexcept { return scheme.across ? side < scheme.block : scheme.team == 0; }
  /// A kept row has so few vectors for each thread that sums lose little between them.
  bool sums_exactly(int stage) const noexcept {
    return functions.has_float_sum(stage) && (!scheme.kept || scheme.steps >= 8);
  }
  /// Of the inputs, those that stay in registers for a whole row.
  bool is_kept(const RowOperand& a) const noexcept { return scheme.kept && a.is_loaded() && passes.is_kept(a.number); }
  /// What no pass before the one that writes asks for: until then its address would take registers.
  bool is_for_writing(const RowOperand& a) const noexcept;
  /// Whether a pass asks for the input of each element.
  bool reads(const RowOperand& a, std::size_t pass) const {
    return !a.output && !a.array && !a.per_row && passes.passes[pass].inputs[a.number];
  }
  /// The same of what is not at hand for the whole row.
  bool reads_here(const RowOperand& a, std::size_t pass) const {
    return reads(a, pass) && !a.is_same_in_row() && !is_kept(a);
  }
  /// Of these, inputs of the row cache: those that the pass is the first to read, and those that it reads again.
  bool leaves(const RowOperand& a, std::size_t pass) const;
  bool finds(const RowOperand& a, std::size_t pass) const { return a.row_cache && reads(a, pass) && !leaves(a, pass); }
  bool row_caches() const noexcept {
    return std::ranges::any_of(operands, [](auto& a) { return a.row_cache.has_value(); });
  }
  /// "[4]" after the name of what a thread has for each of its rows; nothing where that is one.
  std::string rows() const;
  /// What a function that may find faults is given to note them.
  std::string fault_arguments() const;
  /// How far apart neighbouring rows of the operand are.
  std::string row_step(const RowOperand& a) const;

  const Kernel& kernel;
  const KernelClass& c;
  const RowText& scheme;
  const RowPasses passes;
  const std::string params;  // their type
  const std::string_view index, offset;
  const Faults faults;
  const RowFunctions functions;
  const int row_ndim;
  const int side;          // of a block that runs across rows: its threads along one row of theirs are so far apart
  const std::string team;  // threads that share a row
  std::vector<RowOperand> operands;
};

}  // namespace sinter::inline v1::jit::cuda
