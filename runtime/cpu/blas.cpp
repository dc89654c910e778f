#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <string>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"
#include "../gate.hpp"
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

constinit Gate calls;

/// OpenBLAS's own handler ends its threads: a product that is being computed would wait for them for ever. So a fork
/// waits for it, however long it takes.
void before_fork() {
  calls.close();
  calls.wait_for_others(0, std::chrono::nanoseconds::max());
}
void after_fork() { calls.open(); }
void after_fork_in_child() {
  calls.forget_others(0);
  after_fork();
}

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

InBlas::InBlas() noexcept { calls.enter(); }
InBlas::~InBlas() { calls.leave(); }

const Blas& blas() {
  static constinit Immortal<const Blas> opened;
  return opened.get([] { return new Blas(open_blas()); });
}

}  // namespace sinter::inline v1::runtime
