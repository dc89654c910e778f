// Notices that a process sends when it fails, so that others do not wait for it and it learns who is still alive.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi_library.hpp"

namespace sinter::inline v1::runtime {

/// "process 2", "processes 0, 2, 3".
std::string process_list(const std::vector<int>& processes);

/// Not thread-safe. Throws nothing but std::bad_alloc: its own failures are ignored, since an error is already being
/// handled.
class Notices {
 public:
  Notices(const mpi::Library& mpi, mpi::Comm comm, int process, int size);
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  /// Another process's notice that it gave up, if one did: "process 1 gave up: ..."
  std::optional<std::string> poll_abort();
  /// Reports an error, this process's `errors`-th, to all others, after `waits` waits of all processes together. Does
  /// not wait.
  void broadcast_error(int errors, std::int64_t waits, std::string_view what);
  /// Why another process, or only `peer` unless it is negative, will not take part in the call that this one waits in,
  /// after `waits` waits and `errors` errors of its own: "process 1 does not take part because of an error: ..."
  std::optional<std::string> missing(int errors, std::int64_t waits, int peer);
  /// Notifies all others that this process gave up. Does not wait.
  void broadcast_abort(std::string_view what);
  /// As broadcast_abort, and waits for the others' replies, which they send when they next listen. Returns the
  /// processes that did not reply within a second.
  std::vector<int> broadcast_abort_and_wait(std::string_view what);
  /// Must be called before MPI ends.
  void stop();

 private:
  struct Notice {
    int process;
    int errors = 0;  // 0: it gave up
    std::int64_t waits = 0;
    char text[1008];
  };
  struct Sent {
    Notice* notice;  // kept until all have received it, possibly forever
    std::vector<mpi::Request> requests;
  };
  void send(int errors, std::int64_t waits, std::string_view what);
  void forget_delivered();
  void listen();

  const mpi::Library& mpi_;
  mpi::Comm comm_;
  int process_;
  Notice* arriving_;  // never freed: MPI may write to it until the process ends
  mpi::Request request_ = nullptr;
  std::vector<bool> received_from_;
  std::vector<Notice> errors_;  // of others
  std::vector<Sent> sent_;
};

}  // namespace sinter::inline v1::runtime
