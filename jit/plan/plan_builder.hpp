// Assembles a plan from parts that were scheduled separately.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <sinter/runtime/shape.hpp>
#include "plan.hpp"

namespace sinter::inline v1::jit {

/// A part's leaves: their slots in the whole plan, and their shapes.
struct Sources {
  std::vector<Slot> slots;
  std::vector<Shape> shapes;

  /// The slot's leaf number in the part; adds the slot if it is new.
  std::uint64_t add(Slot slot, const Shape& shape);

 private:
  std::map<std::pair<Slot::Kind, std::uint32_t>, std::size_t> numbers_;
};

/// Concatenates the plans of parts.
class PlanBuilder {
 public:
  Slot add_temporary(DType dtype);
  void add_kernel(Kernel kernel) { plan_.kernels.push_back(std::move(kernel)); }

  /// Appends the kernels of a part with these leaves and outputs. Arrays are numbered among the leaves.
  void append(Plan part, const Sources& leaves, std::span<const Slot> outputs);

  /// Returns everything but Plan::graph. Call it once, at the end.
  Plan finish();

 private:
  Plan plan_;
};

}  // namespace sinter::inline v1::jit
