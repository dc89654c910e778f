// Which nodes of a graph count as operations, and how much arithmetic a kernel does.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/plan.hpp"

namespace sinter::inline v1::jit {

inline bool is_computed(const Node& n) noexcept { return n.arity > 0; }

/// The operations that a user would count: neither conversions, which promotion inserts, nor the arithmetic that
/// computes an index's offset. In a lowered graph, splitting and building complex elements is part of loads and stores.
class Operations {
 public:
  explicit Operations(const Graph& g, bool lowered = false);

  bool contains(const Node& n) const;
  std::size_t count() const;

 private:
  bool adds_offsets(const Node& load) const;

  const Graph& graph_;
  bool lowered_;
  std::vector<bool> is_place_;
};

struct Arithmetic {
  double operations = 0;         // over all elements; a multiply-add is two, a function or division call_weight
  DType dtype = DType::Float32;  // the widest float that takes part; an integer if none does
};

/// The number of rows of a kernel that reduces over this shape.
double rows_in(const Kernel& kernel, const Shape& domain);

/// The arithmetic of a kernel over this shape; `inputs` are its inputs' shapes. A value counts once, however many
/// passes compute it.
Arithmetic arithmetic_of(const Kernel& kernel, const Shape& domain, std::span<const Shape> inputs);

}  // namespace sinter::inline v1::jit
