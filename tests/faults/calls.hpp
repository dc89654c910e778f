// The calls of the C and C++ libraries that can be made to fail: this program's definitions replace the libraries' own,
// count, and let one fail.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::faults {

/// A kind of call, and how it fails.
enum class Kind : std::uint8_t {
  Allocate,     // operator new, malloc and their like: no memory
  Map,          // mmap, mprotect: ENOMEM
  Open,         // open, openat, fopen, opendir, memfd_create, mkdtemp, pipe2: EMFILE
  Read,         // read, pread: EIO
  ReadLess,     // read, pread: a byte
  Interrupt,    // read, write, pread, pwrite, waitpid: EINTR
  Write,        // write, pwrite, writev: ENOSPC
  WriteLess,    // write, pwrite: a byte
  Close,        // close, of files that were written to: EIO
  Rename,       // rename, renameat: EIO
  MakeFolder,   // mkdir: ENOSPC
  Status,       // stat, fstat, fstatat, lstat, access: EIO
  OpenLibrary,  // dlopen, dlsym: as for a missing file
  Thread,       // pthread_create: EAGAIN
  Process,      // posix_spawn: EAGAIN
  Count
};
inline constexpr int kinds = static_cast<int>(Kind::Count);
const char* name_of(Kind kind) noexcept;
/// Strings of which the message of an error caused by such a fault contains one.
std::vector<std::string> causes(Kind kind);

/// One fault: the nth call of a kind, counted from 0. None if nth is negative.
struct Fault {
  Kind kind = Kind::Allocate;
  long nth = -1;
};

/// What a run of a scenario leaves for the process that started it.
struct Trace {
  static constexpr int max_calls = 1 << 18, max_frames = 48;
  long calls[kinds];                       // made while waiting for the fault
  bool is_recorded;                        // whether `places` is filled
  std::uint64_t places[kinds][max_calls];  // for each call, a hash of the library's functions that led to it
  bool happened;                           // the fault
  void* stack[max_frames];                 // of the call that failed
  int frames;
};

/// From here on counts the calls that the library makes, or the standard library for it, in any thread, and injects the
/// fault. `trace` is zeroed memory.
void await(Fault fault, Trace& trace) noexcept;
/// Ends counting.
void stop() noexcept;
/// Whether the fault has happened, between the two.
bool fault_happened() noexcept;
/// During its lifetime, this thread's calls do not count as the library's.
class Uncounted {
 public:
  Uncounted() noexcept;
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace sinter::faults
