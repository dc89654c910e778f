// Communication between a mesh's devices, by loopback, NCCL or MPI; Sinter has no network code of its own.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

/// The operator of a reduction over ranks.
enum class ReduceOp : std::uint8_t { Sum, Product, Maximum, Minimum };

/// One array for each of this process's ranks, in order: contiguous, on that rank's device, all of one dtype.
using RankTensors = std::span<const TensorRef>;

/// Collective operations over the ranks 0, 1, ... of a mesh, of which this process has a contiguous range. Every
/// process makes the same calls in the same order. Work on GPUs is asynchronous, in the order of the calling thread's
/// current stream of each device; arrays on the CPU are ready on return. Calls from several threads are serialized.
///
/// All throw Error, naming the rank, the call and its operands, if processes make different calls or if one does
/// not respond in time (SINTER_COLLECTIVE_TIMEOUT seconds, 300 by default). After that, every further call throws too.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// "loopback", "NCCL", "MPI".
  virtual std::string_view name() const noexcept = 0;
  /// The number of all ranks, and those of this process: [first, first + local).
  virtual int size() const noexcept = 0;
  virtual int first_local_rank() const noexcept = 0;
  virtual int local_size() const noexcept = 0;

  /// Each array becomes the reduction of all, bitwise identical at every rank. 16-bit floats are summed in float32;
  /// complex numbers can only be summed; among several NaNs or zeros, Maximum and Minimum may return any.
  virtual void all_reduce(RankTensors arrays, ReduceOp how) = 0;
  /// `to` receives the concatenation of `from` at all ranks: counts[p] elements of rank p, possibly none.
  virtual void all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) = 0;
  /// Rank p receives its counts[p] elements of the reduction of all `from`, which have sum(counts) elements each.
  virtual void reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts, ReduceOp how) = 0;
  /// All arrays become copies of the one at rank `root`.
  virtual void broadcast(RankTensors arrays, int root) = 0;
  /// Copies the array at rank `from` to the one at rank `to`. Called only by the processes that have either
  /// rank; the array at the other rank may be null.
  virtual void send(const TensorRef& source, int from, const TensorRef& target, int to) = 0;
  /// Returns when every process has called it. Does not wait for devices.
  virtual void barrier() = 0;

  /// Messages that this process has sent so far, without copies that stay on one device.
  struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  virtual Traffic traffic() const noexcept = 0;
};

}  // namespace sinter::inline v1::runtime
