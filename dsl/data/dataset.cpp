#include <sinter/data/dataset.hpp>

#include <fmt/format.h>

#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/runtime/error.hpp>
#include "seeded.hpp"

namespace sinter::inline v1 {

std::int64_t detail::common_rows(std::initializer_list<const runtime::TensorImpl*> tensors) {
  bool fits = true;
  for (const runtime::TensorImpl* t : tensors)
    fits = fits && t->ndim() > 0 && t->shape[0] == (*tensors.begin())->shape[0];
  if (fits) return (*tensors.begin())->shape[0];
  std::string message = "TensorDataset: axis 0 counts the samples, so it must have the same extent in all tensors, but";
  int number = 0;
  for (const runtime::TensorImpl* t : tensors) message += fmt::format("\n    tensor {}: {}", number++, describe(*t));
  throw ShapeError(message +
                   "\n  Drop the extra samples, for example with x.slice(0, 0, n); give a tensor of one sample the "
                   "axis with unsqueeze(0)");
}

runtime::TensorRef detail::rows_at(const AnyTensor& x, const Tensor<std::int64_t, Cpu>& positions) {
  const Tensor rows = x.index_select(0, positions.to(x.device()));
  return rows.ref();
}

RandomDataset::RandomDataset(std::int64_t size, std::int64_t length) : TensorDataset(randn({length, size})) {}
RandomDataset::RandomDataset(std::int64_t size, std::int64_t length, std::uint64_t seed)
    : TensorDataset(detail::seeded<Op::random_normal>({length, size}, seed, 0)) {}

}  // namespace sinter::inline v1
