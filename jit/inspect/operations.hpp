// What of a graph counts as an operation, and how much arithmetic a kernel does.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/plan.hpp"

namespace sinter::inline v1::jit {

inline bool is_computed(const Node& n) noexcept { return n.arity > 0; }

/// What a user would count: neither conversions, which promotion inserts, nor the arithmetic that finds an index's
/// place. Of a graph that was lowered, what takes complex elements apart and puts them together belongs to reading and
/// writing them.
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
  DType dtype = DType::Float32;  // that most of it is done in; an integer one where no float takes part
};

/// Rows of a kernel that reduces over this shape.
double rows_in(const Kernel& kernel, const Shape& domain);

/// Of a kernel over this shape; `inputs` are those of its inputs. A value counts once, however many walks compute it.
Arithmetic arithmetic_of(const Kernel& kernel, const Shape& domain, std::span<const Shape> inputs);

}  // namespace sinter::inline v1::jit
