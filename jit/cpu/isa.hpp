// The instruction sets that the CPU's loops are compiled for.
#pragma once
#include <cstdint>
#include <iterator>
#include <string_view>

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
/// The one whose loops run: the best, or the one in SINTER_CPU_ISA. Chosen once.
Isa isa() noexcept;
/// For tests: selects another one from now on. Throws Error if the processor lacks it.
void set_isa(Isa isa);

}  // namespace sinter::inline v1::jit::cpu
