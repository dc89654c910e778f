// The instruction sets that the CPU's loops are compiled for.
#pragma once
#include <atomic>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "loop_table.hpp"

namespace sinter::inline v1::jit::cpu {

/// Those of the architecture that the library is built for, in the order of runtime::VectorUnits.
#if defined(__aarch64__)
enum class Isa : std::uint8_t { Neon };
inline constexpr std::string_view isa_names[] = {"neon"};
#else
enum class Isa : std::uint8_t { Sse4, Avx2, Avx512 };
inline constexpr std::string_view isa_names[] = {"sse4", "avx2", "avx512"};
#endif
inline constexpr int isa_count = static_cast<int>(std::size(isa_names));
constexpr std::string_view isa_name(Isa isa) { return isa_names[static_cast<int>(isa)]; }

/// The last one that the processor has.
Isa best_isa() noexcept;

namespace detail {
inline constexpr int unknown_isa = -1;
extern std::atomic<int> isa_in_use;
Isa choose_isa() noexcept;
}  // namespace detail

/// The one whose loops run: the best, or the one in SINTER_CPU_ISA. Chosen once.
inline Isa isa() noexcept {
  const int known = detail::isa_in_use.load(std::memory_order_relaxed);
  return known != detail::unknown_isa ? static_cast<Isa>(known) : detail::choose_isa();
}
/// The loops of the instruction set in use.
inline const LoopTable& loop_table() noexcept {
#if defined(__aarch64__)
  return neon::loop_table;
#else
  const Isa in_use = isa();
  return in_use == Isa::Avx512 ? avx512::loop_table : in_use == Isa::Avx2 ? avx2::loop_table : sse4::loop_table;
#endif
}
inline const LoopForms& memory_loops(const LoopTable& table, Memory m) noexcept {
  return table.groups[static_cast<int>(Group::Memory)][static_cast<int>(m)];
}
/// For tests: selects another one from now on. Throws Error if the processor lacks it.
void set_isa(Isa isa);

}  // namespace sinter::inline v1::jit::cpu
