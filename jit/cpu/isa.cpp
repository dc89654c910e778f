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

}  // namespace

namespace detail {

constinit std::atomic<int> isa_in_use{unknown_isa};

Isa choose_isa() noexcept {
  int known = unknown_isa;
  const Isa fresh = chosen();
  return isa_in_use.compare_exchange_strong(known, static_cast<int>(fresh)) ? fresh : static_cast<Isa>(known);
}

}  // namespace detail

#if !defined(__aarch64__)
static_assert(static_cast<int>(Isa::Avx2) == static_cast<int>(runtime::VectorUnits::Avx2) &&
              static_cast<int>(Isa::Avx512) == static_cast<int>(runtime::VectorUnits::Avx512));
#endif
Isa best_isa() noexcept { return static_cast<Isa>(runtime::vector_units()); }

void set_isa(Isa isa) {
  const Isa has = best_isa();
  if (isa > has)
    throw Error(fmt::format("set_isa({}): this processor supports at most {}", isa_name(isa), isa_name(has)));
  detail::isa_in_use.store(static_cast<int>(isa), std::memory_order_relaxed);
}

}  // namespace sinter::inline v1::jit::cpu
