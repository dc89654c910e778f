#include "nccl_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include "../streams.hpp"
#include "limits.hpp"

namespace sinter::inline v1::runtime {

NcclRanks::NcclRanks(const nccl::Library& library, const nccl::UniqueId& id, const std::vector<Device>& devices,
                     int first, int size)
    : library_(library), devices_(devices), comms_(devices.size()) {
  const std::lock_guard lock(state_.get());
  for (const Device d : devices) {
    backend(d);  // reports a GPU that cannot be used
    contexts_.emplace_back(d.index());
  }
  group("ncclCommInitRankConfig", [&](std::size_t i) {
    nccl::Config config;  // nonblocking calls, so that no wait exceeds our limit
    return library_.ncclCommInitRankConfig(&comms_[i], size, id, first + static_cast<int>(i), &config);
  });
}

NcclRanks::~NcclRanks() {
  end_watch();
  if (process_ != generation() || !broken_.empty()) return;
  try {
    group("ncclCommFinalize", [&](std::size_t i) { return library_.ncclCommFinalize(comms_[i]); });
    for (const nccl::Comm comm : comms_) library_.ncclCommDestroy(comm);
  } catch (...) {  // aborted
  }
}

void NcclRanks::check_usable() const {
  if (process_ != generation()) throw Error("a child of a fork cannot use the GPUs that its parent uses through NCCL");
  const std::lock_guard lock(state_.get());
  if (!broken_.empty()) throw Error("NCCL has failed and cannot be used any more: " + broken_);
}

namespace {

void check_not_captured(const std::string& call, Device device, const StreamImpl& stream) {
  if (!stream.owner.is_capturing(stream)) return;
  throw CudaError(
      fmt::format("CUDA error: the stream of {} captures a graph, which cannot contain communication between ranks: "
                  "{}. Capture the "
                  "work before it and the work after it as separate graphs",
                  to_string(device), call));
}

}  // namespace

void NcclRanks::run(const std::string& call, const std::vector<std::vector<BufferAccess>>& uses, const Start& start) {
  check_usable();
  std::deque<DependencyGuard> ordered;
  std::vector<StreamImpl*> streams;
  for (const Device d : devices_) {
    streams.push_back(&backend(d).streams()->current());
    check_not_captured(call, d, *streams.back());
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) ordered.emplace_back(devices_[i], uses[i]);
  const std::lock_guard lock(state_.get());
  forget_done();
  Pending pending{.call = call, .begins = {}, .ends = {}, .since = {}};
  for (StreamImpl* s : streams) pending.begins.push_back(s->owner.record(*s));
  expect(static_cast<int>(pending_.size()) + 1);  // before the work is issued, so that it is always watched
  group(call, [&](std::size_t i) { return start(i, {comms_[i], static_cast<nccl::Stream>(streams[i]->native)}); });
  for (StreamImpl* s : streams) pending.ends.push_back(s->owner.record(*s));
  pending_.push_back(std::move(pending));
}

namespace {

bool all_done(const std::vector<EventRef>& events) {
  return std::ranges::all_of(events, [](const EventRef& e) { return e->owner.is_done(*e); });
}

}  // namespace

void NcclRanks::forget_done() {
  while (!pending_.empty() && all_done(pending_.front().ends)) pending_.pop_front();
  expect(static_cast<int>(pending_.size()));
}

/// As NCCL's manual requires: the waiting thread polls for errors and aborts; then the communicator is dead.
std::string NcclRanks::look() {
  const std::unique_lock lock(state_.get(), std::try_to_lock);
  if (!lock || process_ != generation() || !broken_.empty()) return {};  // not locked: a call with its own limit runs
  forget_done();
  if (pending_.empty()) return {};
  Pending& first = pending_.front();
  for (const nccl::Comm comm : comms_) {
    nccl::Result state = nccl::success;
    nccl::Result asked = library_.ncclCommGetAsyncError(comm, &state);
    if (asked == nccl::success) asked = state;
    if (asked == nccl::success || asked == nccl::in_progress) continue;
    abort(first.call, nccl::describe(library_, asked, comm));
    return broken_;
  }
  if (!first.since && all_done(first.begins)) first.since.emplace();
  if (!first.since || !first.since->passed()) return {};
  abort(first.call, fmt::format("it started but did not finish within {:g} s (SINTER_COLLECTIVE_TIMEOUT): some ranks "
                                "did not take part. Its outputs are undefined",
                                first.since->seconds()));
  return broken_;
}

void NcclRanks::group(const std::string& call, const std::function<nccl::Result(std::size_t)>& start) {
  check(call, library_.ncclGroupStart());
  nccl::Result result = nccl::success;
  for (std::size_t i = 0; i < comms_.size() && (result == nccl::success || result == nccl::in_progress); ++i) {
    const ContextGuard current(contexts_[i]);
    result = start(i);
  }
  const nccl::Result ended = library_.ncclGroupEnd();
  check(call, result);
  check(call, ended);
  wait_until_issued(call);
}

/// Waits until NCCL has issued the calls or set up the communicators.
void NcclRanks::wait_until_issued(const std::string& call) {
  const Deadline deadline;
  for (const nccl::Comm comm : comms_) {
    if (!comm) give_up(call, "NCCL did not create a communicator");
    for (int polls = 0;; pause_after(++polls)) {
      nccl::Result state = nccl::success;
      check(call, library_.ncclCommGetAsyncError(comm, &state));
      check(call, state);
      if (state == nccl::success) break;
      if (deadline.passed())
        give_up(call, fmt::format("some ranks did not take part within {:g} s (SINTER_COLLECTIVE_TIMEOUT)",
                                  deadline.seconds()));
    }
  }
}

void NcclRanks::check(const std::string& call, nccl::Result result) {
  if (result == nccl::success || result == nccl::in_progress) [[likely]]
    return;
  std::string why = nccl::describe(library_, result);
  if (result == nccl::invalid_usage)
    why +=
        ". Each rank needs its own GPU; for one GPU per process: mpirun ... sh -c "
        "'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK exec PROGRAM'";
  give_up(call, why);
}

void NcclRanks::give_up(const std::string& call, const std::string& why) {
  abort(call, why);
  throw Error(broken_);
}

void NcclRanks::abort(const std::string& call, const std::string& why) {
  broken_ = fmt::format("{}: {}", call, why);
  for (nccl::Comm& comm : comms_)
    if (comm) library_.ncclCommAbort(std::exchange(comm, nullptr));
  pending_.clear();
  expect(0);
}

}  // namespace sinter::inline v1::runtime
