#include "nccl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

#include <sinter/runtime/error.hpp>
#include "../registry.hpp"
#include "combine_kernel.hpp"
#include "host_copies.hpp"
#include "nccl_ranks.hpp"
#include "processes.hpp"
#include "ranks.hpp"

namespace sinter::inline v1::runtime {
namespace {

using nccl::Result;
using LocalRank = NcclRanks::LocalRank;

/// NCCL's datatype and operator for a reduction.
struct Native {
  int type, op;
  std::size_t factor = 1;  // number of NCCL elements per element
};

/// nullopt if NCCL lacks the dtype, rounds 16-bit floats at each addition, or ignores NaNs.
std::optional<Native> native(DType dtype, ReduceOp how) {
  constexpr int ops[] = {nccl::sum, nccl::product, nccl::maximum, nccl::minimum};
  const int op = ops[static_cast<std::size_t>(how)];
  const bool adds = how == ReduceOp::Sum, arithmetic = adds || how == ReduceOp::Product;
  switch (dtype) {
    case DType::Bool: return Native{nccl::uint8, adds || how == ReduceOp::Maximum ? nccl::maximum : nccl::minimum};
    case DType::UInt8: return Native{nccl::uint8, op};
    case DType::Int8: return Native{nccl::int8, op};
    case DType::Int32: return Native{nccl::int32, op};
    case DType::UInt32: return Native{nccl::uint32, op};
    case DType::UInt64: return Native{nccl::uint64, op};
    case DType::Int64: return Native{nccl::int64, op};
    case DType::Float32: return arithmetic ? std::optional(Native{nccl::float32, op}) : std::nullopt;
    case DType::Float64: return arithmetic ? std::optional(Native{nccl::float64, op}) : std::nullopt;
    case DType::Complex64: return Native{nccl::float32, op, 2};
    case DType::Complex128: return Native{nccl::float64, op, 2};
    default: return std::nullopt;
  }
}

Result first_error(Result before, Result next) {
  return before == nccl::success || before == nccl::in_progress ? next : before;
}

bool all_equal(Counts counts) { return std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end(); }

class Nccl final : public Communicator {
 public:
  Nccl(const nccl::Library& library, const nccl::UniqueId& id, const RankTable& world, Processes* processes,
       std::vector<std::int64_t> locals)
      : library_(library),
        ranks_("NCCL", world.all, world.first, world.local),
        nccl_(library, id, {world.all.begin() + world.first, world.all.begin() + world.first + world.local},
              world.first, ranks_.size()),
        processes_(processes),
        locals_(std::move(locals)) {}

  std::string_view name() const noexcept override { return "NCCL"; }
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
  std::mutex& mutex() { return processes_ ? processes_->mutex() : calls_.get(); }
  template <class F>
  void agree(const Call& call, F prepare);
  std::vector<TensorRef> parcels_for(RankTensors arrays, Counts counts) const;
  void run(const Call& call, RankTensors read, RankTensors written, const NcclRanks::Start& start);
  void combine_shards(const Call& call, RankTensors from, RankTensors parcels, RankTensors to, Counts counts,
                      bool in_place);
  void spread_shards(const Call& call, RankTensors arrays, Counts counts);
  void count_messages(RankTensors arrays) noexcept;

  const nccl::Library& library_;
  Ranks ranks_;
  NcclRanks nccl_;
  Processes* processes_;              // null if this is the only process
  std::vector<std::int64_t> locals_;  // number of ranks of each process
  ForkLocal<std::mutex> calls_;
  std::atomic<std::uint64_t> messages_{0}, bytes_{0};
};

template <class F>
void Nccl::agree(const Call& call, F prepare) {
  const auto checked = [&] {
    nccl_.check_usable();
    prepare();
  };
  processes_ ? processes_->agree(call, checked) : checked();
}

void Nccl::count_messages(RankTensors arrays) noexcept {
  if (size() == 1) return;
  for (const TensorRef& array : arrays) {
    if (array->numel == 0) continue;
    ++messages_;
    bytes_ += runtime::bytes_of(*array);
  }
}

/// Runs one group of NCCL calls, ordered with the arrays' other uses.
void Nccl::run(const Call& call, RankTensors read, RankTensors written, const NcclRanks::Start& start) {
  std::vector<std::vector<BufferAccess>> uses(static_cast<std::size_t>(local_size()));
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (i < read.size() && read[i]) uses[i].push_back({read[i]->buffer.get(), false});
    if (i < written.size() && written[i]) uses[i].push_back({written[i]->buffer.get(), true});
  }
  const std::string where =
      processes_ ? fmt::format("process {} of {}, ", processes_->process(), processes_->size()) : "";
  nccl_.run(fmt::format("{}{} at ranks {} to {} of {}", where, runtime::describe(call), first_local_rank(),
                        first_local_rank() + local_size() - 1, size()),
            uses, start);
  for (const TensorRef& array : written)
    if (array) array->buffer->touch();
}

/// Memory in which each rank here receives its part from all others.
std::vector<TensorRef> Nccl::parcels_for(RankTensors arrays, Counts counts) const {
  std::vector<TensorRef> parcels;
  for (int i = 0; i < local_size(); ++i) {
    const TensorImpl& array = *arrays[static_cast<std::size_t>(i)];
    parcels.push_back(
        empty(Shape{counts[static_cast<std::size_t>(first_local_rank() + i)] * size()}, array.dtype, array.device));
  }
  return parcels;
}

/// Each rank receives its part from all and combines them in order: into `to`, or into its own part of its array.
void Nccl::combine_shards(const Call& call, RankTensors from, RankTensors parcels, RankTensors to, Counts counts,
                          bool in_place) {
  const std::size_t element = size_of(from[0]->dtype);
  const auto bytes = [&](int p) { return static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]) * element; };
  run(call, from, parcels, [&](std::size_t i, const LocalRank& local) {
    const int own = first_local_rank() + static_cast<int>(i);
    const std::byte* source = from[i]->data;
    Result result = nccl::success;
    for (int p = 0; p < size(); source += bytes(p++)) {
      if (bytes(p) > 0)
        result = first_error(result, library_.ncclSend(source, bytes(p), nccl::uint8, p, local.comm, local.stream));
      if (bytes(own) > 0)
        result = first_error(result, library_.ncclRecv(parcels[i]->data + static_cast<std::size_t>(p) * bytes(own),
                                                       bytes(own), nccl::uint8, p, local.comm, local.stream));
    }
    return result;
  });
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int own = first_local_rank() + static_cast<int>(i);
    std::size_t place = 0;
    for (int p = 0; in_place && p < own; ++p) place += bytes(p);
    const BufferAccess uses[] = {{parcels[i]->buffer.get(), false}, {to[i]->buffer.get(), true}};
    const DependencyGuard ordered(to[i]->device, uses);
    combine_on_gpu(gpu(to[i]->device.index()), to[i]->dtype, static_cast<ReduceOp>(call.how), to[i]->data + place,
                   parcels[i]->data, size(), counts[static_cast<std::size_t>(own)]);
    to[i]->buffer->touch();
  }
}

/// Copies every rank's part to the same place at all others.
void Nccl::spread_shards(const Call& call, RankTensors arrays, Counts counts) {
  const std::size_t element = size_of(arrays[0]->dtype);
  run(call, {}, arrays, [&](std::size_t i, const LocalRank& local) {
    std::byte* place = arrays[i]->data;
    if (all_equal(counts)) {
      const std::size_t bytes = static_cast<std::size_t>(counts[0]) * element;
      const std::byte* own = place + (static_cast<std::size_t>(first_local_rank()) + i) * bytes;
      return library_.ncclAllGather(own, place, bytes, nccl::uint8, local.comm, local.stream);
    }
    Result result = nccl::success;
    for (int p = 0; p < size(); ++p) {
      const std::size_t bytes = static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]) * element;
      if (bytes > 0)
        result =
            first_error(result, library_.ncclBroadcast(place, place, bytes, nccl::uint8, p, local.comm, local.stream));
      place += bytes;
    }
    return result;
  });
}

void Nccl::all_reduce(RankTensors arrays, ReduceOp how) {
  const std::lock_guard lock(mutex());
  const Call call = all_reduce_call(arrays, how);
  const std::int64_t each = (call.count + size() - 1) / size();
  std::vector<std::int64_t> counts;
  for (std::int64_t p = 0; p < size(); ++p) counts.push_back(std::clamp<std::int64_t>(call.count - p * each, 0, each));
  std::vector<TensorRef> parcels;
  std::optional<Native> with;
  agree(call, [&] {
    ranks_.check_all_reduce(arrays, how);
    with = native(arrays[0]->dtype, how);
    if (!with) parcels = parcels_for(arrays, counts);
  });
  if (call.count == 0 || size() == 1) return;
  count_messages(arrays);
  if (!with) {
    combine_shards(call, arrays, parcels, arrays, counts, true);
    return spread_shards(call, arrays, counts);
  }
  run(call, {}, arrays, [&](std::size_t i, const LocalRank& local) {
    return library_.ncclAllReduce(arrays[i]->data, arrays[i]->data, static_cast<std::size_t>(call.count) * with->factor,
                                  with->type, with->op, local.comm, local.stream);
  });
}

void Nccl::reduce_scatter(RankTensors from, RankTensors to, Counts counts, ReduceOp how) {
  const std::lock_guard lock(mutex());
  const Call call = reduce_scatter_call(from, counts, how);
  std::vector<TensorRef> parcels;
  std::optional<Native> with;
  agree(call, [&] {
    ranks_.check_reduce_scatter(from, to, counts, how);
    with = native(from[0]->dtype, how);
    if (!with) parcels = parcels_for(from, counts);
  });
  if (call.count == 0) return;
  count_messages(from);
  if (!with) return combine_shards(call, from, parcels, to, counts, false);
  run(call, from, to, [&](std::size_t i, const LocalRank& local) {
    if (all_equal(counts))
      return library_.ncclReduceScatter(from[i]->data, to[i]->data, static_cast<std::size_t>(counts[0]) * with->factor,
                                        with->type, with->op, local.comm, local.stream);
    Result result = nccl::success;
    const std::byte* source = from[i]->data;
    for (int p = 0; p < size(); ++p) {
      const auto n = static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]);
      if (n > 0)
        result = first_error(result, library_.ncclReduce(source, to[i]->data, n * with->factor, with->type, with->op, p,
                                                         local.comm, local.stream));
      source += n * size_of(from[i]->dtype);
    }
    return result;
  });
}

void Nccl::all_gather(RankTensors from, RankTensors to, Counts counts) {
  const std::lock_guard lock(mutex());
  const Call call = all_gather_call(from, counts);
  agree(call, [&] { ranks_.check_all_gather(from, to, counts); });
  if (call.count == 0) return;
  count_messages(from);
  run(call, from, to, [&](std::size_t i, const LocalRank& local) {
    if (all_equal(counts))
      return library_.ncclAllGather(from[i]->data, to[i]->data, runtime::bytes_of(*from[i]), nccl::uint8, local.comm,
                                    local.stream);
    Result result = nccl::success;
    std::byte* place = to[i]->data;
    for (int p = 0; p < size(); ++p) {
      const std::size_t bytes = static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]) * size_of(to[i]->dtype);
      if (bytes > 0)
        result = first_error(
            result, library_.ncclBroadcast(from[i]->data, place, bytes, nccl::uint8, p, local.comm, local.stream));
      place += bytes;
    }
    return result;
  });
}

void Nccl::broadcast(RankTensors arrays, int root) {
  const std::lock_guard lock(mutex());
  const Call call = broadcast_call(arrays, root);
  agree(call, [&] { ranks_.check_broadcast(arrays, root); });
  if (call.count == 0 || size() == 1) return;
  if (ranks_.is_local(root)) count_messages(arrays.subspan(static_cast<std::size_t>(root - first_local_rank()), 1));
  run(call, {}, arrays, [&](std::size_t i, const LocalRank& local) {
    return library_.ncclBroadcast(arrays[i]->data, arrays[i]->data, runtime::bytes_of(*arrays[i]), nccl::uint8, root,
                                  local.comm, local.stream);
  });
}

void Nccl::send(const TensorRef& source, int from, const TensorRef& target, int to) {
  const std::lock_guard lock(mutex());
  nccl_.check_usable();
  const auto check = [&] { ranks_.check_send(source, from, target, to); };
  const bool sends = ranks_.is_local(from), receives = ranks_.is_local(to);
  const bool exist = std::min(from, to) >= 0 && std::max(from, to) < size();
  if (sends == receives || !exist) check();
  if (from == to) return copy(*target, 0, *source, 0, runtime::bytes_of(*source));
  const TensorRef& own = sends ? source : target;
  const Call call = send_call(own, from, to);
  if (sends != receives) processes_->agree_with(process_of(sends ? to : from, locals_), call, check);
  if (call.count == 0) return;
  if (sends) count_messages({&source, 1});
  std::vector<TensorRef> read(static_cast<std::size_t>(local_size())), written(read.size());
  if (sends) read[static_cast<std::size_t>(from - first_local_rank())] = source;
  if (receives) written[static_cast<std::size_t>(to - first_local_rank())] = target;
  run(call, read, written, [&](std::size_t i, const LocalRank& local) {
    const int p = first_local_rank() + static_cast<int>(i);
    const std::size_t bytes = runtime::bytes_of(*own);
    if (p == from) return library_.ncclSend(source->data, bytes, nccl::uint8, to, local.comm, local.stream);
    if (p == to) return library_.ncclRecv(target->data, bytes, nccl::uint8, from, local.comm, local.stream);
    return nccl::success;
  });
}

void Nccl::barrier() {
  const std::lock_guard lock(mutex());
  agree({.kind = CallKind::Barrier}, [] {});
}

void check_result(const nccl::Library& library, const char* call, Result result) {
  if (result != nccl::success) throw Error(fmt::format("{}: {}", call, nccl::describe(library, result)));
}

}  // namespace

std::unique_ptr<Communicator> make_nccl(const std::vector<Device>& devices) {
  for (auto d = devices.begin(); d != devices.end(); ++d)
    if (!d->is_cuda() || gpus_are_virtual() || std::find(devices.begin(), d, *d) != d)
      throw DeviceError(fmt::format("NCCL needs distinct real GPUs; {} is {}", to_string(*d),
                                    d->is_cpu()          ? "not a GPU"
                                    : gpus_are_virtual() ? "a virtual GPU"
                                                         : "listed twice"));
  const nccl::Library* const library = nccl::library();
  if (!library) return nullptr;
  nccl::UniqueId id{};
  check_result(*library, "ncclGetUniqueId", library->ncclGetUniqueId(&id));
  const int n = static_cast<int>(devices.size());
  return std::make_unique<Nccl>(*library, id, RankTable{.process = 0, .all = devices, .first = 0, .local = n}, nullptr,
                                std::vector<std::int64_t>{n});
}

std::unique_ptr<Communicator> make_nccl(const RankTable& world, const nccl::Library& library) {
  Processes& processes = Processes::get();
  nccl::UniqueId id{};
  std::vector<std::int64_t> locals;
  {
    const std::lock_guard lock(processes.mutex());
    const Call setup{.kind = CallKind::Setup, .count = static_cast<std::int64_t>(world.all.size())};
    processes.agree(setup, [&] {
      if (world.process == 0) check_result(library, "ncclGetUniqueId", library.ncclGetUniqueId(&id));
    });
    const std::int64_t local = world.local;
    locals = processes.gather(setup, {&local, 1});
    std::int64_t words[sizeof(id) / sizeof(std::int64_t)];
    std::memcpy(words, &id, sizeof(id));
    const std::vector<std::int64_t> ids = processes.gather(setup, words);
    std::memcpy(&id, ids.data(), sizeof(id));  // from process 0
  }
  return std::make_unique<Nccl>(library, id, world, &processes, std::move(locals));
}

}  // namespace sinter::inline v1::runtime
