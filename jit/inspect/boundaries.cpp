#include "boundaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../plan/cost_model.hpp"
#include "../plan/row_stages.hpp"

namespace sinter::inline v1::jit {
namespace {

class Boundaries {
 public:
  Boundaries(const Plan& plan, const PlanShapes& shapes, std::string_view blas, bool eager)
      : plan_(plan), shapes_(shapes), blas_(blas), eager_(eager) {
    std::vector<std::size_t> writers(plan.temporaries.size());
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      std::set<std::size_t>& before = reads_.emplace_back();
      for (const Slot& s : plan.kernels[k].inputs)
        if (s.kind == Slot::Kind::Temporary) before.insert(writers[s.number]);
      for (const Slot& s : plan.kernels[k].outputs)
        if (s.kind == Slot::Kind::Temporary) writers[s.number] = k;
    }
  }

  std::vector<Boundary> found() const {
    std::vector<Boundary> all;
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      const std::set<std::size_t>& before = reads_[k];
      if (k > 0 && before.empty()) all.push_back({k - 1, k, apart(k - 1, k)});
      for (const std::size_t b : before) all.push_back({b, k, between(b, k)});
    }
    return all;
  }

 private:
  static constexpr const char* every_operation = "SINTER_FUSION is off: each operation is a kernel";

  /// Whether kernel b depends on a through another kernel.
  bool reaches_between(std::size_t a, std::size_t b) const {
    std::set<std::size_t> reached{a};
    for (std::size_t k = a + 1; k < b; ++k)
      if (std::ranges::any_of(reads_[k], [&](std::size_t from) { return reached.contains(from); })) reached.insert(k);
    return std::ranges::any_of(reads_[b], [&](std::size_t from) { return from != a && reached.contains(from); });
  }
  std::ptrdiff_t readers_of(std::size_t k) const {
    return std::ranges::count_if(reads_, [&](const std::set<std::size_t>& from) { return from.contains(k); });
  }
  const Kernel& kernel(std::size_t k) const { return plan_.kernels[k]; }
  const Shape& shape(std::size_t k) const { return shapes_.kernels[k]; }
  bool multiply(std::size_t a, std::size_t b) const { return kernel(a).is_product || kernel(b).is_product; }
  std::string product() const {
    return fmt::format("a matrix product is a call of {}, which reads and writes memory", blas_);
  }
  bool same_rows(std::size_t a, std::size_t b) const {
    return shape(a) == shape(b) && kernel(a).rows->axes == kernel(b).rows->axes;
  }
  static std::string rows_limit() {
    return fmt::format(
        "one kernel would exceed its limits: {} operations per element (a division or function "
        "counts as {}), {} reductions, {} arrays",
        max_weight, call_weight, max_row_reductions, max_row_inputs);
  }
  /// Whether two kernels over the same rows would exceed a limit together.
  bool exceed(std::size_t a, std::size_t b) const {
    int weights = 0;
    std::size_t reductions = 0, inputs = 0;
    for (const std::size_t k : {a, b}) {
      inputs += kernel(k).inputs.size();
      for (const Node& n : kernel(k).graph.nodes()) {
        if (n.arity > 0) weights += weight(n.op);
        reductions += combines(n);
      }
    }
    return weights > max_weight || reductions > max_row_reductions || inputs > max_row_inputs;
  }
  std::string over_same_rows(std::size_t a, std::size_t b) const {
    return exceed(a, b) ? rows_limit() : "they reduce the same rows, and the scheduler keeps them separate";
  }

  /// For a kernel b that reads what a writes.
  std::string between(std::size_t a, std::size_t b) const {
    if (eager_) return every_operation;
    if (multiply(a, b)) return product();
    if (reaches_between(a, b)) return "the second also needs a result that another kernel computes from the first";
    if (!kernel(a).rows && !kernel(b).rows) return elementwise(a, b);
    if (!kernel(a).rows) return stored(a, b);
    if (shape(a) != shape(b))
      return fmt::format("the result of a reduction over {} is read over another shape, {}", to_string(shape(a)),
                         to_string(shape(b)));
    if (!kernel(b).rows)
      return "the result of a reduction is complete when its kernel ends, and the next needs more than its own rows";
    return same_rows(a, b) ? over_same_rows(a, b)
                           : "they reduce different dims, and the first must be complete before the next";
  }

  std::string elementwise(std::size_t a, std::size_t b) const {
    for (std::size_t k = a; k < b; ++k)
      if (!kernel(k).limit.empty())
        return fmt::format("one kernel would have {}: cut where the fewest values cross", kernel(k).limit);
    return stored(a, b);
  }

  /// For a kernel a that only computes a value for others.
  std::string stored(std::size_t a, std::size_t b) const {
    int cost = 0;
    for (const Node& n : kernel(a).graph.nodes()) cost += instructions(kernel(a).graph, n);
    const std::ptrdiff_t readers = readers_of(a);
    if (readers > 1)
      return fmt::format(
          "the value takes about {} instructions, and {} kernels read it: it is computed once and stored", cost,
          readers);
    if (shape(a).numel() == shape(b).numel()) return rows_limit();
    return fmt::format(
        "the value of shape {} takes about {} instructions and would be computed again for each row of {}: it is "
        "computed once and stored",
        to_string(shape(a)), cost, to_string(shape(b)));
  }

  /// For kernels of which neither reads what the other writes.
  std::string apart(std::size_t a, std::size_t b) const {
    if (eager_) return every_operation;
    if (multiply(a, b)) return product();
    if (!(shape(a) == shape(b)))
      return fmt::format("they run over different shapes, {} and {}", to_string(shape(a)), to_string(shape(b)));
    if (kernel(a).rows && kernel(b).rows) return same_rows(a, b) ? over_same_rows(a, b) : "they reduce different dims";
    if (!kernel(a).limit.empty()) return elementwise(a, b);
    return "neither reads what the other computes";
  }

  const Plan& plan_;
  const PlanShapes& shapes_;
  const std::string_view blas_;
  const bool eager_;
  std::vector<std::set<std::size_t>> reads_;  // for each kernel, those whose temporaries it reads
};

}  // namespace

std::vector<Boundary> boundaries_of(const Plan& plan, const PlanShapes& shapes, std::string_view blas, bool eager) {
  return Boundaries(plan, shapes, blas, eager).found();
}

}  // namespace sinter::inline v1::jit
