// A kernel's parameters, and where the elements of its operands are.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builder.hpp"
#include "lowering_context.hpp"

namespace sinter::inline v1::jit::loops {

/// The layout of an operand's elements in memory, as Pattern, or how else they are read.
enum class Layout : std::uint8_t {
  Contiguous,
  InnerContiguous,
  InnerBroadcast,
  Strided,
  Transposed,
  Uniform,
  PerRow,    // one element for each row
  Gathered,  // at positions that are computed
};

/// An output or input.
struct OperandLayout {
  std::string name;       // y0, x3
  DType dtype;            // in memory
  std::size_t index = 0;  // among the outputs, or among the inputs
  bool output = false;
  bool memory = true;          // else it is an iota: its elements are their own positions
  bool is_draw_index = false;  // KernelTraits::Access::is_draw_index
  AccessPattern pattern = AccessPattern::Contiguous;
  Layout layout = Layout::Contiguous;
  std::optional<int> row_cache;  // RowCache::offset
  Value pointer = none;          // of the launch
  Value first = none;            // of an iota: its first element
  std::vector<Value> row_strides, strides;

  bool is_element() const noexcept { return layout != Layout::PerRow && layout != Layout::Gathered; }
  /// Read from memory for each element.
  bool is_loaded() const noexcept { return !output && memory && is_element() && layout != Layout::Uniform; }
};

/// The position of a vector in the domain, or in a row.
struct VectorPosition {
  Value index;  // of the vector; of the element if the width is 1
  int width = 1;
  Value guard = none;  // whether it is in the domain
  /// index = thread + step, if all of a thread's vectors lie at constant offsets from its first one.
  Value thread = none, step = none;
};

class Operands {
 public:
  Operands(const LoweringContext& context, Builder& b);

  std::span<const OperandLayout> all() const noexcept { return operands_; }
  const OperandLayout& output(std::size_t index) const { return operands_[index]; }
  const OperandLayout& input(std::size_t index) const { return operands_[context_.kernel.outputs.size() + index]; }

  /// The number of elements of a row, or of the domain in kernels that do not reduce.
  Value columns() const noexcept { return columns_; }
  Value row_param(const char* name) const { return b_.param(name, index_type(Kind::Int64)); }
  Value partials(int stage) const { return partials_[static_cast<std::size_t>(stage)]; }
  Value cached_extent() const noexcept { return cached_extent_; }
  Value scalar(std::size_t node) const { return scalars_[node]; }

  /// Emits the coordinates of a row. Not used in kernels that do not reduce.
  void enter_row(Value row);
  /// The first element of the row.
  Value pointer(const OperandLayout& a) const;
  Value vectors(const OperandLayout& a, const VectorPosition& at) const;
  /// Where an operand's elements begin: at the first position of a tile.
  Value tile_offset(const OperandLayout& a, Value tile) const;
  /// `steps` positions further along a dim.
  Value step(const OperandLayout& a, Value offset, int dim, Value steps) const;
  /// The elements of a vector.
  Value load(const OperandLayout& a, const VectorPosition& at) const;
  void store(const OperandLayout& a, const VectorPosition& at, Value value) const;
  /// The elements of a vector at an offset from the operand's first element.
  Value load_at(const OperandLayout& a, Value offset, int width, Value guard = none) const;
  void store_at(const OperandLayout& a, Value offset, Value value, int width, Value guard = none) const;
  /// Per-row values, one for each row of the thread.
  Value load_row(const OperandLayout& a, Value guard) const;
  void store_row(const OperandLayout& a, Value value, Value guard) const;
  /// A vector in the row cache.
  Value load_cached(const OperandLayout& a, const VectorPosition& at) const;
  void store_cached(const OperandLayout& a, const VectorPosition& at, Value value) const;
  /// Records or reports faults.
  void report_faults() const;

 private:
  void add_operands();
  void add_sizes();
  void add_extents();
  void add_strides();
  void add_scalars();
  Layout layout_of(std::size_t k) const;
  Value first(const OperandLayout& a) const;
  Value row_offset(const OperandLayout& a) const;
  Value offset(const OperandLayout& a, const std::vector<Value>& coordinates) const;
  std::vector<Value> coordinates(const VectorPosition& at) const;
  Value element_stride(const OperandLayout& a) const;
  Value positions(const OperandLayout& a, Value at, int width) const;
  Access access(const OperandLayout& a) const noexcept;
  Value cached(const OperandLayout& a) const;

  const LoweringContext& context_;
  Builder& b_;
  std::vector<OperandLayout> operands_;
  Value columns_ = none, cached_extent_ = none, fault_ = none;
  std::vector<Value> partials_, scalars_;
  std::vector<Value> extents_, divisors_, row_extents_, row_divisors_;  // by dim; the outermost has none
  std::vector<Value> row_coordinates_;
  std::array<Value, 2> fault_codes_{none, none};
};

}  // namespace sinter::inline v1::jit::loops
