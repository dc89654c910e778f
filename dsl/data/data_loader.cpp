#include <sinter/data/data_loader.hpp>

#include <fmt/format.h>

#include <limits>

#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/sort.hpp>
#include <sinter/runtime/error.hpp>
#include "seeded.hpp"

namespace sinter::inline v1::detail {

DataLoaderOptions checked(DataLoaderOptions options) {
  if (options.batch_size < 1)
    throw Error(fmt::format("DataLoader: batch_size is {}, but must be at least 1", options.batch_size));
  if (options.workers < 0)
    throw Error(
        fmt::format("DataLoader: workers is {}, but must be at least 0; with 0 the loop makes the batches itself",
                    options.workers));
  if (options.shuffle && !options.seed)
    options.seed = static_cast<std::uint64_t>(randint(0, std::numeric_limits<std::int64_t>::max(), {1}).item());
  return options;
}

std::int64_t batch_count(std::int64_t samples, const DataLoaderOptions& options) {
  return samples / options.batch_size + (!options.drop_last && samples % options.batch_size > 0);
}

Tensor<std::int64_t, Cpu> order_of_epoch(std::int64_t samples, const DataLoaderOptions& options, std::int64_t epoch) {
  if (!options.shuffle) return sinter::arange(samples);
  // Keeps the order independent of a dataset generated with the same seed.
  constexpr std::uint64_t other = 0x9E3779B97F4A7C15;
  return argsort(seeded<Op::random_bits>({samples}, *options.seed ^ other, epoch));
}

Tensor<std::int64_t, Cpu> batch_of(const Tensor<std::int64_t, Cpu>& order, std::int64_t batch,
                                   const DataLoaderOptions& options) {
  const std::int64_t first = batch * options.batch_size;
  return order(range(first, std::min(first + options.batch_size, order.numel())));
}

}  // namespace sinter::inline v1::detail
