#include "partials.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sinter::inline v1::jit::loops {

std::vector<Value> Partials::arrays(const Parts& parts, int stage) const {
  const std::span<const DType> dtypes = parts.dtypes();
  std::vector<std::size_t> widest_first(dtypes.size());
  std::iota(widest_first.begin(), widest_first.end(), std::size_t{0});
  std::ranges::sort(widest_first, {},
                    [&](std::size_t i) { return std::pair(-static_cast<int>(size_of(dtypes[i])), i); });
  const Value count = b_.mul(operands_.row_param("rows"), operands_.row_param("splits"));
  std::vector<Value> arrays(dtypes.size(), none);
  std::size_t bytes = 0;
  for (const std::size_t i : widest_first) {
    arrays[i] = b_.view(operands_.parts(stage), b_.times(count, static_cast<std::int64_t>(bytes)), storage(dtypes[i]));
    bytes += size_of(dtypes[i]);
  }
  return arrays;
}

Value Partials::position(Value row, Value split) const {
  if (frame_.scheme.across) return b_.add(b_.mul(split, operands_.row_param("rows")), row);
  return b_.add(b_.mul(row, operands_.row_param("splits")), split);
}

void Partials::store(const Parts& parts, int stage, const Part& part, Value row, Value split) const {
  const std::vector<Value> to = arrays(parts, stage);
  const Value at = position(row, split);
  for (std::size_t i = 0; i < to.size(); ++i)
    b_.store(to[i], at, b_.splat(b_.stored(part[i]), frame_.rows_of_thread()), Access::Vector);
}

Part Partials::load(const Parts& parts, int stage, Value row, Value split) const {
  const std::vector<Value> from = arrays(parts, stage);
  Part part;
  for (std::size_t i = 0; i < from.size(); ++i)
    part.push_back(
        b_.cast(b_.load(from[i], position(row, split), frame_.rows_of_thread(), Access::Vector), parts.dtypes()[i]));
  return part;
}

}  // namespace sinter::inline v1::jit::loops
