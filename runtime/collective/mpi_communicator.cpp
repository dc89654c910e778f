#include "mpi_communicator.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "combine.hpp"
#include "host_copies.hpp"
#include "processes.hpp"
#include "ranks.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit std::atomic<std::int64_t> mpi_part_size{std::int64_t{1} << 26};

constexpr int data_tag = 3;

/// One process's range of elements.
struct Share {
  std::int64_t first, count;
};
using Shares = std::vector<Share>;

std::int64_t sum(Counts counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

class Mpi final : public Communicator {
 public:
  explicit Mpi(const RankTable& world)
      : processes_(Processes::get()), ranks_("MPI", world.all, world.first, world.local) {
    const std::lock_guard lock(processes_.mutex());
    const Call setup{.kind = CallKind::Setup, .count = ranks_.size()};
    const std::int64_t local = world.local;
    processes_.agree(setup, [] {});
    locals_ = processes_.gather(setup, {&local, 1});
  }

  std::string_view name() const noexcept override { return "MPI"; }
  int size() const noexcept override { return ranks_.size(); }
  int first_local_rank() const noexcept override { return ranks_.first_local_rank(); }
  int local_size() const noexcept override { return ranks_.local_size(); }

  void all_reduce(RankTensors arrays, ReduceOp how) override;
  void all_gather(RankTensors from, RankTensors to, Counts counts) override;
  void reduce_scatter(RankTensors from, RankTensors to, Counts counts, ReduceOp how) override;
  void broadcast(RankTensors arrays, int root) override;
  void send(const TensorRef& source, int from, const TensorRef& target, int to) override;
  void barrier() override;
  Traffic traffic() const noexcept override { return {messages_.load(), bytes_.load()}; }

 private:
  int process_of(int rank) const { return runtime::process_of(rank, locals_); }
  Shares per_process(Counts counts) const;
  template <class F>
  void each_part(Exchange& e, const Call& call, std::int64_t count, const char* function, F f,
                 int peer = Processes::of_all);
  void combine_local(RankTensors arrays, ReduceOp how, std::byte* to) const;
  void gather_shards(Exchange& e, const Call& call, std::byte* all, Counts counts);
  const std::byte* reduce_shards(Exchange& e, const Call& call, std::byte* all, Counts counts);
  void count_message(std::size_t bytes) noexcept {
    if (bytes == 0) return;
    ++messages_;
    bytes_ += bytes;
  }

  Processes& processes_;
  Ranks ranks_;
  std::vector<std::int64_t> locals_;  // number of ranks of each process
  std::atomic<std::uint64_t> messages_{0}, bytes_{0};
};

/// Each process's share, from the counts of each rank.
Shares Mpi::per_process(Counts counts) const {
  Shares all;
  std::int64_t first = 0;
  std::size_t rank = 0;
  for (const std::int64_t local : locals_) {
    const std::int64_t count = sum(counts.subspan(rank, static_cast<std::size_t>(local)));
    all.push_back({first, count});
    first += count;
    rank += static_cast<std::size_t>(local);
  }
  return all;
}

/// Counts and offsets as MPI takes them, in the memory of `e`.
std::pair<int*, int*> as_integers(Exchange& e, const Shares& shards) {
  int* const counts = reinterpret_cast<int*>(e.allocate(2 * shards.size() * sizeof(int)));
  int* const places = counts + shards.size();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    counts[i] = static_cast<int>(shards[i].count);
    places[i] = static_cast<int>(shards[i].first);
  }
  return {counts, places};
}

/// Calls f(first, elements, request) for consecutive parts, each small enough for one MPI operation.
template <class F>
void Mpi::each_part(Exchange& e, const Call& call, std::int64_t count, const char* function, F f, int peer) {
  const std::int64_t step = mpi_part_size.load();
  for (std::int64_t first = 0; first < count; first += step) {
    const int n = static_cast<int>(std::min(step, count - first));
    processes_.start(e, call, function, [&](mpi::Request* request) { return f(first, n, request); });
    processes_.wait(e, call, peer);
  }
}

/// `to` becomes the reduction of this process's arrays.
void Mpi::combine_local(RankTensors arrays, ReduceOp how, std::byte* to) const {
  const DType dtype = arrays[0]->dtype;
  constexpr std::int64_t block = 1 << 18;
  const std::int64_t count = arrays[0]->numel;
  const std::size_t size = size_of(dtype), wide = size_of(accumulation_dtype(dtype));
  const std::size_t held = static_cast<std::size_t>(std::min(block, count)) * size;
  const auto elements = scratch(arrays.size() * held);
  std::vector<const std::byte*> sources(arrays.size());
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t n = std::min(block, count - first);
    const std::size_t at = static_cast<std::size_t>(first);
    for (std::size_t i = 0; i < arrays.size(); ++i)
      sources[i] = read_or_borrow(*arrays[i], at * size, static_cast<std::size_t>(n) * size, elements.get() + i * held);
    combine(dtype, how, to + at * wide, sources, n);
  }
}

void Mpi::all_reduce(RankTensors arrays, ReduceOp how) {
  const std::lock_guard lock(processes_.mutex());
  const Call call = all_reduce_call(arrays, how);
  processes_.exchange([&](Exchange& e) {
    std::byte* all = nullptr;
    DType wide = DType::Float32;
    processes_.agree(call, [&] {
      ranks_.check_all_reduce(arrays, how);
      wide = accumulation_dtype(arrays[0]->dtype);
      all = e.allocate(static_cast<std::size_t>(call.count) * size_of(wide));
      combine_local(arrays, how, all);
    });
    const std::size_t size = size_of(wide);
    each_part(e, call, call.count, "MPI_Iallreduce", [&](std::int64_t first, int n, mpi::Request* request) {
      return processes_.mpi().MPI_Iallreduce(mpi::in_place, all + static_cast<std::size_t>(first) * size, n,
                                             processes_.element(size), processes_.operation(wide, how),
                                             processes_.comm(), request);
    });
    count_message(bytes_of(*arrays[0]));
    narrow(arrays[0]->dtype, all, all, call.count);
    for (const TensorRef& array : arrays) write(*array, 0, bytes_of(*array), all);
  });
}

/// `all` holds this process's elements at their offset and receives those of the others.
void Mpi::gather_shards(Exchange& e, const Call& call, std::byte* all, Counts counts) {
  const mpi::Library& mpi = processes_.mpi();
  const std::size_t size = size_of(static_cast<DType>(call.dtype));
  const mpi::Datatype type = processes_.element(size);
  const Shares shards = per_process(counts);
  if (call.count <= mpi_part_size.load()) {
    const auto [elements, places] = as_integers(e, shards);
    each_part(e, call, call.count, "MPI_Iallgatherv", [&](std::int64_t, int, mpi::Request* request) {
      return mpi.MPI_Iallgatherv(mpi::in_place, 0, type, all, elements, places, type, processes_.comm(), request);
    });
    return;
  }
  for (int r = 0; r < processes_.size(); ++r) {
    const Share shard = shards[static_cast<std::size_t>(r)];
    each_part(e, call, shard.count, "MPI_Ibcast", [&](std::int64_t first, int n, mpi::Request* request) {
      return mpi.MPI_Ibcast(all + static_cast<std::size_t>(shard.first + first) * size, n, type, r, processes_.comm(),
                            request);
    });
  }
}

/// Returns this process's elements of the reduction.
const std::byte* Mpi::reduce_shards(Exchange& e, const Call& call, std::byte* all, Counts counts) {
  const mpi::Library& mpi = processes_.mpi();
  const DType wide = accumulation_dtype(static_cast<DType>(call.dtype));
  const std::size_t size = size_of(wide);
  const mpi::Datatype type = processes_.element(size);
  const mpi::Op op = processes_.operation(wide, static_cast<ReduceOp>(call.how));
  const Shares shards = per_process(counts);
  const Share own = shards[static_cast<std::size_t>(processes_.process())];
  if (call.count <= mpi_part_size.load()) {
    std::byte* const result = e.allocate(static_cast<std::size_t>(own.count) * size);
    const int* const elements = as_integers(e, shards).first;
    each_part(e, call, call.count, "MPI_Ireduce_scatter", [&](std::int64_t, int, mpi::Request* request) {
      return mpi.MPI_Ireduce_scatter(all, result, elements, type, op, processes_.comm(), request);
    });
    return result;
  }
  for (int r = 0; r < processes_.size(); ++r) {
    const Share shard = shards[static_cast<std::size_t>(r)];
    each_part(e, call, shard.count, "MPI_Ireduce", [&](std::int64_t first, int n, mpi::Request* request) {
      std::byte* const place = all + static_cast<std::size_t>(shard.first + first) * size;
      const void* const from = r == processes_.process() ? mpi::in_place : place;
      return mpi.MPI_Ireduce(from, place, n, type, op, r, processes_.comm(), request);
    });
  }
  return all + static_cast<std::size_t>(own.first) * size;
}

void Mpi::all_gather(RankTensors from, RankTensors to, Counts counts) {
  const std::lock_guard lock(processes_.mutex());
  const Call call = all_gather_call(from, counts);
  processes_.exchange([&](Exchange& e) {
    std::byte* all = nullptr;
    std::size_t sent = 0;
    processes_.agree(call, [&] {
      ranks_.check_all_gather(from, to, counts);
      all = e.allocate(bytes_of(*to[0]));
      std::byte* place =
          all + static_cast<std::size_t>(sum(counts.first(static_cast<std::size_t>(first_local_rank())))) *
                    size_of(from[0]->dtype);
      for (const TensorRef& array : from) {
        read(*array, 0, bytes_of(*array), place + sent);
        sent += bytes_of(*array);
      }
    });
    gather_shards(e, call, all, counts);
    count_message(sent);
    for (const TensorRef& array : to) write(*array, 0, bytes_of(*array), all);
  });
}

void Mpi::reduce_scatter(RankTensors from, RankTensors to, Counts counts, ReduceOp how) {
  const std::lock_guard lock(processes_.mutex());
  const Call call = reduce_scatter_call(from, counts, how);
  processes_.exchange([&](Exchange& e) {
    std::byte* all = nullptr;
    std::unique_ptr<std::byte[]> rounded;
    processes_.agree(call, [&] {
      ranks_.check_reduce_scatter(from, to, counts, how);
      all = e.allocate(static_cast<std::size_t>(call.count) * size_of(accumulation_dtype(from[0]->dtype)));
      combine_local(from, how, all);
      std::size_t bytes = 0;
      for (const TensorRef& array : to) bytes += bytes_of(*array);
      rounded = scratch(bytes);
    });
    const std::byte* const own = reduce_shards(e, call, all, counts);
    count_message(bytes_of(*from[0]));
    narrow(from[0]->dtype, rounded.get(), own,
           sum(counts.subspan(static_cast<std::size_t>(first_local_rank()), to.size())));
    const std::byte* next = rounded.get();
    for (const TensorRef& array : to) {
      write(*array, 0, bytes_of(*array), next);
      next += bytes_of(*array);
    }
  });
}

void Mpi::broadcast(RankTensors arrays, int root) {
  const std::lock_guard lock(processes_.mutex());
  const Call call = broadcast_call(arrays, root);
  processes_.exchange([&](Exchange& e) {
    std::byte* all = nullptr;
    const bool is_root = ranks_.is_local(root);
    processes_.agree(call, [&] {
      ranks_.check_broadcast(arrays, root);
      all = e.allocate(bytes_of(*arrays[0]));
      if (is_root) read(*arrays[static_cast<std::size_t>(root - first_local_rank())], 0, bytes_of(*arrays[0]), all);
    });
    const std::size_t size = size_of(arrays[0]->dtype);
    each_part(e, call, call.count, "MPI_Ibcast", [&](std::int64_t at, int n, mpi::Request* request) {
      return processes_.mpi().MPI_Ibcast(all + static_cast<std::size_t>(at) * size, n, processes_.element(size),
                                         process_of(root), processes_.comm(), request);
    });
    if (is_root) count_message(bytes_of(*arrays[0]));
    for (int i = 0; i < local_size(); ++i)
      if (first_local_rank() + i != root) write(*arrays[static_cast<std::size_t>(i)], 0, bytes_of(*arrays[0]), all);
  });
}

void Mpi::send(const TensorRef& source, int from, const TensorRef& target, int to) {
  const std::lock_guard lock(processes_.mutex());
  const bool sends = ranks_.is_local(from), receives = ranks_.is_local(to);
  if (sends == receives) {  // within this process, or an error
    ranks_.check_send(source, from, target, to);
    copy(*target, 0, *source, 0, bytes_of(*source));
    return;
  }
  const TensorRef& own = sends ? source : target;
  const Call call = send_call(own, from, to);
  const bool exist = from >= 0 && to >= 0 && from < size() && to < size();
  const int peer = exist ? process_of(sends ? to : from) : processes_.process();
  processes_.exchange([&](Exchange& e) {
    std::byte* all = nullptr;
    if (!exist) ranks_.check_send(source, from, target, to);  // throws: no other process is involved
    processes_.agree_with(peer, call, [&] {
      ranks_.check_send(source, from, target, to);
      all = e.allocate(bytes_of(*own));
      if (sends) read(*own, 0, bytes_of(*own), all);
    });
    const std::size_t size = size_of(own->dtype);
    const mpi::Datatype type = processes_.element(size);
    each_part(
        e, call, call.count, sends ? "MPI_Isend" : "MPI_Irecv",
        [&](std::int64_t at, int n, mpi::Request* request) {
          std::byte* const place = all + static_cast<std::size_t>(at) * size;
          const mpi::Library& mpi = processes_.mpi();
          return sends ? mpi.MPI_Isend(place, n, type, peer, data_tag, processes_.comm(), request)
                       : mpi.MPI_Irecv(place, n, type, peer, data_tag, processes_.comm(), request);
        },
        peer);
    if (sends) count_message(bytes_of(*own));
    if (receives) write(*own, 0, bytes_of(*own), all);
  });
}

void Mpi::barrier() {
  const std::lock_guard lock(processes_.mutex());
  processes_.agree({.kind = CallKind::Barrier}, [] {});
}

}  // namespace

std::unique_ptr<Communicator> make_mpi(const RankTable& world) { return std::make_unique<Mpi>(world); }
void set_mpi_part(std::int64_t elements) noexcept { mpi_part_size = elements; }

}  // namespace sinter::inline v1::runtime
