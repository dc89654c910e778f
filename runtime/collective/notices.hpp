// What a process tells all others when it gives up, so that they do not wait for it, and it learns who is still there.
#pragma once
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
  /// Tells all others, who answer in the same way when they come to listen. Gives the ranks of which none was heard
  /// within a second.
  std::vector<int> tell(std::string_view what);
  /// To be called before MPI ends.
  void stop();

 private:
  struct Notice {
    int rank;
    char text[508];
  };
  void listen();

  const mpi::Library& mpi_;
  mpi::Comm comm_;
  int rank_;
  Notice* arriving_;  // stays for ever: where MPI does not end, it may write there as long as the process lives
  mpi::Request request_ = nullptr;
  std::vector<bool> heard_of_;
};

}  // namespace sinter::inline v1::runtime
