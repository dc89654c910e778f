// The calls of the C and C++ libraries that a fault can be put into: this program's definitions take the place of the
// libraries' own, count, and let one fail.
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
  OpenLibrary,  // dlopen, dlsym: as for a file that there is not
  Thread,       // pthread_create: EAGAIN
  Process,      // posix_spawn: EAGAIN
  Count
};
inline constexpr int kinds = static_cast<int>(Kind::Count);
const char* name_of(Kind kind) noexcept;
/// What an error that such a fault causes has in its message: one of these.
std::vector<std::string> causes(Kind kind);

/// One fault: of the calls of a kind the nth, counted from 0. None where nth is negative.
struct Fault {
  Kind kind = Kind::Allocate;
  long nth = -1;
};

/// What a run of a scenario leaves for whoever started its process.
struct Trace {
  static constexpr int most_calls = 1 << 18, most_frames = 48;
  long calls[kinds];                        // made while the fault was awaited
  bool is_recorded;                         // whether `places` is filled
  std::uint64_t places[kinds][most_calls];  // of each call a hash of the functions of the library that led to it
  bool happened;                            // the fault
  void* stack[most_frames];                 // of the call that failed
  int frames;
};

/// From here on calls are counted that the library makes, or the standard library for it, in any thread, and the fault
/// happens. `trace` is memory that is 0.
void await(Fault fault, Trace& trace) noexcept;
/// To here.
void stop() noexcept;
/// Between the two: whether it has.
bool fault_happened() noexcept;
/// While it lives, this thread's calls are none of the library's.
class Uncounted {
 public:
  Uncounted() noexcept;
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace sinter::faults
