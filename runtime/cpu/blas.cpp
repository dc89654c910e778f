#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"
#include "../gate.hpp"
#include "../log.hpp"
#include "../package_folders.hpp"
#include "../symbol.hpp"
#include "../text.hpp"

namespace sinter::inline v1::runtime {
namespace {

std::vector<std::string> candidates() {
  if (std::string named = environment("SINTER_OPENBLAS"); !named.empty()) return {std::move(named)};
  std::vector<std::string> all;
  for (const std::string& packages : package_folders())
    if (std::string wheel = packages + "/scipy_openblas32/lib/libscipy_openblas.so"; ::access(wheel.c_str(), F_OK) == 0)
      all.push_back(std::move(wheel));
  all.insert(all.end(), {"libopenblas.so.0", "libopenblas.so"});
  return all;
}

/// A function of OpenBLAS; those of the wheel scipy-openblas32 have a prefix.
template <class F>
bool find_function(void* library, const char* name, F& function) {
  return find_symbol(library, name, function) || find_symbol(library, fmt::format("scipy_{}", name).c_str(), function);
}

bool resolve(void* library, Blas& table) {
  return find_function(library, "cblas_sgemm", table.cblas_sgemm) &&
         find_function(library, "cblas_dgemm", table.cblas_dgemm) &&
         find_function(library, "cblas_cgemm", table.cblas_cgemm) &&
         find_function(library, "cblas_zgemm", table.cblas_zgemm) &&
         find_function(library, "cblas_sgemv", table.cblas_sgemv) &&
         find_function(library, "cblas_dgemv", table.cblas_dgemv);
}

constexpr std::string_view cores_with_small_kernels[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};

/// Sets the members that depend on the processor that OpenBLAS detects.
void look_at_core(void* library, Blas& table) {
  const char* (*name)() = nullptr;
  if (!find_function(library, "openblas_get_corename", name)) return;
  const std::string_view core = name();
  if (std::ranges::find(cores_with_small_kernels, core) != std::end(cores_with_small_kernels)) table.unpacked = 1e6;
  if (const std::string advice = core_advice(core, vector_units()); !advice.empty()) notice(advice);
}

constexpr std::string_view cores_before_avx2[] = {
    "Katmai", "Coppermine",  "Northwood", "Prescott",  "Banias",     "Atom",         "Core2",
    "Penryn", "Dunnington",  "Nehalem",   "Athlon",    "Opteron",    "Opteron_SSE3", "Barcelona",
    "Nano",   "Sandybridge", "Bobcat",    "Bulldozer", "Piledriver", "Steamroller"};

constinit Gate calls;

/// OpenBLAS's own handler ends its threads: a product in progress would wait for them forever. So a fork waits for the
/// product, however long it takes.
void before_fork() {
  calls.close();
  calls.wait_for_others(0, std::chrono::nanoseconds::max());
}
void after_fork() { calls.open(); }
void after_fork_in_child() {
  calls.forget_others(0);
  after_fork();
}

/// Bytes of address space left under a limit (ulimit -v); nullopt without a limit.
std::optional<std::size_t> address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/// Counted like OpenBLAS: from its variables, but at most the number of processors available to this process.
std::size_t blas_threads() {
  cpu_set_t allowed;
  const int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(CPU_COUNT(&allowed), 1) : 1;
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* const value = std::getenv(variable))
      if (const int threads = std::atoi(value); threads > 0)
        return static_cast<std::size_t>(std::min(threads, processors));
  return static_cast<std::size_t>(processors);
}

/// If OpenBLAS gets no memory, it retries forever, and it raises SIGINT if it cannot start a thread. So it is not
/// loaded unless there is enough room. Throws OutOfMemory.
void check_address_space(std::size_t left) {
  constexpr std::size_t library = std::size_t{48} << 20, buffer = std::size_t{128} << 20;  // of its largest build
  rlimit stack{};
  const bool is_limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const std::size_t each = buffer + (is_limited ? stack.rlim_cur : std::size_t{8} << 20), threads = blas_threads();
  if (left >= library + threads * each) return;
  throw OutOfMemory(fmt::format(
      "OpenBLAS, which multiplies matrices on the CPU, needs up to {} of address space for {} thread{}, but the limit "
      "of this process (ulimit -v) leaves {}. Raise the limit{}",
      format_bytes(library + threads * each), threads, threads == 1 ? "" : "s", format_bytes(left),
      threads == 1 ? ""
                   : fmt::format(", or set OPENBLAS_NUM_THREADS=1 in the environment, which needs {}",
                                 format_bytes(library + each))));
}

/// Under a limit, allocates a calling thread's buffer while there is room; no second thread will need another.
void take_buffer(Blas& table) {
  constexpr int n = 128;  // large enough that no small-matrix kernel is used
  std::vector<float> zeros(std::size_t{n} * n), result(zeros.size());
  table.cblas_sgemm(blas_row_major, blas_as_it_is, blas_as_it_is, n, n, n, 1, zeros.data(), n, zeros.data(), n, 0,
                    result.data(), n);
}

constinit std::mutex one_call;
constinit std::atomic<bool> one_at_a_time{false};

/// Whether the loader found no such library, rather than one that it cannot load. Its messages are localized, but begin
/// with what is missing: the full path if the library itself was found.
bool is_missing(const std::string& candidate, std::string_view why) {
  if (candidate.find('/') != std::string::npos) return ::access(candidate.c_str(), F_OK) != 0;
  return why.starts_with(candidate + ": ");
}

/// Whether the program has already loaded the library, and so its dependencies.
bool is_loaded(const std::string& candidate) {
  void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != nullptr;
}

struct CloseLibrary {
  void operator()(void* library) const noexcept { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

Blas open_blas() {
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  const std::optional<std::size_t> left = address_space_left();
  if (left && std::ranges::none_of(candidates(), is_loaded)) check_address_space(*left);
  std::string problems;
  bool all_missing = true;
  for (const std::string& candidate : candidates()) {
    Blas table;
    Library library(dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library && resolve(library.get(), table)) {
      look_at_core(library.get(), table);
      if (left) take_buffer(table), one_at_a_time = true;
      // Last, since it cannot be undone. Handlers registered later run earlier: before OpenBLAS's own.
      pthread_atfork(before_fork, after_fork, after_fork_in_child);
      static_cast<void>(library.release());
      return table;
    }
    const char* const why = library ? nullptr : dlerror();
    all_missing &= !why || is_missing(candidate, why);
    problems += fmt::format("\n  {}", why ? why : candidate + ": it has no C interface (cblas_sgemm)");
  }
  if (!all_missing)
    throw DeviceError("OpenBLAS, which multiplies matrices on the CPU, was found but cannot be loaded." + problems +
                      "\nThe loader's reason is above. Set SINTER_OPENBLAS to another file, or reinstall it (Debian: "
                      "apt install --reinstall libopenblas0)");
  throw DeviceError("OpenBLAS, which multiplies matrices on the CPU, was not found." + problems +
                    "\nInstall it (Debian: apt install libopenblas0; Python: pip install scipy-openblas32), or set "
                    "SINTER_OPENBLAS to its file; it must have the C interface with 32-bit integers");
}

}  // namespace

std::string core_advice(std::string_view core, VectorUnits has) {
  if (has == VectorUnits::Baseline || std::ranges::find(cores_before_avx2, core) == std::end(cores_before_avx2))
    return {};
  const bool wide = has == VectorUnits::Avx512;
  return fmt::format(
      "OpenBLAS uses its kernels for {} although this processor supports {}: matrix products on the CPU take several "
      "times as long. Set OPENBLAS_CORETYPE={} in the environment, or install a newer OpenBLAS (SINTER_QUIET=1 turns "
      "this message off)",
      core, wide ? "AVX-512" : "AVX2", wide ? "SKYLAKEX" : "HASWELL");
}

InBlas::InBlas() noexcept : is_alone_(one_at_a_time.load(std::memory_order_relaxed)) {
  calls.enter();
  if (is_alone_) one_call.lock();
}
InBlas::~InBlas() {
  if (is_alone_) one_call.unlock();
  calls.leave();
}

const Blas& blas() {
  static constinit NoDestructor<const Blas> opened;
  return opened.get([] { return new Blas(open_blas()); });
}

}  // namespace sinter::inline v1::runtime
