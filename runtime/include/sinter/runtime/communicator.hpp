// What the devices of a mesh tell one another. Loopback, NCCL and MPI do it; Sinter has no network code of its own.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

/// How elements of several positions become one.
enum class Combine : std::uint8_t { Sum, Product, Maximum, Minimum };

/// One array for each position of this process, in their order: contiguous, on that position's device, all of one
/// dtype.
using LocalArrays = std::span<const TensorRef>;

/// Collective operations over the positions 0, 1, ... of a mesh, of which this process has some that are neighbours.
/// Every process makes the same calls in the same order. Work on GPUs is asynchronous, in the order of the calling
/// thread's current stream of each device; arrays on the CPU are ready on return. Calls from several threads are
/// serialised.
///
/// All throw Error, which names the position, the call and its operands, where processes make different calls, where
/// one does not answer within the time (SINTER_COLLECTIVE_TIMEOUT seconds, 300), and after that for every further call.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// "loopback", "NCCL", "MPI".
  virtual std::string_view name() const noexcept = 0;
  /// Positions in all, and those of this process: [first, first + local).
  virtual int size() const noexcept = 0;
  virtual int first() const noexcept = 0;
  virtual int local() const noexcept = 0;

  /// Each array becomes the combination of all, the same bits at every position. Sums of 16-bit floats are made in
  /// float32; complex numbers are added only; of several NaNs and zeros Maximum and Minimum may give any.
  virtual void all_reduce(LocalArrays arrays, Combine how) = 0;
  /// `to` receives `from` of all positions, one after another: counts[p] elements of position p, which may be none.
  virtual void all_gather(LocalArrays from, LocalArrays to, std::span<const std::int64_t> counts) = 0;
  /// Position p receives its counts[p] elements of the combination of all `from`, which has as many as all together.
  virtual void reduce_scatter(LocalArrays from, LocalArrays to, std::span<const std::int64_t> counts, Combine how) = 0;
  /// All arrays become that of position `root`.
  virtual void broadcast(LocalArrays arrays, int root) = 0;
  /// The array of position `from`, where that is of this process, goes to the one of position `to`, where that is.
  /// Processes that have neither do not call it. The other array may be null.
  virtual void send(const TensorRef& source, int from, const TensorRef& target, int to) = 0;
  /// Returns when every process has called it. Waits for no device.
  virtual void barrier() = 0;

  /// What this process has sent so far; nothing is counted that stays on a device.
  struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  virtual Traffic traffic() const noexcept = 0;
};

}  // namespace sinter::inline v1::runtime
