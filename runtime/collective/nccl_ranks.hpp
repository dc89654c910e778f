// This process's ranks in NCCL: one communicator per GPU, and calls for all of them as one group.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/order.hpp>
#include "../cuda/context.hpp"
#include "../cuda/stream_watch.hpp"
#include "limits.hpp"
#include "nccl_library.hpp"

namespace sinter::inline v1::runtime {

/// Not thread-safe, except for look(). Functions throw Error if NCCL reports an error or takes longer than
/// SINTER_COLLECTIVE_TIMEOUT; after that every further call throws, and NCCL is not used any more. Waiting for a stream
/// also throws Error if a call on the stream does not finish in time.
class NcclRanks final : private StreamWatch {
 public:
  /// One rank per device, as ranks first, first + 1, ... of `size`. Collective over all processes with the id.
  NcclRanks(const nccl::Library& library, const nccl::UniqueId& id, const std::vector<Device>& devices, int first,
            int size);
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  ~NcclRanks();

  struct LocalRank {
    nccl::Comm comm;
    nccl::Stream stream;
  };
  /// Returns NCCL's result.
  using Start = std::function<nccl::Result(std::size_t local, const LocalRank& rank)>;
  /// Calls `start` for all of this process's ranks in one group, each with its GPU current, and orders uses[local]
  /// on its current stream.
  void run(const std::string& call, const std::vector<std::vector<BufferAccess>>& uses, const Start& start);

  const nccl::Library& library() const noexcept { return library_; }
  void check_usable() const;

 private:
  /// A call whose work may still be running.
  struct Pending {
    std::string call;
    std::vector<EventRef> begins, ends;  // of each stream
    std::optional<Deadline> since;       // set when the work before it is found to be done
  };
  std::string look() override;
  void forget_done();
  [[noreturn]] void give_up(const std::string& call, const std::string& why);
  void abort(const std::string& call, const std::string& why);
  void group(const std::string& call, const std::function<nccl::Result(std::size_t)>& start);
  void wait_until_issued(const std::string& call);
  void check(const std::string& call, nccl::Result result);

  const nccl::Library& library_;
  const unsigned process_ = generation();
  std::vector<Device> devices_;
  std::deque<CudaContext> contexts_;
  std::vector<nccl::Comm> comms_;
  mutable ForkLocal<std::mutex> state_;  // held during NCCL calls and while the members below are used
  std::string broken_;
  std::deque<Pending> pending_;
};

}  // namespace sinter::inline v1::runtime
