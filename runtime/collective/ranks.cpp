#include "ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::runtime {
namespace {

bool overlap(const TensorImpl& a, const TensorImpl& b) noexcept {
  if (a.buffer != b.buffer) return false;
  const auto [a_begin, a_end] = byte_range(a);
  const auto [b_begin, b_end] = byte_range(b);
  return a_begin < b_end && b_begin < a_end;
}

}  // namespace

std::string_view name(ReduceOp how) noexcept {
  constexpr std::string_view names[] = {"sum", "product", "maximum", "minimum"};
  return names[static_cast<std::size_t>(how)];
}

Ranks::Ranks(std::string_view communicator, std::vector<Device> all, int first, int local)
    : communicator_(communicator), all_(std::move(all)), first_(first), local_(local) {
  if (all_.empty()) throw DeviceError(fmt::format("a communicator ({}) needs at least one device", communicator));
}

std::string Ranks::describe(int rank) const {
  const std::string device = to_string((*this)[rank]);
  return fmt::format("rank {} ({}{})", rank, device, is_local(rank) ? "" : " of another process");
}

std::string Ranks::describe(std::string_view call) const {
  return fmt::format("{} by {} over {} {}", call, communicator_, size(), size() == 1 ? "rank" : "ranks");
}

void Ranks::check_array(std::string_view call, const TensorRef& array, int rank) const {
  if (!array) throw Error(fmt::format("{}: there is no array for {}", describe(call), describe(rank)));
  if (array->device != (*this)[rank])
    throw DeviceError(fmt::format("{}: the array of {} is {}; it must be on that rank's device", describe(call),
                                  describe(rank), runtime::describe(*array)));
  if (lacks_memory(*array))
    throw Error(fmt::format("{}: the array of {} is an iota tensor without memory: evaluate it first", describe(call),
                            describe(rank)));
  if (!array->contiguous)
    throw Error(fmt::format("{}: the array of {}, {} with strides {}, is not contiguous: copy it first", describe(call),
                            describe(rank), runtime::describe(*array), to_string(array->strides)));
}

void Ranks::check_arrays(std::string_view call, std::string_view role, RankTensors arrays) const {
  if (arrays.size() != static_cast<std::size_t>(local_))
    throw Error(fmt::format("{}: {} {} arrays were given, but this process has {} ranks: give one array for each",
                            describe(call), arrays.size(), role, local_));
  for (int i = 0; i < local_; ++i) {
    const TensorRef& array = arrays[static_cast<std::size_t>(i)];
    check_array(call, array, first_ + i);
    if (array->dtype != arrays[0]->dtype)
      throw DTypeError(fmt::format("{}: the {} arrays differ in dtype: {} is {}, {} is {}", describe(call), role,
                                   describe(first_), runtime::describe(*arrays[0]), describe(first_ + i),
                                   runtime::describe(*array)));
  }
}

void Ranks::check_size(std::string_view call, const TensorImpl& array, int rank, std::int64_t wanted) const {
  if (array.numel == wanted) return;
  throw ShapeError(fmt::format("{}: the array of {}, {}, has {} elements where {} are expected", describe(call),
                               describe(rank), runtime::describe(array), array.numel, wanted));
}

void Ranks::check_equal_sizes(std::string_view call, RankTensors arrays) const {
  for (int i = 0; i < local_; ++i) {
    check_size(call, *arrays[static_cast<std::size_t>(i)], first_ + i, arrays[0]->numel);
    for (int j = 0; j < i; ++j)
      if (overlap(*arrays[static_cast<std::size_t>(i)], *arrays[static_cast<std::size_t>(j)]))
        throw Error(fmt::format("{}: the arrays of {} and {} share memory: give each rank its own", describe(call),
                                describe(first_ + j), describe(first_ + i)));
  }
}

void Ranks::check_shards(std::string_view call, RankTensors gathered, RankTensors shards,
                         std::span<const std::int64_t> counts) const {
  if (counts.size() != all_.size())
    throw ShapeError(fmt::format("{}: there are {} counts, [{}]: give one for each rank", describe(call), counts.size(),
                                 fmt::join(counts, ", ")));
  for (int p = 0; p < size(); ++p)
    if (counts[static_cast<std::size_t>(p)] < 0)
      throw ShapeError(fmt::format("{}: the count of {} is {}; none may be negative", describe(call), describe(p),
                                   counts[static_cast<std::size_t>(p)]));
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (int i = 0; i < local_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    check_size(call, *shards[at], first_ + i, counts[static_cast<std::size_t>(first_ + i)]);
    if (gathered[at]->numel != all)
      throw ShapeError(fmt::format("{}: the array of {}, {}, has {} elements, but the counts [{}] make {}",
                                   describe(call), describe(first_ + i), runtime::describe(*gathered[at]),
                                   gathered[at]->numel, fmt::join(counts, ", "), all));
    if (shards[at]->dtype != gathered[at]->dtype)
      throw DTypeError(fmt::format("{}: the arrays of {} differ in dtype: {} and {}", describe(call),
                                   describe(first_ + i), runtime::describe(*shards[at]),
                                   runtime::describe(*gathered[at])));
    for (int j = 0; j < local_; ++j)
      if (overlap(*shards[at], *gathered[static_cast<std::size_t>(j)]))
        throw Error(
            fmt::format("{}: an array of {} and one of {} share memory: the arrays that receive need their own memory",
                        describe(call), describe(first_ + i), describe(first_ + j)));
  }
}

void Ranks::check_rank(std::string_view call, std::string_view role, int rank) const {
  if (rank >= 0 && rank < size()) return;
  throw IndexError(
      fmt::format("{}: rank {} {} does not exist; the ranks are 0 to {}", describe(call), rank, role, size() - 1));
}

void Ranks::check_combine(std::string_view call, DType dtype, ReduceOp how) const {
  if (is_complex(dtype) && how != ReduceOp::Sum)
    throw DTypeError(
        fmt::format("{}: {} elements can only be summed; there is no {}", describe(call), name(dtype), name(how)));
}

void Ranks::check_all_reduce(RankTensors arrays, ReduceOp how) const {
  const std::string call = fmt::format("all_reduce, {},", name(how));
  check_arrays(call, "given", arrays);
  check_equal_sizes(call, arrays);
  check_combine(call, arrays[0]->dtype, how);
}

void Ranks::check_all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) const {
  check_arrays("all_gather", "source", from);
  check_arrays("all_gather", "target", to);
  check_shards("all_gather", to, from, counts);
  check_equal_sizes("all_gather", to);
}

void Ranks::check_reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts,
                                 ReduceOp how) const {
  const std::string call = fmt::format("reduce_scatter, {},", name(how));
  check_arrays(call, "source", from);
  check_arrays(call, "target", to);
  check_shards(call, from, to, counts);
  check_combine(call, from[0]->dtype, how);
}

void Ranks::check_broadcast(RankTensors arrays, int root) const {
  check_rank("broadcast", "to send from", root);
  check_arrays("broadcast", "given", arrays);
  check_equal_sizes("broadcast", arrays);
}

void Ranks::check_send(const TensorRef& source, int from, const TensorRef& target, int to) const {
  check_rank("send", "to send from", from);
  check_rank("send", "to send to", to);
  if (!is_local(from) && !is_local(to))
    throw Error(fmt::format("{}: {} and {} both belong to other processes, and only those call send", describe("send"),
                            describe(from), describe(to)));
  if (is_local(from)) check_array("send", source, from);
  if (is_local(to)) check_array("send", target, to);
  if (!is_local(from) || !is_local(to)) return;
  if (source->dtype != target->dtype)
    throw DTypeError(fmt::format("{}: {} sends {}, but {} receives {}: the dtypes differ", describe("send"),
                                 describe(from), runtime::describe(*source), describe(to), runtime::describe(*target)));
  check_size("send", *target, to, source->numel);
  if (source->data != target->data && overlap(*source, *target))
    throw Error(
        fmt::format("{}: the arrays of {} and {} overlap in memory", describe("send"), describe(from), describe(to)));
}

}  // namespace sinter::inline v1::runtime
