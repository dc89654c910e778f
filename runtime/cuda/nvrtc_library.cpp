#include "nvrtc_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>

#include <sinter/runtime/error.hpp>
#include "../fork.hpp"
#include "../symbol.hpp"

#include "../large_stack.hpp"
#include "driver.hpp"
#include "library_search.hpp"
#include "nvrtc_identity.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// Sonames, newest first.
constexpr const char* sonames[] = {"libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

/// The identity of the process's NVRTC when it was loaded; null before.
constinit std::atomic<const std::string*> opened_identity{nullptr};

Nvrtc& open_once() {
  const auto& identity = *new std::string(nvrtc_identity(nvrtc_candidates()));
  Nvrtc& opened = *new Nvrtc(open_nvrtc(nvrtc_candidates(), driver::version()));
  // A compilation in progress at the end of the process must finish before NVRTC's static objects are destroyed.
  std::atexit(end_large_stacks);
  opened_identity.store(&identity, std::memory_order_release);
  return opened;
}

bool resolve(void* library, Nvrtc& table) {
  bool complete = true;
#define SINTER_NVRTC_REQUIRED(result, name, ...) complete &= find_symbol(library, #name, table.name);
#define SINTER_NVRTC_OPTIONAL(result, name, ...) find_symbol(library, #name, table.name);
  SINTER_NVRTC_FUNCTIONS(SINTER_NVRTC_REQUIRED, SINTER_NVRTC_OPTIONAL)
#undef SINTER_NVRTC_REQUIRED
#undef SINTER_NVRTC_OPTIONAL
  return complete && table.nvrtcVersion(&table.major, &table.minor) == nvrtc_success;
}

/// NVRTC looks for its builtins by name only, which fails unless they are in the loader's path or already loaded.
void load_builtins(void* library, const Nvrtc& table) {
  char folder[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_ORIGIN, folder) != 0) return;
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  dlopen(fmt::format("{}/libnvrtc-builtins.so.{}.{}", folder, table.major, table.minor).c_str(), RTLD_LAZY);
}

void ask_architectures(Nvrtc& table) {
  int count = 0;
  if (!table.nvrtcGetNumSupportedArchs || !table.nvrtcGetSupportedArchs) return;
  if (table.nvrtcGetNumSupportedArchs(&count) != nvrtc_success) return;
  table.architectures.resize(static_cast<std::size_t>(count));
  if (table.nvrtcGetSupportedArchs(table.architectures.data()) != nvrtc_success) table.architectures.clear();
  std::ranges::sort(table.architectures);
}

/// In the driver's numbering.
int cuda_version(const Nvrtc& table) { return 1000 * table.major + 10 * table.minor; }

struct Attempt {
  void* library = nullptr;
  Nvrtc table;
  std::string problem;
};

Attempt attempt(const std::string& candidate, int flags) {
  Attempt result;
  {
    const NoFork no_fork;
    result.library = dlopen(candidate.c_str(), flags);
  }
  if (!result.library) {
    const char* why = dlerror();
    result.problem = why ? why : candidate + ": not loaded";
  } else if (!resolve(result.library, result.table)) {
    result.problem = candidate + ": not an NVRTC that can generate cubins";
  } else if (cuda_version(result.table) < driver::oldest_version) {
    result.problem =
        fmt::format("{}: NVRTC {}.{} is too old, 12.1 is the first that supports the parameters of large kernels",
                    candidate, result.table.major, result.table.minor);
  }
  if (!result.problem.empty() && result.library) dlclose(std::exchange(result.library, nullptr));
  return result;
}

/// Whether a driver of that version accepts this NVRTC's PTX. 0: any driver.
bool is_for(const Nvrtc& table, int driver) { return driver == 0 || cuda_version(table) <= driver; }

Nvrtc finish(Attempt chosen, int driver) {
  load_builtins(chosen.library, chosen.table);
  ask_architectures(chosen.table);
  chosen.table.ptx_loads = is_for(chosen.table, driver);
  return chosen.table;
}

}  // namespace

std::vector<std::string> nvrtc_candidates() { return library_candidates("SINTER_NVRTC", "libnvrtc.so", sonames); }

Nvrtc open_nvrtc(const std::vector<std::string>& candidates, int driver) {
  std::optional<Attempt> newer;  // than the driver
  std::string problems;
  // Prefer what the process has already loaded: two versions of one library in a process cause trouble.
  for (const int flags : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY | RTLD_LOCAL})
    for (const std::string& candidate : candidates) {
      Attempt opened = attempt(candidate, flags);
      if (!opened.library) {
        if (!(flags & RTLD_NOLOAD)) problems += "\n  " + opened.problem;
      } else if (is_for(opened.table, driver)) {
        if (newer) dlclose(newer->library);
        return finish(std::move(opened), driver);
      } else if (!newer) {
        newer = std::move(opened);
      } else {
        dlclose(opened.library);
      }
    }
  if (newer) return finish(std::move(*newer), driver);
  throw DeviceError(
      fmt::format("NVRTC, the compiler of CUDA kernels, was not found (libnvrtc.so). Searched: {}.{}\nInstall "
                  "the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or set SINTER_NVRTC to its file",
                  searched_places("SINTER_NVRTC"), problems));
}

const Nvrtc& nvrtc() {
  static constinit NoDestructor<const Nvrtc> opened;
  return opened.get([] { return &open_once(); });
}

const std::string& nvrtc_identity() {
  if (const std::string* opened = opened_identity.load(std::memory_order_acquire)) return *opened;
  static constinit NoDestructor<const std::string> before;
  return before.get([] { return new std::string(nvrtc_identity(nvrtc_candidates())); });
}

}  // namespace sinter::inline v1::runtime
