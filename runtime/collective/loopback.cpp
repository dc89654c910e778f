// Collectives among the ranks of one process, through host memory.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "../fork.hpp"
#include "collective.hpp"
#include "combine.hpp"
#include "host_copies.hpp"
#include "ranks.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The number of elements of each array that are on the host at a time.
constexpr std::int64_t block_size = 1 << 18;

class Loopback final : public Communicator {
 public:
  explicit Loopback(std::vector<Device> devices) : ranks_("loopback", devices, 0, static_cast<int>(devices.size())) {}

  std::string_view name() const noexcept override { return "loopback"; }
  int size() const noexcept override { return ranks_.size(); }
  int first_local_rank() const noexcept override { return 0; }
  int local_size() const noexcept override { return ranks_.size(); }

  void all_reduce(RankTensors arrays, ReduceOp how) override;
  void all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) override;
  void reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts, ReduceOp how) override;
  void broadcast(RankTensors arrays, int root) override;
  void send(const TensorRef& source, int from, const TensorRef& target, int to) override;
  void barrier() override {}
  Traffic traffic() const noexcept override { return {messages_.load(), bytes_.load()}; }

 private:
  template <class F>
  void combine_blocks(RankTensors from, std::int64_t first, std::int64_t count, ReduceOp how, F deliver);
  void transfer(const TensorImpl& to, std::int64_t to_first, const TensorImpl& from, std::int64_t from_first,
                std::int64_t count);
  void count_message(Device from, Device to, std::size_t bytes) noexcept;

  Ranks ranks_;
  ForkLocal<std::mutex> calls_;
  std::atomic<std::uint64_t> messages_{0}, bytes_{0};
};

void Loopback::count_message(Device from, Device to, std::size_t bytes) noexcept {
  if (from == to || bytes == 0) return;
  ++messages_;
  bytes_ += bytes;
}

/// Reduces elements [first, first + count) and calls deliver(first element, elements, host) for each block.
template <class F>
void Loopback::combine_blocks(RankTensors from, std::int64_t first, std::int64_t count, ReduceOp how, F deliver) {
  if (count == 0) return;
  const DType dtype = from[0]->dtype;
  const std::size_t size = size_of(dtype), block = static_cast<std::size_t>(std::min(count, block_size));
  const auto elements = scratch(from.size() * block * size),
             result = scratch(block * size_of(accumulation_dtype(dtype)));
  std::vector<const std::byte*> sources(from.size());
  for (std::int64_t done = 0; done < count; done += block_size) {
    const std::int64_t n = std::min(block_size, count - done);
    for (std::size_t i = 0; i < from.size(); ++i) {
      sources[i] = read_or_borrow(*from[i], static_cast<std::size_t>(first + done) * size,
                                  static_cast<std::size_t>(n) * size, elements.get() + i * block * size);
    }
    combine(dtype, how, result.get(), sources, n);
    narrow(dtype, result.get(), result.get(), n);
    deliver(first + done, n, result.get());
  }
  for (const TensorRef& array : from) count_message(array->device, Device(), static_cast<std::size_t>(count) * size);
}

void Loopback::all_reduce(RankTensors arrays, ReduceOp how) {
  ranks_.check_all_reduce(arrays, how);
  if (size() == 1) return;
  const std::lock_guard lock(calls_.get());
  const std::size_t element = size_of(arrays[0]->dtype);
  combine_blocks(arrays, 0, arrays[0]->numel, how, [&](std::int64_t at, std::int64_t n, const std::byte* host) {
    for (const TensorRef& array : arrays)
      write(*array, static_cast<std::size_t>(at) * element, static_cast<std::size_t>(n) * element, host);
  });
  for (const TensorRef& array : arrays) count_message(Device(), array->device, bytes_of(*array));
}

void Loopback::reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts, ReduceOp how) {
  ranks_.check_reduce_scatter(from, to, counts, how);
  const std::lock_guard lock(calls_.get());
  const std::size_t element = size_of(from[0]->dtype);
  std::int64_t first = 0;
  for (std::size_t p = 0; p < to.size(); first += counts[p++]) {
    combine_blocks(from, first, counts[p], how, [&](std::int64_t at, std::int64_t n, const std::byte* host) {
      write(*to[p], static_cast<std::size_t>(at - first) * element, static_cast<std::size_t>(n) * element, host);
    });
    count_message(Device(), to[p]->device, bytes_of(*to[p]));
  }
}

void Loopback::transfer(const TensorImpl& to, std::int64_t to_first, const TensorImpl& from, std::int64_t from_first,
                        std::int64_t count) {
  const std::size_t size = size_of(from.dtype), bytes = static_cast<std::size_t>(count) * size;
  copy(to, static_cast<std::size_t>(to_first) * size, from, static_cast<std::size_t>(from_first) * size, bytes);
  count_message(from.device, to.device, bytes);
}

void Loopback::all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) {
  ranks_.check_all_gather(from, to, counts);
  const std::lock_guard lock(calls_.get());
  std::int64_t first = 0;
  for (std::size_t p = 0; p < from.size(); first += counts[p++])
    for (const TensorRef& target : to) transfer(*target, first, *from[p], 0, counts[p]);
}

void Loopback::broadcast(RankTensors arrays, int root) {
  ranks_.check_broadcast(arrays, root);
  const std::lock_guard lock(calls_.get());
  const TensorImpl& source = *arrays[static_cast<std::size_t>(root)];
  for (const TensorRef& target : arrays)
    if (target.get() != &source) transfer(*target, 0, source, 0, source.numel);
}

void Loopback::send(const TensorRef& source, int from, const TensorRef& target, int to) {
  ranks_.check_send(source, from, target, to);
  const std::lock_guard lock(calls_.get());
  transfer(*target, 0, *source, 0, source->numel);
}

}  // namespace

std::unique_ptr<Communicator> make_loopback(std::vector<Device> devices) {
  return std::make_unique<Loopback>(std::move(devices));
}

}  // namespace sinter::inline v1::runtime
