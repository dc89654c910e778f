// A kernel's parameters, and where the elements of its operands are.
#pragma once
#include <string>
#include <vector>

#include "../plan/class_key.hpp"
#include "../plan/row_cache.hpp"
#include "../plan/row_passes.hpp"
#include "builder.hpp"

namespace sinter::inline v1::jit::loops {

/// The context of a lowering, which all its parts read.
struct Frame {
  Frame(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

  bool reduces() const noexcept { return c.reduced > 0; }
  /// A thread may be in no row.
  bool has_idle_teams() const noexcept { return scheme.across || scheme.team > 0; }
  int row_ndim() const noexcept { return reduces() ? c.ndim - c.reduced : 0; }
  int domain_ndim() const noexcept { return c.ndim - row_ndim(); }
  int stages() const noexcept { return passes.stages.count; }
  /// Whether it is unsafe to evaluate out-of-range elements: that could record a spurious fault or read out of bounds.
  bool must_be_inside() const noexcept;
  /// Rows that a thread processes at once.
  int rows_of_thread() const noexcept { return scheme.across ? c.lanes : 1; }
  /// Positions in a row that are results.
  DType position_dtype() const noexcept { return c.wide ? DType::Int64 : DType::Int32; }

  const Kernel& kernel;
  const Graph& graph;
  const KernelTraits& traits;
  const KernelClass& c;
  const RowConfig& scheme;
  const RowPasses passes;
};

/// How an operand's elements lie along the vectors of a domain.
enum class Along : std::uint8_t {
  Flat,       // side by side through all of it
  Unit,       // side by side along the innermost dim
  Broadcast,  // one element for each run of the innermost dim
  Strided,
  Crossed,  // side by side along the tile dim
  Same,     // one element for all of it
  Row,      // one element for each row
  Array,    // at positions that are computed
};

/// An output or input.
struct OperandLayout {
  std::string name;  // y0, x3
  DType dtype;       // in memory
  std::size_t number = 0;
  bool output = false;
  bool memory = true;  // else its elements are their own positions
  Pattern pattern = Pattern::Linear;
  Along along = Along::Flat;
  std::optional<int> row_cache;  // bytes of a column before its part of the row cache
  Value pointer = none;          // of the launch
  Value first = none;            // where there is no memory: its first position
  std::vector<Value> row_strides, strides;

  bool is_element() const noexcept { return along != Along::Row && along != Along::Array; }
  /// Read from memory for each element.
  bool is_loaded() const noexcept { return !output && memory && is_element() && along != Along::Same; }
};

/// A vector of the domain.
struct Place {
  Value position;  // of the vector; of the element where it has one lane
  int lanes = 1;
  Value guard = none;  // whether it is in the domain
  /// position = thread + step, if all of a thread's vectors lie at constant offsets from its first one.
  Value thread = none, step = none;
};

class Operands {
 public:
  Operands(const Frame& frame, Builder& b);

  std::span<const OperandLayout> all() const noexcept { return operands_; }
  const OperandLayout& output(std::size_t number) const { return operands_[number]; }
  const OperandLayout& input(std::size_t number) const { return operands_[frame_.kernel.outputs.size() + number]; }

  /// The elements of the domain, or of a row of it.
  Value columns() const noexcept { return columns_; }
  Value row_param(const char* name) const { return b_.param(name, index_type(Kind::Long)); }
  Value parts(int stage) const { return parts_[static_cast<std::size_t>(stage)]; }
  Value cached_extent() const noexcept { return cached_extent_; }
  Value scalar(std::size_t node) const { return scalars_[node]; }

  /// Starts a row; none in kernels that do not reduce.
  void enter_row(Value row);
  /// The first element of the row.
  Value pointer(const OperandLayout& a) const;
  Value vectors(const OperandLayout& a, const Place& place) const;
  /// Where an operand's elements begin: at the first position of a tile.
  Value tile_offset(const OperandLayout& a, Value tile) const;
  /// So many positions further along a dim.
  Value step(const OperandLayout& a, Value offset, int dim, Value steps) const;
  /// The elements of a vector; of an operand without memory, their positions.
  Value load(const OperandLayout& a, const Place& place) const;
  void store(const OperandLayout& a, const Place& place, Value value) const;
  /// The same at an offset from the operand's first element.
  Value load_at(const OperandLayout& a, Value offset, int lanes, Value guard = none) const;
  void store_at(const OperandLayout& a, Value offset, Value value, int lanes, Value guard = none) const;
  /// Per-row values, one for each row of the thread.
  Value load_row(const OperandLayout& a, Value guard) const;
  void store_row(const OperandLayout& a, Value value, Value guard) const;
  /// The same vector in the row cache.
  Value load_cached(const OperandLayout& a, const Place& place) const;
  void store_cached(const OperandLayout& a, const Place& place, Value value) const;
  /// Records or reports faults.
  void report_faults() const;

 private:
  void add_operands();
  void add_sizes();
  void add_extents();
  void add_strides();
  void add_scalars();
  Along along_of(std::size_t k) const;
  Value first(const OperandLayout& a) const;
  Value row_offset(const OperandLayout& a) const;
  Value offset(const OperandLayout& a, const std::vector<Value>& coordinates) const;
  std::vector<Value> coordinates(const Place& place) const;
  Value lane_stride(const OperandLayout& a) const;
  Value positions(const OperandLayout& a, Value at, int lanes) const;
  Access access(const OperandLayout& a) const noexcept;
  Value cached(const OperandLayout& a) const;

  const Frame& frame_;
  Builder& b_;
  std::vector<OperandLayout> operands_;
  Value columns_ = none, cached_extent_ = none, fault_ = none;
  std::vector<Value> parts_, scalars_;
  std::vector<Value> extents_, dividers_, row_extents_, row_dividers_;  // by dim; the outermost has none
  std::vector<Value> row_coordinates_;
  std::array<Value, 2> fault_codes_{none, none};
};

}  // namespace sinter::inline v1::jit::loops
