#include "processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <thread>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "limits.hpp"

namespace sinter::inline v1::runtime {
namespace {

using Words = std::array<std::int64_t, call_words>;

constexpr int agree_tag = 2;

int number_in(const char* variable, int fallback) {
  const std::string value = environment(variable);
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  return error == std::errc{} && end == value.data() + value.size() && !value.empty() ? n : fallback;
}

std::atomic<Processes*> started_processes{nullptr};

}  // namespace

int launched_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const int n = number_in(variable, 0); n > 0) return n;
  // PMIx sets only the process; srun sets the number.
  return environment("PMIX_RANK").empty() ? 1 : number_in("SLURM_NTASKS", 2);
}

std::optional<int> launched_process() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const int process = number_in(variable, -1); process >= 0) return process;
  return std::nullopt;
}

Processes& Processes::get() {
  static constinit NoDestructor<Processes> processes;
  return processes.get([] { return new Processes; });
}

namespace {

/// Calls f in its own thread; null if it takes longer than the limit, in which case it keeps running.
template <class F>
auto within(double seconds, F f) -> std::shared_ptr<decltype(f())> {
  auto result = std::make_shared<std::promise<decltype(f())>>();
  auto future = result->get_future();
  std::thread([result, f] { result->set_value(f()); }).detach();
  if (future.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready) return nullptr;
  return std::make_shared<decltype(f())>(future.get());
}

}  // namespace

/// The outcome of starting MPI.
struct Processes::Start {
  const char* function = "";  // that failed, with `result`
  int result = mpi::success;
  bool ours = false;
  int level = 0, process = 0, size = 1;
  mpi::Comm comm = nullptr;
};

Processes::Start Processes::start_mpi(const mpi::Library& mpi, bool ours) {
  Start s{.ours = ours};
  const auto call = [&s](const char* function, auto f, auto... arguments) {
    if (s.result != mpi::success) return;
    s.result = f(arguments...);
    s.function = function;
  };
  if (ours)
    call("MPI_Init_thread", mpi.MPI_Init_thread, nullptr, nullptr, mpi::thread_serialized, &s.level);
  else
    call("MPI_Query_thread", mpi.MPI_Query_thread, &s.level);
  call("MPI_Comm_dup", mpi.MPI_Comm_dup, mpi.world, &s.comm);
  call("MPI_Comm_set_errhandler", mpi.MPI_Comm_set_errhandler, s.comm, mpi.errors_return);
  call("MPI_Comm_rank", mpi.MPI_Comm_rank, s.comm, &s.process);
  call("MPI_Comm_size", mpi.MPI_Comm_size, s.comm, &s.size);
  return s;
}

/// All processes start together; MPI has no time limit for it.
Processes::Processes() : mpi_(mpi::library()) {
  const double limit = Deadline().seconds();
  int initialized = 0, finalized = 0;
  mpi_.MPI_Initialized(&initialized);
  mpi_.MPI_Finalized(&finalized);
  if (finalized) throw DeviceError("the program has finalized MPI, which cannot be started again");
  // If the program started MPI, this may be the only thread that may call it.
  const std::shared_ptr<Start> s = initialized ? std::make_shared<Start>(start_mpi(mpi_, false))
                                               : within(limit, [&mpi = mpi_] { return start_mpi(mpi, true); });
  lost_ = !s || s->result != mpi::success;
  if (!s)
    broken_ = fmt::format(
        "{} did not start within {:g} s (SINTER_COLLECTIVE_TIMEOUT): some of the {} processes that mpirun started have "
        "not requested it",
        mpi_.version, limit, launched_processes());
  else if (lost_)
    broken_ =
        fmt::format("{} did not start: {} returned {}", mpi_.version, s->function, mpi::describe(mpi_, s->result));
  if (lost_) return;
  process_ = s->process, size_ = s->size, comm_ = s->comm;
  of_main_thread_ = s->level < mpi::thread_serialized;
  notices_.emplace(mpi_, comm_, process_, size_);
  if (!s->ours) return;
  started_processes = this;
  std::atexit(&Processes::at_exit);
}

void Processes::check_usable() const {
  if (generation_ != generation())
    throw Error(
        "a child of a fork is not one of the processes that mpirun started: only its parent can communicate with them");
  if (!broken_.empty())
    throw Error("the processes that mpirun started are out of sync after an error and cannot communicate any more: " +
                broken_);
  int is_main = 1, finalized = 0;
  mpi_.MPI_Finalized(&finalized);
  if (finalized) throw Error("the program has finalized MPI: its processes cannot communicate any more");
  if (of_main_thread_) mpi_.MPI_Is_thread_main(&is_main);
  if (!is_main)
    throw Error(
        "the program initialized MPI for calls from its main thread only: call from that thread, or initialize MPI "
        "with "
        "MPI_Init_thread and MPI_THREAD_SERIALIZED");
}

void Processes::check(const Call& call, const char* function, int result) {
  if (result != mpi::success) [[unlikely]]
    give_up(call, fmt::format("{} returned {}", function, mpi::describe(mpi_, result)));
}

void Processes::give_up(const Call& call, const std::string& why) {
  const std::string what = fmt::format("{}: {}", describe(call), why);
  broken_ = fmt::format("process {} of {} under MPI, in {}", process_, size_, what);
  lost_ = true;
  if (notices_)
    if (const std::vector<int> silent = notices_->broadcast_abort_and_wait(what); !silent.empty())
      broken_ += fmt::format("; {} did not respond", process_list(silent));
  throw Error(broken_);
}

/// When it became known that a peer will not take part.
struct Processes::Grace {
  std::optional<std::chrono::steady_clock::time_point> since;
};

void Processes::wait(Exchange& exchange, const Call& call, int peer) {
  const Deadline deadline;
  Grace grace;
  for (int polls = 0;; pause_after(++polls)) {
    int done = 0;
    check(
        call, "MPI_Testall",
        mpi_.MPI_Testall(static_cast<int>(exchange.requests.size()), exchange.requests.data(), &done, mpi::no_status));
    if (done) break;
    look_around(call, peer, grace);
    // At the end of the program, others may run for much longer: that is not an error.
    if (call.kind != CallKind::End && deadline.passed())
      give_up(call, fmt::format("some processes did not take part within {:g} s (SINTER_COLLECTIVE_TIMEOUT)",
                                deadline.seconds()));
  }
  exchange.requests.clear();
  waits_ += peer == of_all;
}

/// Throws if another process gave up or will not take part. A call of all processes is incomplete until each has taken
/// part; but a single peer may have done so just before its error, and its message may still be in flight.
void Processes::look_around(const Call& call, int peer, Grace& grace) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds on_its_way{200};
  if (const auto other = notices_->poll_abort()) give_up(call, *other);
  if (call.kind == CallKind::End) return broadcast_end(call);
  const auto other = notices_->missing(errors_, waits_, peer);
  if (!other) return;
  if (!grace.since) grace.since = Clock::now();
  if (peer == of_all || Clock::now() > *grace.since + on_its_way) give_up(call, *other);
}

/// Reports the end of this process to others that still send to it or receive from it.
void Processes::broadcast_end(const Call& call) {
  if (end_sent_) return;
  int sends = 0;
  check(call, "MPI_Iprobe", mpi_.MPI_Iprobe(mpi::any_source, agree_tag, comm_, &sends, mpi::no_status));
  if (!sends) return;
  end_sent_ = true;
  notices_->broadcast_abort("end of the program");
}

void Processes::abandon(std::string_view why) noexcept try {
  const std::lock_guard lock(mutex_.get());
  check_usable();
  ++errors_;
  notices_->broadcast_error(errors_, waits_, why);
} catch (...) {  // no process can be notified
}

/// All-reduces the minimum of each word and of its complement: the two are complements only if all words are equal.
void Processes::compare(const Call& call) {
  const Words words = words_of(call);
  bool equal = true;
  exchange([&](Exchange& e) {
    auto* const both = reinterpret_cast<std::int64_t*>(e.allocate(2 * sizeof(Words)));
    for (std::size_t i = 0; i < call_words; ++i) both[i] = words[i], both[call_words + i] = ~words[i];
    start(e, call, "MPI_Iallreduce", [&](mpi::Request* request) {
      return mpi_.MPI_Iallreduce(mpi::in_place, both, 2 * call_words, mpi_.int64, mpi_.minimum, comm_, request);
    });
    wait(e, call);
    for (std::size_t i = 0; i < call_words; ++i) equal = equal && both[i] == ~both[call_words + i];
  });
  if (!equal) report_difference(call);
}

std::vector<std::int64_t> Processes::gather(const Call& call, std::span<const std::int64_t> own) {
  std::vector<std::int64_t> result(own.size() * static_cast<std::size_t>(size_));
  exchange([&](Exchange& e) {
    auto* const mine = reinterpret_cast<std::int64_t*>(e.allocate(own.size_bytes()));
    auto* const all = reinterpret_cast<std::int64_t*>(e.allocate(result.size() * sizeof(std::int64_t)));
    std::ranges::copy(own, mine);
    const int n = static_cast<int>(own.size());
    start(e, call, "MPI_Iallgather", [&](mpi::Request* request) {
      return mpi_.MPI_Iallgather(mine, n, mpi_.int64, all, n, mpi_.int64, comm_, request);
    });
    wait(e, call);
    std::copy_n(all, result.size(), result.begin());
  });
  return result;
}

void Processes::report_difference(const Call& call) {
  const std::vector<std::int64_t> all = gather(call, words_of(call));
  std::map<std::string, std::vector<int>> callers;
  for (int r = 0; r < size_; ++r) {
    const std::int64_t* const words = &all[static_cast<std::size_t>(r) * call_words];
    callers[describe(call_of(std::span<const std::int64_t, call_words>(words, call_words)))].push_back(r);
  }
  broken_ = fmt::format("process {} of {} under MPI, in {}: the processes make different calls", process_, size_,
                        describe(call));
  for (const auto& [what, who] : callers) broken_ += fmt::format("\n  {}: {}", process_list(who), what);
  throw Error(broken_);
}

void Processes::compare_with(int peer, const Call& call) {
  Words theirs{};
  exchange([&](Exchange& e) {
    auto* const words = reinterpret_cast<std::int64_t*>(e.allocate(2 * sizeof(Words)));
    std::ranges::copy(words_of(call), words);
    start(e, call, "MPI_Irecv", [&](mpi::Request* request) {
      return mpi_.MPI_Irecv(words + call_words, call_words, mpi_.int64, peer, agree_tag, comm_, request);
    });
    start(e, call, "MPI_Isend", [&](mpi::Request* request) {
      return mpi_.MPI_Isend(words, call_words, mpi_.int64, peer, agree_tag, comm_, request);
    });
    wait(e, call, peer);
    std::copy_n(words + call_words, call_words, theirs.begin());
  });
  if (const Call other = call_of(theirs); other != call)
    give_up(call, fmt::format("the processes make different calls: process {}: {}", peer, describe(other)));
}

void Processes::at_exit() noexcept {
  if (Processes* const p = started_processes) p->end();
}

/// MPI's finalization waits for all processes. So does this, except for processes that will never arrive; mpirun ends
/// the others if one exits without finalizing.
void Processes::end() noexcept try {
  if (generation_ != generation() || lost_ || !notices_) return;
  const std::lock_guard lock(mutex_.get());
  int finalized = 0;
  mpi_.MPI_Finalized(&finalized);
  if (finalized) return;
  compare({.kind = CallKind::End});
  broken_ = "the program has ended";
  notices_->stop();
  mpi_.MPI_Finalize();
} catch (...) {
  // Gives the others time to report why they gave up: mpirun ends them when this process exits without finalizing MPI.
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

}  // namespace sinter::inline v1::runtime
