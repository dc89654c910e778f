#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"
#include "../gate.hpp"
#include "../log.hpp"
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
         find_symbol(library, "cblas_zgemm", table.cblas_zgemm) &&
         find_symbol(library, "cblas_sgemv", table.cblas_sgemv) &&
         find_symbol(library, "cblas_dgemv", table.cblas_dgemv);
}

VectorUnits vector_units() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return avx512 ? VectorUnits::Avx512 : avx2 ? VectorUnits::Avx2 : VectorUnits::Older;
#else
  return VectorUnits::Older;
#endif
}

constexpr std::string_view cores_with_small_kernels[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};

/// What follows from the processor that OpenBLAS takes this one for.
void look_at_core(void* library, Blas& table) {
  const char* (*name)() = nullptr;
  if (!find_symbol(library, "openblas_get_corename", name)) return;
  const std::string_view core = name();
  if (std::ranges::find(cores_with_small_kernels, core) != std::end(cores_with_small_kernels)) table.unpacked = 1e6;
  if (const std::string advice = core_advice(core, vector_units()); !advice.empty()) notice(advice);
}

constexpr std::string_view cores_before_avx2[] = {
    "Katmai", "Coppermine",  "Northwood", "Prescott",  "Banias",     "Atom",         "Core2",
    "Penryn", "Dunnington",  "Nehalem",   "Athlon",    "Opteron",    "Opteron_SSE3", "Barcelona",
    "Nano",   "Sandybridge", "Bobcat",    "Bulldozer", "Piledriver", "Steamroller"};

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
      look_at_core(library, table);
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

std::string core_advice(std::string_view core, VectorUnits has) {
  if (has == VectorUnits::Older || std::ranges::find(cores_before_avx2, core) == std::end(cores_before_avx2)) return {};
  const bool wide = has == VectorUnits::Avx512;
  return fmt::format(
      "OpenBLAS runs its kernels for {} and not those for {}, which this processor has: products of matrices on the "
      "CPU take several times as long. Set OPENBLAS_CORETYPE={} in the environment, or install a newer OpenBLAS "
      "(SINTER_QUIET=1 turns this message off)",
      core, wide ? "AVX-512" : "AVX2", wide ? "SKYLAKEX" : "HASWELL");
}

InBlas::InBlas() noexcept { calls.enter(); }
InBlas::~InBlas() { calls.leave(); }

const Blas& blas() {
  static constinit Immortal<const Blas> opened;
  return opened.get([] { return new Blas(open_blas()); });
}

}  // namespace sinter::inline v1::runtime
