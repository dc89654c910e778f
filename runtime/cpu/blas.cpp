#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

std::vector<std::string> candidates() {
  if (std::string named = environment("SINTER_OPENBLAS"); !named.empty()) return {std::move(named)};
  return {"libopenblas.so.0", "libopenblas.so"};
}

template <class F>
bool resolve(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool resolve(void* library, Blas& table) {
  return resolve(library, "cblas_sgemm", table.cblas_sgemm) && resolve(library, "cblas_dgemm", table.cblas_dgemm) &&
         resolve(library, "cblas_cgemm", table.cblas_cgemm) && resolve(library, "cblas_zgemm", table.cblas_zgemm);
}

Blas open_blas() {
  std::string problems;
  const NoFork no_fork;  // a child cannot use the loader when another thread was in it
  for (const std::string& candidate : candidates()) {
    Blas table;
    void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library && resolve(library, table)) return table;
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

const Blas& blas() {
  static constinit Immortal<const Blas> opened;
  return opened.get([] { return new Blas(open_blas()); });
}

}  // namespace sinter::inline v1::runtime
