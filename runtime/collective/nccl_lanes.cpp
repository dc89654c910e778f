#include "nccl_lanes.hpp"

#include <fmt/format.h>

#include <utility>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include "../streams.hpp"
#include "limits.hpp"

namespace sinter::inline v1::runtime {

NcclLanes::NcclLanes(const nccl::Library& library, const nccl::UniqueId& id, const std::vector<Device>& devices,
                     int first, int size)
    : library_(library), devices_(devices), comms_(devices.size()) {
  for (const Device d : devices) {
    backend(d);  // says what is wrong with a GPU that cannot be used
    contexts_.emplace_back(d.index());
  }
  group("ncclCommInitRankConfig", [&](std::size_t i) {
    nccl::Config config;  // calls return at once, so that no wait is longer than ours
    return library_.ncclCommInitRankConfig(&comms_[i], size, id, first + static_cast<int>(i), &config);
  });
}

NcclLanes::~NcclLanes() {
  if (process_ != generation() || !broken_.empty()) return;
  try {
    group("ncclCommFinalize", [&](std::size_t i) { return library_.ncclCommFinalize(comms_[i]); });
    for (const nccl::Comm comm : comms_) library_.ncclCommDestroy(comm);
  } catch (...) {  // aborted
  }
}

void NcclLanes::check_usable() const {
  if (process_ != generation()) throw Error("a child of a fork cannot use the GPUs that its parent uses through NCCL");
  if (!broken_.empty()) throw Error("NCCL has failed, and nothing can be exchanged through it any more: " + broken_);
}

void NcclLanes::run(const std::string& call, const std::vector<std::vector<Use>>& uses, const Start& start) {
  check_usable();
  std::deque<Ordered> ordered;
  std::vector<nccl::Stream> streams;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    ordered.emplace_back(devices_[i], uses[i]);
    streams.push_back(static_cast<nccl::Stream>(backend(devices_[i]).streams()->current().native));
  }
  group(call, [&](std::size_t i) { return start(i, {comms_[i], streams[i]}); });
}

void NcclLanes::group(const std::string& call, const std::function<nccl::Result(std::size_t)>& start) {
  check(call, library_.ncclGroupStart());
  nccl::Result result = nccl::success;
  for (std::size_t i = 0; i < comms_.size() && (result == nccl::success || result == nccl::in_progress); ++i) {
    const Current current(contexts_[i]);
    result = start(i);
  }
  const nccl::Result ended = library_.ncclGroupEnd();
  check(call, result);
  check(call, ended);
  settle(call);
}

/// Until NCCL has issued, or set up, what it was given.
void NcclLanes::settle(const std::string& call) {
  const Deadline deadline;
  for (const nccl::Comm comm : comms_) {
    if (!comm) give_up(call, "NCCL made no communicator");
    for (int polls = 0;; pause_after(++polls)) {
      nccl::Result state = nccl::success;
      check(call, library_.ncclCommGetAsyncError(comm, &state));
      check(call, state);
      if (state == nccl::success) break;
      if (deadline.passed())
        give_up(call, fmt::format("not all positions did their part within {:g} s (SINTER_COLLECTIVE_TIMEOUT)",
                                  deadline.seconds()));
    }
  }
}

void NcclLanes::check(const std::string& call, nccl::Result result) {
  if (result == nccl::success || result == nccl::in_progress) [[likely]]
    return;
  std::string why = nccl::describe(library_, result);
  if (result == nccl::invalid_usage)
    why +=
        ". Each position needs a GPU of its own; for one process each: mpirun ... sh -c "
        "'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK exec PROGRAM'";
  give_up(call, why);
}

void NcclLanes::give_up(const std::string& call, const std::string& why) {
  broken_ = fmt::format("{}: {}", call, why);
  for (nccl::Comm& comm : comms_)
    if (comm) library_.ncclCommAbort(std::exchange(comm, nullptr));
  throw Error(broken_);
}

}  // namespace sinter::inline v1::runtime
