#include "isa.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>

#include <runtime/cpu/vector_units.hpp>
#include <runtime/environment.hpp>
#include <sinter/runtime/error.hpp>
#include "loop_table.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

void report(const char* wish, Isa most) noexcept try {
  const std::span older(isa_names, static_cast<std::size_t>(most));
  runtime::report_unreadable("SINTER_CPU_ISA", wish,
                             fmt::format("{}{}{}, which this processor supports", fmt::join(older, ", "),
                                         older.empty() ? "" : " or ", isa_name(most)),
                             fmt::format("treating it as {}", isa_name(most)));
} catch (const std::bad_alloc&) {
}

Isa chosen() noexcept {
  const Isa has = best_isa();
  const char* wish = runtime::trusted_getenv("SINTER_CPU_ISA");
  if (wish == nullptr || *wish == '\0') return has;
  for (int i = 0; i <= static_cast<int>(has); ++i)
    if (runtime::same_word(isa_names[i], wish)) return static_cast<Isa>(i);
  report(wish, has);
  return has;
}

constexpr int unknown = -1;
constinit std::atomic<int> current{unknown};

[[gnu::noinline]] int choose() noexcept {
  int known = unknown;
  if (const int fresh = static_cast<int>(chosen()); current.compare_exchange_strong(known, fresh)) known = fresh;
  return known;
}

}  // namespace

#if !defined(__aarch64__)
static_assert(static_cast<int>(Isa::Avx2) == static_cast<int>(runtime::VectorUnits::Avx2) &&
              static_cast<int>(Isa::Avx512) == static_cast<int>(runtime::VectorUnits::Avx512));
#endif
Isa best_isa() noexcept { return static_cast<Isa>(runtime::vector_units()); }

Isa isa() noexcept {
  const int known = current.load(std::memory_order_relaxed);
  return static_cast<Isa>(known != unknown ? known : choose());
}

void set_isa(Isa isa) {
  const Isa has = best_isa();
  if (isa > has)
    throw Error(fmt::format("set_isa({}): this processor supports at most {}", isa_name(isa), isa_name(has)));
  current.store(static_cast<int>(isa), std::memory_order_relaxed);
}

const LoopTable& loop_table() noexcept {
#if defined(__aarch64__)
  return neon::loop_table;
#else
  const Isa in_use = isa();
  return in_use == Isa::Avx512 ? avx512::loop_table : in_use == Isa::Avx2 ? avx2::loop_table : sse4::loop_table;
#endif
}

}  // namespace sinter::inline v1::jit::cpu
