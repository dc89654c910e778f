// What a process tells all others when it gives up, so that they do not wait for it, and it learns who is still there.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi_library.hpp"

namespace sinter::inline v1::runtime {

/// "rank 2", "ranks 0, 2, 3".
std::string rank_list(const std::vector<int>& ranks);

/// Not thread-safe. Never throws but std::bad_alloc: where something is wrong already, what is wrong with this is
/// passed over.
class Notices {
 public:
  Notices(const mpi::Library& mpi, mpi::Comm comm, int rank, int size);
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  /// What another process gave up, if one did: "rank 1 gave up: ..."
  std::optional<std::string> heard();
  /// Tells all others of an error, this process's `errors`-th, after so many waits of all processes together. Waits for
  /// nobody.
  void tell_error(int errors, std::int64_t waits, std::string_view what);
  /// Why another process, or this very `peer` unless it is negative, will not do its part where this one waits, after
  /// `waits` waits and `errors` errors of its own: "rank 1 does not take part, for an error of its own: ..."
  std::optional<std::string> missing(int errors, std::int64_t waits, int peer);
  /// Tells all others that this process gave up. Waits for nobody.
  void tell_only(std::string_view what);
  /// The same to all others, who answer in the same way when they come to listen. Gives the ranks of which none was
  /// heard within a second.
  std::vector<int> tell(std::string_view what);
  /// To be called before MPI ends.
  void stop();

 private:
  struct Notice {
    int rank;
    int errors = 0;  // 0: it gave up
    std::int64_t waits = 0;
    char text[1008];
  };
  struct Sent {
    Notice* notice;  // stays until all have received it, which may be never
    std::vector<mpi::Request> requests;
  };
  void send(int errors, std::int64_t waits, std::string_view what);
  void forget_delivered();
  void listen();

  const mpi::Library& mpi_;
  mpi::Comm comm_;
  int rank_;
  Notice* arriving_;  // stays for ever: where MPI does not end, it may write there as long as the process lives
  mpi::Request request_ = nullptr;
  std::vector<bool> heard_of_;
  std::vector<Notice> errors_;  // of others
  std::vector<Sent> sent_;
};

}  // namespace sinter::inline v1::runtime
