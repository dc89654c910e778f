#include "split_workspace.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sinter::inline v1::jit::loops {

std::vector<Value> SplitWorkspace::arrays(const Reducer& reducer, int stage) const {
  const std::span<const DType> dtypes = reducer.dtypes();
  std::vector<std::size_t> widest_first(dtypes.size());
  std::iota(widest_first.begin(), widest_first.end(), std::size_t{0});
  std::ranges::sort(widest_first, {},
                    [&](std::size_t i) { return std::pair(-static_cast<int>(size_of(dtypes[i])), i); });
  const Value count = b_.mul(operands_.row_param("rows"), operands_.row_param("splits"));
  std::vector<Value> arrays(dtypes.size(), none);
  std::size_t bytes = 0;
  for (const std::size_t i : widest_first) {
    arrays[i] =
        b_.view(operands_.partials(stage), b_.mul_by(count, static_cast<std::int64_t>(bytes)), storage(dtypes[i]));
    bytes += size_of(dtypes[i]);
  }
  return arrays;
}

Value SplitWorkspace::position(Value row, Value split) const {
  if (context_.scheme.row_per_element) return b_.add(b_.mul(split, operands_.row_param("rows")), row);
  return b_.add(b_.mul(row, operands_.row_param("splits")), split);
}

void SplitWorkspace::store(const Reducer& reducer, int stage, const Partial& partial, Value row, Value split) const {
  const std::vector<Value> to = arrays(reducer, stage);
  const Value at = position(row, split);
  for (std::size_t i = 0; i < to.size(); ++i)
    b_.store(to[i], at, b_.splat(b_.to_storage(partial[i]), context_.rows_of_thread()), Access::Aligned);
}

Partial SplitWorkspace::load(const Reducer& reducer, int stage, Value row, Value split) const {
  const std::vector<Value> from = arrays(reducer, stage);
  Partial partial;
  for (std::size_t i = 0; i < from.size(); ++i)
    partial.push_back(b_.cast(b_.load(from[i], position(row, split), context_.rows_of_thread(), Access::Aligned),
                              reducer.dtypes()[i]));
  return partial;
}

}  // namespace sinter::inline v1::jit::loops
