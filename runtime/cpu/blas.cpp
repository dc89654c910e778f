#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <string>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"
#include "../symbol.hpp"

namespace sinter::inline v1::runtime {
namespace {

std::vector<std::string> candidates() {
  if (std::string named = environment("SINTER_OPENBLAS"); !named.empty()) return {std::move(named)};
  return {"libopenblas.so.0", "libopenblas.so"};
}

bool resolve(void* library, Blas& table) {
  return find_symbol(library, "cblas_sgemm", table.cblas_sgemm) &&
         find_symbol(library, "cblas_dgemm", table.cblas_dgemm) &&
         find_symbol(library, "cblas_cgemm", table.cblas_cgemm) &&
         find_symbol(library, "cblas_zgemm", table.cblas_zgemm);
}

/// Held by calls together, by a fork alone.
pthread_rwlock_t calls = PTHREAD_RWLOCK_INITIALIZER;
constinit bool fork_holds_calls = false;

void before_fork() {
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 5;
  fork_holds_calls = pthread_rwlock_timedwrlock(&calls, &limit) == 0;
}
void after_fork() {
  if (fork_holds_calls) pthread_rwlock_unlock(&calls);
}
void after_fork_in_child() { pthread_rwlock_init(&calls, nullptr); }

Blas open_blas() {
  std::string problems;
  const NoFork no_fork;  // a child cannot use the loader when another thread was in it
  for (const std::string& candidate : candidates()) {
    Blas table;
    void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library && resolve(library, table)) {
      // Handlers that come later run earlier: before OpenBLAS's own.
      pthread_atfork(before_fork, after_fork, after_fork_in_child);
      return table;
    }
    const char* const why = library ? nullptr : dlerror();
    problems += fmt::format("\n  {}", why ? why : candidate + ": it has no C interface (cblas_sgemm)");
    if (library) dlclose(library);
  }
  throw DeviceError(
      "OpenBLAS, which multiplies matrices on the CPU, was not found." + problems +
      "\nInstall it (Debian: apt install libopenblas0), or name its file in SINTER_OPENBLAS; it needs the C "
      "interface with integers of 32 bits");
}

}  // namespace

InBlas::InBlas() noexcept { pthread_rwlock_rdlock(&calls); }
InBlas::~InBlas() { pthread_rwlock_unlock(&calls); }

const Blas& blas() {
  static constinit Immortal<const Blas> opened;
  return opened.get([] { return new Blas(open_blas()); });
}

}  // namespace sinter::inline v1::runtime
