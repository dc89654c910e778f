// A plan from parts that were scheduled by themselves.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <sinter/runtime/shape.hpp>
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// A part's leaves: where their values are in the whole plan, and their shapes.
struct Sources {
  std::vector<Slot> slots;
  std::vector<Shape> shapes;

  /// Its number as a leaf of the part; a slot that is there already has one.
  std::uint64_t add(Slot slot, const Shape& shape);

 private:
  std::map<std::pair<Slot::Kind, std::uint32_t>, std::size_t> numbers_;
};

/// Puts plans of parts together.
class PlanBuilder {
 public:
  Slot add_temporary(DType dtype);
  void add_kernel(Kernel kernel) { plan_.kernels.push_back(std::move(kernel)); }

  /// The kernels of a part whose leaves and outputs are these. It names its arrays with the leaves.
  void append(Plan part, const Sources& leaves, std::span<const Slot> outputs);

  /// All but Plan::graph. To be called once, at the end.
  Plan finish();

 private:
  Plan plan_;
};

}  // namespace sinter::inline v1::jit
