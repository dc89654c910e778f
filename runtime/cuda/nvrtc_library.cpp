#include "nvrtc_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fork.hpp>

#include "../deep_threads.hpp"
#include "../environment.hpp"
#include "driver.hpp"
#include "nvrtc_identity.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// As the loader knows them, newest first.
constexpr const char* sonames[] = {"libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

/// The identity that the process's NVRTC had when it was opened; null before.
constinit std::atomic<const std::string*> opened_identity{nullptr};

Nvrtc& open_once() {
  const auto& identity = *new std::string(nvrtc_identity(nvrtc_candidates()));
  Nvrtc& opened = *new Nvrtc(open_nvrtc(nvrtc_candidates(), driver::version()));
  // A compilation that still runs when the process ends must end before NVRTC's own statics do.
  std::atexit(wait_for_deep_work);
  opened_identity.store(&identity, std::memory_order_release);
  return opened;
}

/// Folders of toolkits and of Python's wheels (nvidia-cuda-nvrtc), as patterns.
std::vector<std::string> folders() {
  std::vector<std::string> all;
  for (const std::string& toolkit : {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda"),
                                     std::string("/usr/local/cuda-*"), std::string("/opt/cuda")})
    if (!toolkit.empty())
      for (const char* lib : {"/lib64", "/lib", "/targets/*/lib"}) all.push_back(toolkit + lib);
  for (const std::string& prefix :
       {environment("VIRTUAL_ENV", "/lib"), environment("CONDA_PREFIX", "/lib"), environment("HOME", "/.local/lib"),
        std::string("/usr/local/lib"), std::string("/usr/lib")})
    if (!prefix.empty())
      for (const char* packages : {"/python3*/site-packages", "/python3*/dist-packages"})
        all.push_back(prefix + packages + "/nvidia/*/lib");
  if (const std::string conda = environment("CONDA_PREFIX", "/lib"); !conda.empty()) all.push_back(conda);
  return all;
}

/// The files that match, newest version first; links to the same file are kept.
std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t result{};
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0) found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  globfree(&result);
  std::ranges::sort(found,
                    [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) > 0; });
  return found;
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

template <class F>
bool resolve(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool resolve(void* library, Nvrtc& table) {
  bool complete = true;
#define SINTER_NVRTC_REQUIRED(result, name, ...) complete &= resolve(library, #name, table.name);
#define SINTER_NVRTC_OPTIONAL(result, name, ...) resolve(library, #name, table.name);
  SINTER_NVRTC_FUNCTIONS(SINTER_NVRTC_REQUIRED, SINTER_NVRTC_OPTIONAL)
#undef SINTER_NVRTC_REQUIRED
#undef SINTER_NVRTC_OPTIONAL
  return complete && table.nvrtcVersion(&table.major, &table.minor) == nvrtc_success;
}

/// NVRTC looks for its builtins by name alone, which fails unless they are in the loader's path or loaded already.
void load_builtins(void* library, const Nvrtc& table) {
  char folder[PATH_MAX] = "";
  if (dlinfo(library, RTLD_DI_ORIGIN, folder) != 0) return;
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

/// As the driver counts.
int cuda_version(const Nvrtc& table) { return 1000 * table.major + 10 * table.minor; }

struct Attempt {
  void* library = nullptr;
  Nvrtc table;
  std::string problem;
};

Attempt attempt(const std::string& candidate, int flags) {
  Attempt result;
  result.library = dlopen(candidate.c_str(), flags);
  if (!result.library) {
    const char* why = dlerror();
    result.problem = why ? why : candidate + ": not loaded";
  } else if (!resolve(result.library, result.table)) {
    result.problem = candidate + ": not an NVRTC that can make cubins";
  } else if (cuda_version(result.table) < driver::oldest_version) {
    result.problem =
        fmt::format("{}: NVRTC {}.{} is too old, 12.1 is the first to take the parameters of large kernels", candidate,
                    result.table.major, result.table.minor);
  }
  if (!result.problem.empty() && result.library) dlclose(std::exchange(result.library, nullptr));
  return result;
}

/// Whether a driver of that version takes this NVRTC's PTX. 0 is any.
bool is_for(const Nvrtc& table, int driver) { return driver == 0 || cuda_version(table) <= driver; }

Nvrtc finish(Attempt chosen, int driver) {
  load_builtins(chosen.library, chosen.table);
  ask_architectures(chosen.table);
  chosen.table.ptx_loads = is_for(chosen.table, driver);
  return chosen.table;
}

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  if (const std::string named = environment("SINTER_NVRTC"); !named.empty()) {
    const std::vector<std::string> inside = matches(named + "/libnvrtc.so*");
    return is_folder(named) && !inside.empty() ? inside : std::vector{named};
  }
  std::vector<std::string> all(std::begin(sonames), std::end(sonames));
  for (const std::string& folder : folders())
    for (std::string& file : matches(folder + "/libnvrtc.so*")) all.push_back(std::move(file));
  return all;
}

Nvrtc open_nvrtc(const std::vector<std::string>& candidates, int driver) {
  std::optional<Attempt> newer;  // than the driver
  std::string problems;
  // What the process has loaded already comes first: two versions of one library in a process are trouble.
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
  std::string where = environment("SINTER_NVRTC");
  if (where.empty()) where = fmt::format("the loader's path, {}", fmt::join(folders(), ", "));
  throw DeviceError(
      fmt::format("NVRTC, the compiler of CUDA kernels, was not found (libnvrtc.so). Searched: {}.{}\nInstall "
                  "the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or name it in SINTER_NVRTC",
                  where, problems));
}

const Nvrtc& nvrtc() {
  static constinit Immortal<const Nvrtc> opened;
  return opened.get([] { return &open_once(); });
}

const std::string& nvrtc_identity() {
  if (const std::string* opened = opened_identity.load(std::memory_order_acquire)) return *opened;
  static constinit Immortal<const std::string> before;
  return before.get([] { return new std::string(nvrtc_identity(nvrtc_candidates())); });
}

}  // namespace sinter::inline v1::runtime
