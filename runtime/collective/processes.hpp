// The processes that mpirun started, as one of them sees the others: calls that are compared, that wait no longer than
// a limit, and that fail for all once they failed for one.
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

/// The number of processes that mpirun, or srun, says it started; 1 without. Asks the environment alone.
int launched_processes();
/// This process's number among them, as its environment says: MPI need not be started. None without one.
std::optional<int> launched_rank();

/// Operations under way, and their memory, which stays for ever where they do not end.
struct Exchange {
  std::vector<mpi::Request> requests;
  std::vector<std::unique_ptr<std::byte[]>> memory;

  std::byte* allocate(std::size_t bytes) {
    return memory.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
  }
};

/// One for each process. What is called under its lock throws Error where the processes differ, where one gives no
/// answer, and from then on.
class Processes {
 public:
  /// Starts MPI on its first call, which is collective. Throws DeviceError.
  static Processes& get();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  const mpi::Library& mpi() const noexcept { return mpi_; }
  mpi::Comm comm() const noexcept { return comm_; }

  std::mutex& mutex() { return mutex_.get(); }
  /// Throws Error where nothing can be exchanged any more.
  void check_usable() const;

  /// Runs `prepare`, which checks and reads what this process brings; then returns where every process makes this very
  /// call. An error of `prepare` is thrown here, and the others learn of it.
  template <class F>
  void agree(const Call& call, F prepare) {
    agree_after(call, prepare, [this](const Call& c) { compare(c); });
  }
  /// The same between this process and another alone.
  template <class F>
  void agree_with(int peer, const Call& call, F prepare) {
    agree_after(call, prepare, [this, peer](const Call& c) { compare_with(peer, c); });
  }

  /// This process has an error where all evaluate together, and will not make the call that the others wait in, or
  /// make next: they hear so, and it is an error for them. Only where all had one too do they go on together. Never
  /// throws.
  void abandon(std::string_view why) noexcept;

  /// Starts an operation of `exchange`: f is given where its request goes, and gives MPI's result.
  template <class F>
  void start(Exchange& exchange, const Call& call, const char* function, F f) {
    exchange.requests.push_back(nullptr);
    check(call, function, f(&exchange.requests.back()));
  }
  /// Until all operations are done, which are of all processes, or of this one and a peer.
  void wait(Exchange& exchange, const Call& call, int peer = of_all);
  static constexpr int of_all = -1;

  /// Runs f(exchange), which starts operations and waits for them.
  template <class F>
  void exchange(F f) {
    auto operations = std::make_unique<Exchange>();
    try {
      f(*operations);
    } catch (...) {
      if (!operations->requests.empty()) operations.release();  // MPI may still use it
      throw;
    }
  }

  /// As many numbers of every process, in the order of ranks.
  std::vector<std::int64_t> gather(const Call& call, std::span<const std::int64_t> own);

  /// Of elements of so many bytes.
  mpi::Datatype element(std::size_t bytes);
  /// combine() on such elements, as an operation of MPI.
  mpi::Op operation(DType dtype, Combine how);

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
  void tell_end(const Call& call);
  static void at_exit() noexcept;
  void end() noexcept;

  const mpi::Library& mpi_;
  PerProcess<std::mutex> mutex_;
  const unsigned process_ = generation();
  int rank_ = 0, size_ = 1;
  mpi::Comm comm_ = nullptr;
  bool of_main_thread_ = false;  // the program started MPI for calls of its main thread alone
  std::optional<Notices> notices_;
  std::string broken_;      // why nothing can be exchanged any more
  bool lost_ = false;       // MPI itself is not where all others are
  std::int64_t waits_ = 0;  // of all processes together that are over
  int errors_ = 0;          // that abandon() told
  bool told_end_ = false;
  std::array<mpi::Datatype, 17> elements_{};
  std::array<mpi::Op, 64> operations_{};
};

}  // namespace sinter::inline v1::runtime
