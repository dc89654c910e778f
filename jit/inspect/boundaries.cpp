#include "boundaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../plan/weight.hpp"

namespace sinter::inline v1::jit {
namespace {

class Boundaries {
 public:
  Boundaries(const Plan& plan, const PlanShapes& shapes, std::string_view blas)
      : plan_(plan), shapes_(shapes), blas_(blas) {}

  std::vector<Boundary> found() const {
    std::vector<std::size_t> writers(plan_.temporaries.size());
    std::vector<Boundary> all;
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      std::set<std::size_t> before;
      for (const Slot& s : plan_.kernels[k].inputs)
        if (s.kind == Slot::Kind::Temporary) before.insert(writers[s.number]);
      if (k > 0 && before.empty()) all.push_back({k - 1, k, apart(k - 1, k)});
      for (const std::size_t b : before) all.push_back({b, k, between(b, k)});
      for (const Slot& s : plan_.kernels[k].outputs)
        if (s.kind == Slot::Kind::Temporary) writers[s.number] = k;
    }
    return all;
  }

 private:
  const Kernel& kernel(std::size_t k) const { return plan_.kernels[k]; }
  const Shape& shape(std::size_t k) const { return shapes_.kernels[k]; }
  bool multiply(std::size_t a, std::size_t b) const { return kernel(a).is_product || kernel(b).is_product; }
  std::string product() const { return fmt::format("a product is a call of {}, which reads and writes memory", blas_); }
  bool same_rows(std::size_t a, std::size_t b) const {
    return shape(a) == shape(b) && kernel(a).rows->axes == kernel(b).rows->axes;
  }
  static std::string rows_limit() {
    return fmt::format(
        "one kernel would exceed its limits: {} operations for each element (a division or function "
        "counts as {}), {} reductions, {} arrays",
        max_weight, call_weight, max_row_reductions, max_row_inputs);
  }

  /// Kernel b reads what a writes.
  std::string between(std::size_t a, std::size_t b) const {
    if (multiply(a, b)) return product();
    if (!kernel(a).rows && !kernel(b).rows) return elementwise(a, b);
    if (kernel(a).rows && kernel(b).rows) return reductions(a, b);
    if (kernel(b).rows) return "the value is costly or read by several kernels: it is stored, not computed in each";
    return shape(a) == shape(b)
               ? "the result of a reduction is complete when its kernel ends, and the next needs more than its rows"
               : fmt::format("the result of a reduction over {} is read over another shape, {}", to_string(shape(a)),
                             to_string(shape(b)));
  }

  std::string reductions(std::size_t a, std::size_t b) const {
    if (same_rows(a, b)) return rows_limit();
    if (shape(a) == shape(b)) return "they reduce different dims, and the first must be complete before the next";
    return fmt::format("the result of a reduction over {} is reduced again over another shape, {}", to_string(shape(a)),
                       to_string(shape(b)));
  }

  std::string elementwise(std::size_t a, std::size_t b) const {
    if (!(shape(a) == shape(b)))
      return fmt::format("they run over different shapes, {} and {}", to_string(shape(a)), to_string(shape(b)));
    for (std::size_t k = a; k < b; ++k)
      if (!kernel(k).limit.empty())
        return fmt::format("one kernel would have {}: cut where the fewest values cross", kernel(k).limit);
    return "what lies between them is no elementwise kernel, and has to be complete";
  }

  /// Neither reads what the other writes.
  std::string apart(std::size_t a, std::size_t b) const {
    if (multiply(a, b)) return product();
    if (!(shape(a) == shape(b)))
      return fmt::format("they run over different shapes, {} and {}", to_string(shape(a)), to_string(shape(b)));
    if (kernel(a).rows && kernel(b).rows) return same_rows(a, b) ? rows_limit() : "they reduce different dims";
    if (!kernel(a).limit.empty()) return elementwise(a, b);
    return "neither reads what the other computes";
  }

  const Plan& plan_;
  const PlanShapes& shapes_;
  const std::string_view blas_;
};

}  // namespace

std::vector<Boundary> boundaries_of(const Plan& plan, const PlanShapes& shapes, std::string_view blas) {
  return Boundaries(plan, shapes, blas).found();
}

}  // namespace sinter::inline v1::jit
