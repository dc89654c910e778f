#include "driver.hpp"
#include "../fork.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "../environment.hpp"

namespace sinter::inline v1::runtime::driver {
namespace {

std::vector<const char*> places() {
  if (const char* named = trusted_getenv("SINTER_CUDA_DRIVER"); named && *named) return {named};
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
}

void* open_library(std::string& problem) {
  std::string tried;
  for (const char* place : places()) {
    if (void* library = dlopen(place, RTLD_LAZY | RTLD_LOCAL)) return library;
    fmt::format_to(std::back_inserter(tried), "{}{}", tried.empty() ? "" : "; ", dlerror());
  }
  problem = fmt::format("no CUDA driver was found (searched: {})", tried);
  return nullptr;
}

/// The path of a loaded library, which dlopen may have searched for by name.
std::string path_of(void* library) {
  Dl_info info{};
  const void* known = dlsym(library, "cuDriverGetVersion");
  return known && dladdr(known, &info) && info.dli_fname ? info.dli_fname : "that was found";
}

/// Fills the table; returns the first required function that the library lacks.
const char* resolve(void* library, Driver& driver) {
  const char* missing = nullptr;
#define SINTER_DRIVER_OPTIONAL(name, suffix, ...) \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, #name #suffix));
#define SINTER_DRIVER_REQUIRED(name, suffix, ...)   \
  SINTER_DRIVER_OPTIONAL(name, suffix, __VA_ARGS__) \
  if (!driver.name && !missing) missing = #name #suffix;
  SINTER_DRIVER_FUNCTIONS(SINTER_DRIVER_REQUIRED, SINTER_DRIVER_OPTIONAL)
#undef SINTER_DRIVER_REQUIRED
#undef SINTER_DRIVER_OPTIONAL
  return missing;
}

Opened find() {
  Opened found;
  void* library = nullptr;
  {
    const NoFork no_fork;  // a child cannot use the loader if another thread was in it
    library = open_library(found.problem);
  }
  if (!library) return found;
  found.path = path_of(library);
  if (const char* missing = resolve(library, found.functions)) {
    found.problem = fmt::format(
        "the CUDA driver {} cannot be used: it has no function {}, and CUDA 12.1 or newer is "
        "needed (update it)",
        found.path, missing);
    return found;
  }
  if (const CUresult result = found.functions.cuDriverGetVersion(&found.version); result != success)
    found.problem = "cuDriverGetVersion failed: " + describe(found.functions, result);
  else if (found.version < oldest_version)
    found.problem =
        fmt::format("the CUDA driver {} is too old: it supports CUDA {}.{}, and 12.1 or newer is needed (update it)",
                    found.path, found.version / 1000, found.version % 1000 / 10);
  return found;
}

Opened start(Opened found) {
  if (!found.problem.empty()) return found;
  const Driver& driver = found.functions;
  // A child of the process that began to initialize the driver cannot do so, whether or not that finished.
  constexpr unsigned none = ~0u;
  static constinit std::atomic<unsigned> begun{none};
  unsigned first = none;
  begun.compare_exchange_strong(first, generation());
  if (first != none && first != generation()) {
    found.problem =
        "the CUDA driver was being initialized when this process was forked: use CUDA only in the child, or exec";
    return found;
  }
  found.process = generation();
  if (const CUresult result = driver.cuInit(0); result != success)
    found.problem = "the CUDA driver cannot be initialized: " + describe(driver, result);
  else if (const CUresult counted = driver.cuDeviceGetCount(&found.devices); counted != success)
    found.problem = "the CUDA driver cannot count its devices: " + describe(driver, counted);
  else if (found.devices == 0)
    found.problem = "the CUDA driver reports no device (CUDA_VISIBLE_DEVICES may hide them)";
  return found;
}

const Opened& found_once() {
  static constinit NoDestructor<const Opened> found;
  return found.get([] { return new Opened(find()); });
}

}  // namespace

int version() { return found_once().version; }

const Opened& opened() {
  static constinit NoDestructor<const Opened> started;
  return started.get([] { return new Opened(start(found_once())); });
}

std::string describe(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &meaning);
  return fmt::format("{} ({}): {}", name ? name : "unnamed error", result, meaning ? meaning : "unknown");
}

}  // namespace sinter::inline v1::runtime::driver
