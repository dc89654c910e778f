#include "cublas_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <sinter/runtime/error.hpp>
#include "../fork.hpp"
#include "../symbol.hpp"
#include "library_search.hpp"

namespace sinter::inline v1::runtime::cublas {
namespace {

/// Sonames, newest first.
constexpr const char* sonames[] = {"libcublasLt.so.14", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

bool resolve(void* opened, Library& table) {
  bool complete = find_symbol(opened, "cublasLtGetCudartVersion", table.cublasLtGetCudartVersion);
#define SINTER_CUBLAS_RESOLVE(name, ...) complete &= find_symbol(opened, #name, table.name);
  SINTER_CUBLAS_FUNCTIONS(SINTER_CUBLAS_RESOLVE)
#undef SINTER_CUBLAS_RESOLVE
  return complete;
}

/// Minor versions are compatible with each other's drivers, major ones only with newer drivers.
bool runs_on_driver(const Library& table) {
  return driver::version() == 0 ||
         static_cast<int>(table.cublasLtGetCudartVersion()) / 1000 <= driver::version() / 1000;
}

Library open_library() {
  std::string problems;
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  // Prefer what the process has already loaded: two versions of one library in a process cause trouble.
  for (const int flags : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY | RTLD_LOCAL})
    for (const std::string& candidate : library_candidates("SINTER_CUBLAS", "libcublasLt.so", sonames)) {
      Library table;
      void* const opened = dlopen(candidate.c_str(), flags);
      const char* const why = opened ? nullptr : dlerror();
      if (opened && resolve(opened, table) && runs_on_driver(table)) return table;
      if (flags & RTLD_NOLOAD) {
        if (opened) dlclose(opened);
        continue;
      }
      problems += fmt::format("\n  {}", why ? why : candidate + ": not cuBLASLt, or newer than the driver");
      if (opened) dlclose(opened);
    }
  throw DeviceError(fmt::format(
      "cuBLASLt, which multiplies matrices on GPUs, was not found (libcublasLt.so). Searched: {}.{}\nInstall "
      "the CUDA toolkit or `pip install nvidia-cublas`, or set SINTER_CUBLAS to its file",
      searched_places("SINTER_CUBLAS"), problems));
}

}  // namespace

const Library& library() {
  static constinit NoDestructor<const Library> opened;
  return opened.get([] { return new Library(open_library()); });
}

std::string describe(Status status) {
  const char* const name = [&] {
    switch (status) {
      case success: return "CUBLAS_STATUS_SUCCESS";
      case 1: return "CUBLAS_STATUS_NOT_INITIALIZED";
      case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
      case 7: return "CUBLAS_STATUS_INVALID_VALUE";
      case 8: return "CUBLAS_STATUS_ARCH_MISMATCH";
      case 11: return "CUBLAS_STATUS_MAPPING_ERROR";
      case 13: return "CUBLAS_STATUS_EXECUTION_FAILED";
      case 14: return "CUBLAS_STATUS_INTERNAL_ERROR";
      case not_supported: return "CUBLAS_STATUS_NOT_SUPPORTED";
      case 16: return "CUBLAS_STATUS_LICENSE_ERROR";
      default: return "an unknown CUBLAS_STATUS";
    }
  }();
  return fmt::format("{} ({})", name, status);
}

}  // namespace sinter::inline v1::runtime::cublas
