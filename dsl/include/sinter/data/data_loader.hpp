// DataLoader: the batches of a dataset, in order or shuffled, made on demand or prefetched by threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sinter/data/dataset.hpp>
#include <sinter/data/prefetch.hpp>

namespace sinter::inline v1 {

struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;                    // every epoch in a different order
  bool drop_last = false;                  // omit a smaller last batch
  int workers = 0;                         // threads that prefetch batches; 0: the loop makes them itself
  bool pin_memory = false;                 // return batches in page-locked memory: x.pin_memory(), which needs a GPU
  std::optional<std::uint64_t> seed = {};  // seed of the orders; without a value it is drawn, as by rand
};

namespace detail {

/// Throws Error for invalid numbers; returns the options with a seed.
DataLoaderOptions checked(DataLoaderOptions options);
std::int64_t batch_count(std::int64_t samples, const DataLoaderOptions& options);
/// The sample numbers in the order of an epoch.
Tensor<std::int64_t, Cpu> order_of_epoch(std::int64_t samples, const DataLoaderOptions& options, std::int64_t epoch);
/// The sample numbers of one batch.
Tensor<std::int64_t, Cpu> batch_of(const Tensor<std::int64_t, Cpu>& order, std::int64_t batch,
                                   const DataLoaderOptions& options);

/// Datasets that make batches themselves.
template <class D>
concept gives_batches = requires(const D& data, const Tensor<std::int64_t, Cpu>& positions) {
  { data.batch(positions) } -> std::same_as<sample_of<D>>;
};

template <class D>
inline constexpr bool is_dataset = Dataset<D>;  // in an assertion, compilers explain a concept at length

/// One pass over a dataset.
template <class D>
class Epoch {
 public:
  using Batch = sample_of<D>;

  Epoch(std::shared_ptr<const D> data, const DataLoaderOptions& options, std::int64_t epoch)
      : data_(std::move(data)),
        options_(options),
        count_(batch_count(data_->size(), options)),
        order_(order_of_epoch(data_->size(), options, epoch)) {
    if (const int workers = static_cast<int>(std::min<std::int64_t>(options.workers, count_))) {
      slots_.resize(Prefetch::slots(workers));
      ahead_.emplace(count_, workers, [this](std::int64_t number, std::size_t slot) { slots_[slot] = make(number); });
    }
  }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  /// Whether there is another batch.
  bool next() {
    if (at_ == count_) return false;
    const std::int64_t number = at_++;
    if (ahead_)
      ahead_->next([&](std::size_t slot) { batch_ = std::exchange(slots_[slot], std::nullopt); });
    else
      batch_ = make(number);
    return true;
  }
  Batch& batch() { return *batch_; }

 private:
  Batch make(std::int64_t number) const {
    Batch made = gather(batch_of(order_, number, options_));
    if (!options_.pin_memory) return made;
    return sample_from(made, [](auto, const auto& x) { return x.pin_memory(); });
  }
  Batch gather(const Tensor<std::int64_t, Cpu>& positions) const {
    if constexpr (gives_batches<D>) {
      return data_->batch(positions);
    } else {
      std::vector<Batch> samples;
      samples.reserve(static_cast<std::size_t>(positions.numel()));
      for (const std::int64_t i : positions.to_vector()) samples.push_back((*data_)[i]);
      return stack_samples(std::span<const Batch>(samples));
    }
  }

  const std::shared_ptr<const D> data_;
  const DataLoaderOptions options_;
  const std::int64_t count_;
  const Tensor<std::int64_t, Cpu> order_;
  std::int64_t at_ = 0;
  std::optional<Batch> batch_;
  std::vector<std::optional<Batch>> slots_;
  std::optional<Prefetch> ahead_;  // last member: its threads use those above
};

}  // namespace detail

/// The batches of a dataset: for (auto [x, y] : loader). A batch has the type of a sample, and its tensors have a first
/// axis of batch_size, possibly less in the last batch. A dataset with a method batch(positions), such as
/// TensorDataset, makes batches itself; samples of others are stacked. With shuffle, each epoch has another order,
/// which depends only on the seed and the number of the epoch and is the same on every platform. Workers change neither
/// batches nor their order; an exception thrown by the dataset in a worker is rethrown by the loop at that batch.
/// Leaving a loop waits for the samples being made.
template <class D>
class DataLoader {
  static_assert(detail::is_dataset<D>,
                "a DataLoader takes a dataset: it has size() and [i], which returns a tensor, a tuple of tensors, or a "
                "struct that lists its tensors by BOOST_HANA_DEFINE_STRUCT");

 public:
  using Batch = sample_of<D>;
  class Iterator;

  /// Copies or moves the dataset in. Throws Error for a batch_size below 1 or workers below 0.
  explicit DataLoader(D dataset, DataLoaderOptions options = {})
      : data_(std::make_shared<const D>(std::move(dataset))), options_(detail::checked(options)) {}

  /// Number of batches in an epoch.
  std::int64_t size() const { return detail::batch_count(data_->size(), options_); }
  const D& dataset() const noexcept { return *data_; }
  const DataLoaderOptions& options() const noexcept { return options_; }

  /// Begins an epoch and makes its first batch. Throws what the dataset and stacking throw.
  Iterator begin() { return Iterator(std::make_unique<detail::Epoch<D>>(data_, options_, epoch_++)); }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// The number of the next epoch, initially 0. Set it to resume where another process stopped.
  void set_epoch(std::int64_t epoch) noexcept { epoch_ = epoch; }
  std::int64_t epoch() const noexcept { return epoch_; }

 private:
  std::shared_ptr<const D> data_;
  DataLoaderOptions options_;
  std::int64_t epoch_ = 0;
};

/// The state of an epoch; movable, not copyable.
template <class D>
class DataLoader<D>::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(std::unique_ptr<detail::Epoch<D>> epoch) : epoch_(std::move(epoch)) { ++*this; }

  Batch& operator*() const { return epoch_->batch(); }
  Batch* operator->() const { return &epoch_->batch(); }
  Iterator& operator++() {
    if (!epoch_->next()) epoch_.reset();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const noexcept { return !epoch_; }

 private:
  std::unique_ptr<detail::Epoch<D>> epoch_;
};

}  // namespace sinter::inline v1
