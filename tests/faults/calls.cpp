#include "calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "blocks.hpp"

extern "C" {  // glibc's own, beneath the names that are replaced
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace sinter::faults {
namespace {

std::atomic<Trace*> trace{nullptr};  // while calls are counted
Fault awaited;
std::atomic<long> counts[kinds];
thread_local bool inside = false;  // this thread counts a call, and what that calls does not count

struct Segment {
  std::uintptr_t begin, end;
  bool is_program;
};
constexpr int max_segments = 64;
Segment segments[max_segments];  // code whose calls count
int segment_count = 0;

/// Beside the library what does its work: the standard library, what formats and unpacks, and this program, for
/// templates. Not the C library, whose own lack of memory ends a process (of thread-local storage), nor oneTBB and
/// OpenBLAS, whose lack of threads does.
bool counts_for_the_library(const char* path) {
  if (!*path) return true;
  const char* slash = std::strrchr(path, '/');
  const char* const file = slash ? slash + 1 : path;
  for (const char* name : {"libsinter.", "libstdc++.", "libc++.", "libfmt.", "libz."})
    if (std::strncmp(file, name, std::strlen(name)) == 0) return true;
  return false;
}

int add_segments(dl_phdr_info* object, std::size_t, void*) {
  if (!counts_for_the_library(object->dlpi_name)) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = object->dlpi_phdr[i];
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) && segment_count < max_segments)
      segments[segment_count++] = {object->dlpi_addr + p.p_vaddr, object->dlpi_addr + p.p_vaddr + p.p_memsz,
                                   !*object->dlpi_name};
  }
  return 0;
}

const Segment* segment_of(const void* code) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(code);
  for (int i = 0; i < segment_count; ++i)
    if (at >= segments[i].begin && at < segments[i].end) return &segments[i];
  return nullptr;
}

/// Of the functions outside this program.
std::uint64_t hash_of(void* const* frames, int n) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < n; ++i)
    if (const Segment* s = segment_of(frames[i]); s && !s->is_program)
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 0x100000001b3;
  return hash;
}

/// Counts a call, and says whether it is to fail. `nth`: which one of its kind it is, -1 where it does not count.
bool fails(Kind kind, const void* caller, long& nth) noexcept {
  nth = -1;
  Trace* const t = trace.load(std::memory_order_acquire);
  if (!t || inside || !segment_of(caller)) return false;
  const auto k = static_cast<int>(kind);
  nth = counts[k]++;
  const bool chosen = awaited.kind == kind && awaited.nth == nth;
  if (!chosen && (!t->is_recorded || nth >= Trace::max_calls)) return false;
  inside = true;
  const int error = errno;
  void* stack[Trace::max_frames];
  const int n = ::backtrace(stack, Trace::max_frames);
  if (t->is_recorded && nth < Trace::max_calls) t->places[k][nth] = hash_of(stack, n);
  if (chosen) {
    std::memcpy(t->stack, stack, sizeof stack);
    t->frames = n;
    t->happened = true;
  }
  errno = error;
  inside = false;
  return chosen;
}

bool fails(Kind kind, const void* caller) noexcept {
  long nth;
  return fails(kind, caller, nth);
}

/// For functions that give -1 and say why in errno.
template <class R = int>
R failure(int error, R result = R(-1)) noexcept {
  errno = error;
  return result;
}

void* counted(void* block, long nth) noexcept {
  if (block) block_taken(block, nth);
  return block;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  long nth;
  if (fails(Kind::Allocate, caller, nth)) return nullptr;
  return counted(alignment > alignof(std::max_align_t) ? __libc_memalign(alignment, bytes) : __libc_malloc(bytes), nth);
}
void release(void* block) noexcept {
  if (block) block_given_back(block);
  __libc_free(block);
}

void* new_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (void* block = allocate(bytes ? bytes : 1, alignment, caller)) return block;
  throw std::bad_alloc();
}

/// The function whose name this program has taken.
template <class F>
F* next(const char* name) noexcept {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list rest) noexcept { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

}  // namespace

const char* name_of(Kind kind) noexcept {
  constexpr const char* names[kinds] = {"allocate",    "map",    "open",         "read",   "read-less",
                                        "interrupt",   "write",  "write-less",   "close",  "rename",
                                        "make-folder", "status", "open-library", "thread", "process"};
  return names[static_cast<int>(kind)];
}

std::vector<std::string> causes(Kind kind) {
  switch (kind) {
    case Kind::Allocate: return {"bad_alloc", "memory"};
    case Kind::Map: return {"memory"};
    case Kind::Open: return {"Too many open files", "Cannot allocate memory"};
    case Kind::Read:
    case Kind::Close:
    case Kind::Rename: return {"Input/output error"};
    // std::filesystem takes a folder that it cannot look at for missing.
    case Kind::Status: return {"Input/output error", "No such file or directory"};
    case Kind::Write:
    case Kind::MakeFolder: return {"No space left on device"};
    case Kind::OpenLibrary: return {"cannot open shared object file", "undefined symbol"};
    case Kind::Thread: return {"thread", "Resource temporarily unavailable"};
    case Kind::Process: return {"Resource temporarily unavailable"};
    default: return {};  // no error follows
  }
}

void await(Fault fault, Trace& t) noexcept {
  void* first[1];
  ::backtrace(first, 1);  // opens a library the first time
  segment_count = 0;
  ::dl_iterate_phdr(add_segments, nullptr);
  for (std::atomic<long>& n : counts) n = 0;
  awaited = fault;
  trace.store(&t, std::memory_order_release);
}

bool fault_happened() noexcept {
  const Trace* const t = trace.load();
  return t && t->happened;
}

Uncounted::Uncounted() noexcept { inside = true; }
Uncounted::~Uncounted() { inside = false; }

void stop() noexcept {
  Trace* const t = trace.exchange(nullptr);
  for (int k = 0; k < kinds; ++k) t->calls[k] = counts[k];
}

}  // namespace sinter::faults

using sinter::faults::Kind;
using namespace sinter::faults;  // NOLINT: what follows has to be outside
#define CALLER __builtin_return_address(0)
/// The one called NAME that is not ours.
#define NEXT(name)                                     \
  (*[] {                                               \
    static const auto f = next<decltype(name)>(#name); \
    return f;                                          \
  }())
#define NOINLINE [[gnu::noinline]]

// The compiler would see malloc meet delete.
NOINLINE void* operator new(std::size_t n) { return new_or_throw(n, 0, CALLER); }
NOINLINE void* operator new[](std::size_t n) { return new_or_throw(n, 0, CALLER); }
NOINLINE void* operator new(std::size_t n, std::align_val_t a) { return new_or_throw(n, std::size_t(a), CALLER); }
NOINLINE void* operator new[](std::size_t n, std::align_val_t a) { return new_or_throw(n, std::size_t(a), CALLER); }
NOINLINE void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n ? n : 1, 0, CALLER); }
NOINLINE void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n ? n : 1, 0, CALLER); }
NOINLINE void operator delete(void* p) noexcept { release(p); }
NOINLINE void operator delete[](void* p) noexcept { release(p); }
NOINLINE void operator delete(void* p, std::size_t) noexcept { release(p); }
NOINLINE void operator delete[](void* p, std::size_t) noexcept { release(p); }
NOINLINE void operator delete(void* p, std::align_val_t) noexcept { release(p); }
NOINLINE void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
NOINLINE void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
NOINLINE void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
NOINLINE void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
NOINLINE void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }

extern "C" {

NOINLINE void* malloc(std::size_t n) noexcept { return allocate(n, 0, CALLER); }
NOINLINE void* calloc(std::size_t n, std::size_t size) noexcept {
  long nth;
  return fails(Kind::Allocate, CALLER, nth) ? nullptr : counted(__libc_calloc(n, size), nth);
}
NOINLINE void* realloc(void* p, std::size_t n) noexcept {
  long nth;
  if (fails(Kind::Allocate, CALLER, nth)) return nullptr;
  if (p) block_given_back(p);
  void* const block = __libc_realloc(p, n);
  if (block) return counted(block, nth);
  if (p && n > 0) block_taken(p, nth);
  return nullptr;
}
NOINLINE void* aligned_alloc(std::size_t a, std::size_t n) noexcept { return allocate(n, a, CALLER); }
NOINLINE void* memalign(std::size_t a, std::size_t n) noexcept { return allocate(n, a, CALLER); }
NOINLINE int posix_memalign(void** p, std::size_t a, std::size_t n) noexcept {
  void* const block = allocate(n, a, CALLER);
  if (!block) return ENOMEM;
  *p = block;
  return 0;
}
NOINLINE void free(void* p) noexcept { release(p); }

void* mmap(void* at, std::size_t n, int protection, int flags, int file, off_t offset) noexcept {
  return fails(Kind::Map, CALLER) ? failure(ENOMEM, MAP_FAILED) : NEXT(mmap)(at, n, protection, flags, file, offset);
}
int mprotect(void* at, std::size_t n, int protection) noexcept {
  return fails(Kind::Map, CALLER) ? failure(ENOMEM) : NEXT(mprotect)(at, n, protection);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(Kind::Open, CALLER) ? failure(EMFILE) : NEXT(open)(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(Kind::Open, CALLER) ? failure(EMFILE) : NEXT(openat)(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return fails(Kind::Open, CALLER) ? failure<FILE*>(EMFILE, nullptr) : NEXT(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails(Kind::Open, CALLER) ? failure<FILE*>(EMFILE, nullptr) : NEXT(fopen64)(path, mode);
}
DIR* opendir(const char* path) {
  return fails(Kind::Open, CALLER) ? failure<DIR*>(EMFILE, nullptr) : NEXT(opendir)(path);
}
DIR* fdopendir(int file) { return fails(Kind::Open, CALLER) ? failure<DIR*>(ENOMEM, nullptr) : NEXT(fdopendir)(file); }
int memfd_create(const char* name, unsigned flags) noexcept {
  return fails(Kind::Open, CALLER) ? failure(EMFILE) : NEXT(memfd_create)(name, flags);
}
char* mkdtemp(char* path) noexcept {
  return fails(Kind::Open, CALLER) ? failure<char*>(EMFILE, nullptr) : NEXT(mkdtemp)(path);
}
int pipe2(int* ends, int flags) noexcept {
  return fails(Kind::Open, CALLER) ? failure(EMFILE) : NEXT(pipe2)(ends, flags);
}

ssize_t read(int file, void* to, std::size_t n) {
  if (fails(Kind::Interrupt, CALLER)) return failure(EINTR);
  if (fails(Kind::Read, CALLER)) return failure(EIO);
  return NEXT(read)(file, to, n > 1 && fails(Kind::ReadLess, CALLER) ? 1 : n);
}
ssize_t pread(int file, void* to, std::size_t n, off_t offset) {
  if (fails(Kind::Interrupt, CALLER)) return failure(EINTR);
  if (fails(Kind::Read, CALLER)) return failure(EIO);
  return NEXT(pread)(file, to, n > 1 && fails(Kind::ReadLess, CALLER) ? 1 : n, offset);
}
ssize_t write(int file, const void* from, std::size_t n) {
  if (fails(Kind::Interrupt, CALLER)) return failure(EINTR);
  if (fails(Kind::Write, CALLER)) return failure(ENOSPC);
  return NEXT(write)(file, from, n > 1 && fails(Kind::WriteLess, CALLER) ? 1 : n);
}
ssize_t pwrite(int file, const void* from, std::size_t n, off_t offset) {
  if (fails(Kind::Interrupt, CALLER)) return failure(EINTR);
  if (fails(Kind::Write, CALLER)) return failure(ENOSPC);
  return NEXT(pwrite)(file, from, n > 1 && fails(Kind::WriteLess, CALLER) ? 1 : n, offset);
}
ssize_t writev(int file, const iovec* from, int n) {
  if (fails(Kind::Interrupt, CALLER)) return failure(EINTR);
  return fails(Kind::Write, CALLER) ? failure(ENOSPC) : NEXT(writev)(file, from, n);
}
/// Closes even where it fails, as Linux does.
int close(int file) {
  const int mode = ::fcntl(file, F_GETFL);
  const bool failing = mode >= 0 && (mode & O_ACCMODE) != O_RDONLY && fails(Kind::Close, CALLER);
  const int result = NEXT(close)(file);
  return failing ? failure(EIO) : result;
}

int rename(const char* from, const char* to) noexcept {
  return fails(Kind::Rename, CALLER) ? failure(EIO) : NEXT(rename)(from, to);
}
int renameat(int a, const char* from, int b, const char* to) noexcept {
  return fails(Kind::Rename, CALLER) ? failure(EIO) : NEXT(renameat)(a, from, b, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails(Kind::MakeFolder, CALLER) ? failure(ENOSPC) : NEXT(mkdir)(path, mode);
}
int stat(const char* path, struct stat* s) noexcept {
  return fails(Kind::Status, CALLER) ? failure(EIO) : NEXT(stat)(path, s);
}
int lstat(const char* path, struct stat* s) noexcept {
  return fails(Kind::Status, CALLER) ? failure(EIO) : NEXT(lstat)(path, s);
}
int fstat(int file, struct stat* s) noexcept {
  return fails(Kind::Status, CALLER) ? failure(EIO) : NEXT(fstat)(file, s);
}
int fstatat(int folder, const char* path, struct stat* s, int flags) noexcept {
  return fails(Kind::Status, CALLER) ? failure(EIO) : NEXT(fstatat)(folder, path, s, flags);
}
int access(const char* path, int mode) noexcept {
  return fails(Kind::Status, CALLER) ? failure(EIO) : NEXT(access)(path, mode);
}

/// A real failure, so that dlerror() has something to say.
void* dlopen(const char* path, int flags) {
  return NEXT(dlopen)(fails(Kind::OpenLibrary, CALLER) ? "/no/such/library.so" : path, flags);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* data) noexcept {
  return fails(Kind::Thread, CALLER) ? EAGAIN : NEXT(pthread_create)(thread, attributes, run, data);
}
int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* variables) {
  return fails(Kind::Process, CALLER) ? EAGAIN
                                      : NEXT(posix_spawnp)(child, file, actions, attributes, arguments, variables);
}
pid_t waitpid(pid_t child, int* status, int options) {
  return fails(Kind::Interrupt, CALLER) ? failure(EINTR) : NEXT(waitpid)(child, status, options);
}

}  // extern "C"
