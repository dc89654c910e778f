// The description of a collective call, which processes compare: the operation, its operands and number of elements.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

enum class CallKind : std::int64_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Send,
  Barrier,
  Setup,
  End,
  Refused
};

struct Call {
  CallKind kind = CallKind::Barrier;
  std::int64_t dtype = 0;
  std::int64_t how = 0;   // the ReduceOp of a reduction
  std::int64_t from = 0;  // a rank: the root or the sender
  std::int64_t to = 0;
  std::int64_t count = 0;    // elements; for several shards the total
  std::int64_t counts = 0;   // a hash of the counts
  std::int64_t subject = 0;  // this thread's Subject
  std::int64_t errors = 0;   // reported by the process before this call: Processes::abandon

  friend bool operator==(const Call&, const Call&) = default;
};

/// Identifies the purpose of this thread's calls until the end of the scope: hash_of() of numbers that are the same in
/// every process of a correct program. Processes compare it in each call.
class Subject {
 public:
  explicit Subject(std::span<const std::int64_t> numbers) noexcept;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject();

 private:
  const std::int64_t before_;
};

/// Number of elements at each rank.
using Counts = std::span<const std::int64_t>;

/// Calls as requested, before they are checked; the dtype is that of the first array, if any.
Call all_reduce_call(RankTensors arrays, ReduceOp how);
Call all_gather_call(RankTensors from, Counts counts);
Call reduce_scatter_call(RankTensors from, Counts counts, ReduceOp how);
Call broadcast_call(RankTensors arrays, int root);
Call send_call(const TensorRef& own, int from, int to);

inline constexpr std::size_t call_words = 9;
std::array<std::int64_t, call_words> words_of(const Call& call) noexcept;
Call call_of(std::span<const std::int64_t, call_words> words) noexcept;

/// A hash of counts, never negative.
std::int64_t hash_of(std::span<const std::int64_t> counts) noexcept;

/// The process that owns a rank; `locals` gives the number of ranks of each process.
int process_of(int rank, std::span<const std::int64_t> locals);

/// "all_reduce, sum, of 1000 float32", for messages; with the number of earlier errors, if any.
std::string describe(const Call& call);

}  // namespace sinter::inline v1::runtime
