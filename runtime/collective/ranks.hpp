// A communicator's ranks, and the checks of its arguments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// "sum", "product", "maximum", "minimum".
std::string_view name(ReduceOp how) noexcept;

/// Checks of a communicator's arguments, each named after its call. They throw DeviceError for arrays on other devices,
/// DTypeError, ShapeError for wrong numbers of elements, IndexError for ranks that do not exist, otherwise Error.
class Ranks {
 public:
  Ranks(std::string_view communicator, std::vector<Device> all, int first, int local);

  int size() const noexcept { return static_cast<int>(all_.size()); }
  int first_local_rank() const noexcept { return first_; }
  int local_size() const noexcept { return local_; }
  Device operator[](int rank) const { return all_[static_cast<std::size_t>(rank)]; }
  bool is_local(int rank) const noexcept { return rank >= first_ && rank < first_ + local_; }

  void check_all_reduce(RankTensors arrays, ReduceOp how) const;
  void check_all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) const;
  void check_reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts, ReduceOp how) const;
  void check_broadcast(RankTensors arrays, int root) const;
  void check_send(const TensorRef& source, int from, const TensorRef& target, int to) const;

  /// "rank 2 (cuda:2)", with the process if there are several.
  std::string describe(int rank) const;
  /// "all_reduce, sum, by loopback over 4 ranks", for messages.
  std::string describe(std::string_view call) const;

 private:
  void check_array(std::string_view call, const TensorRef& array, int rank) const;
  void check_arrays(std::string_view call, std::string_view role, RankTensors arrays) const;
  void check_equal_sizes(std::string_view call, RankTensors arrays) const;
  void check_shards(std::string_view call, RankTensors gathered, RankTensors shards,
                    std::span<const std::int64_t> counts) const;
  void check_size(std::string_view call, const TensorImpl& array, int rank, std::int64_t wanted) const;
  void check_rank(std::string_view call, std::string_view role, int rank) const;
  void check_combine(std::string_view call, DType dtype, ReduceOp how) const;

  std::string communicator_;
  std::vector<Device> all_;
  int first_, local_;
};

}  // namespace sinter::inline v1::runtime
