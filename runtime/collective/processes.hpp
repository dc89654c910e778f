// The processes that mpirun started, from the view of one of them: calls that are compared across processes, that wait
// no longer than a limit, and that fail in all processes once they have failed in one.
#pragma once
#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../fork.hpp"
#include "call.hpp"
#include "mpi_library.hpp"
#include "notices.hpp"

namespace sinter::inline v1::runtime {

/// The number of processes started by mpirun or srun, or 1. Reads only the environment.
int launched_processes();
/// This process's number among them, from the environment, so MPI need not be started; nullopt if it is not set.
std::optional<int> launched_process();

/// Operations in progress, and their memory, which is never freed if they do not finish.
struct Exchange {
  std::vector<mpi::Request> requests;
  std::vector<std::unique_ptr<std::byte[]>> memory;

  std::byte* allocate(std::size_t bytes) {
    return memory.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
  }
};

/// One per process. Functions called under its lock throw Error if processes make different calls or if one does not
/// respond, and always after that.
class Processes {
 public:
  /// Starts MPI on its first call, which is collective. Throws DeviceError.
  static Processes& get();

  int process() const noexcept { return process_; }
  int size() const noexcept { return size_; }
  const mpi::Library& mpi() const noexcept { return mpi_; }
  mpi::Comm comm() const noexcept { return comm_; }

  std::mutex& mutex() { return mutex_.get(); }
  /// Throws Error if communication is no longer possible.
  void check_usable() const;

  /// Runs `prepare`, which checks and reads this process's part; returns when every process makes the same call. An
  /// error in `prepare` is thrown here and reported to the others.
  template <class F>
  void agree(const Call& call, F prepare) {
    agree_after(call, prepare, [this](const Call& c) { compare(c); });
  }
  /// agree() between this process and one other.
  template <class F>
  void agree_with(int peer, const Call& call, F prepare) {
    agree_after(call, prepare, [this, peer](const Call& c) { compare_with(peer, c); });
  }

  /// Reports that this process failed in an evaluation by all processes and will not make the call in which the others
  /// wait, or the next one; that is an error for them. They can continue together only if all of them failed. Never
  /// throws.
  void abandon(std::string_view why) noexcept;

  /// Starts an operation of `exchange`: f receives the place for its request and returns MPI's result.
  template <class F>
  void start(Exchange& exchange, const Call& call, const char* function, F f) {
    exchange.requests.push_back(nullptr);
    check(call, function, f(&exchange.requests.back()));
  }
  /// Waits until all operations are done; they involve all processes, or this one and a peer.
  void wait(Exchange& exchange, const Call& call, int peer = of_all);
  static constexpr int of_all = -1;

  /// Runs f(exchange), which starts operations and waits for them.
  template <class F>
  void exchange(F f) {
    auto operations = std::make_unique<Exchange>();
    try {
      f(*operations);
    } catch (...) {
      if (!operations->requests.empty()) operations.release();  // MPI may still use them
      throw;
    }
  }

  /// The same number of integers from every process, in process order.
  std::vector<std::int64_t> gather(const Call& call, std::span<const std::int64_t> own);

  /// The MPI type of elements of this many bytes.
  mpi::Datatype element(std::size_t bytes);
  /// combine() on such elements, as an MPI operation.
  mpi::Op operation(DType dtype, ReduceOp how);

 private:
  struct Start;
  static Start start_mpi(const mpi::Library& mpi, bool ours);
  Processes();
  void check(const Call& call, const char* function, int result);
  [[noreturn]] void give_up(const Call& call, const std::string& why);
  void compare(const Call& call);
  void compare_with(int peer, const Call& call);
  struct Grace;
  [[noreturn]] void report_difference(const Call& call);
  void look_around(const Call& call, int peer, Grace& grace);
  template <class F, class G>
  void agree_after(const Call& call, F prepare, G compare_all) {
    check_usable();
    std::exception_ptr refused;
    try {
      prepare();
    } catch (...) {
      refused = std::current_exception();
    }
    try {
      Call own = refused ? Call{.kind = CallKind::Refused} : call;
      own.errors = errors_;
      compare_all(own);
    } catch (...) {
      if (!refused) throw;
    }
    if (refused) std::rethrow_exception(refused);
  }
  void broadcast_end(const Call& call);
  static void at_exit() noexcept;
  void end() noexcept;

  const mpi::Library& mpi_;
  ForkLocal<std::mutex> mutex_;
  const unsigned generation_ = generation();
  int process_ = 0, size_ = 1;
  mpi::Comm comm_ = nullptr;
  bool of_main_thread_ = false;  // the program initialized MPI for calls of its main thread only
  std::optional<Notices> notices_;
  std::string broken_;      // why communication is no longer possible
  bool lost_ = false;       // out of sync with the other processes
  std::int64_t waits_ = 0;  // finished waits of all processes together
  int errors_ = 0;          // number of errors reported by abandon()
  bool end_sent_ = false;
  std::array<mpi::Datatype, 17> elements_{};
  std::array<mpi::Op, 64> operations_{};
};

}  // namespace sinter::inline v1::runtime
