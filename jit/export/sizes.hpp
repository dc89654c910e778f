// The sizes that an exported kernel takes: names of extents, and those of strides that a caller gives.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "../infer/extent.hpp"
#include "../plan/loop_nest.hpp"
#include "shape_dependencies.hpp"

namespace sinter::inline v1::jit::exporting {

class Sizes {
 public:
  /// Finds which extents must be equal: those that broadcasting joins, those that have one name, and `equal`. Extents
  /// of 1 stay 1. `names[i]` are the names of input i's extents; empty ones are chosen: s0, s1, ... A name of digits
  /// is a fixed extent, not a parameter. Throws Error.
  Sizes(const Graph& recorded, std::span<const Shape> leaves, std::span<const std::vector<std::string>> names,
        std::span<const EqualAxes> equal = {});

  /// The sizes that are parameters; Extent::symbol(i) is the i-th.
  std::span<const std::string> names() const noexcept { return {names_.data(), sizes_}; }
  /// A stride that the caller passes: a name that is not a size.
  Extent stride(std::string name);

  /// The shape of leaf i.
  const SymbolicShape& shape(std::size_t leaf) const noexcept { return shapes_[leaf]; }
  /// In C, each name with `prefix`: a->n * a->m, or a number.
  std::string text(const Extent& extent, const std::string& prefix) const;

  /// Plans are made for example values, which differ from each other, from 1 and from the fixed extents.
  std::int64_t example(const Extent& extent) const;
  Shape example(const SymbolicShape& shape) const;
  /// A nest with the same patterns: strides are equal to those of a contiguous operand only if they are by name.
  LoopNest example(const SymbolicNest& nest) const;
  /// The extent whose example value this is; a plain number if there is none.
  Extent of_example(std::int64_t number) const;
  SymbolicShape of_example(const Shape& shape) const;

 private:
  std::vector<std::string> names_;  // sizes, then strides
  std::size_t sizes_ = 0;
  std::vector<std::int64_t> examples_;  // by name
  std::vector<SymbolicShape> shapes_;
};

}  // namespace sinter::inline v1::jit::exporting
