#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fork.hpp>
#include "tile_program.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::string_view names[] = {"sse4", "avx2", "avx512"};

Isa best() noexcept {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::Avx512 : avx2 ? Isa::Avx2 : Isa::Sse4;
}

Isa chosen() noexcept {
  const Isa has = best();
  const char* wish = std::getenv("SINTER_CPU_ISA");
  if (wish == nullptr || *wish == '\0') return has;
  for (int i = 0; i < 3; ++i)
    if (names[i] == wish && i <= static_cast<int>(has)) return static_cast<Isa>(i);
  std::fprintf(stderr,
               "sinter: SINTER_CPU_ISA=%s: expected sse4, avx2 or avx512, at most %s on this processor; using %s\n",
               wish, names[static_cast<int>(has)].data(), names[static_cast<int>(has)].data());
  return has;
}

std::atomic<Isa>& current() {
  static constinit runtime::Immortal<std::atomic<Isa>> isa;
  return isa.get([] { return new std::atomic<Isa>(chosen()); });
}

}  // namespace

Isa isa() noexcept { return current().load(std::memory_order_relaxed); }

void set_isa(Isa isa) {
  const Isa has = best();
  if (isa > has)
    throw Error(fmt::format("set_isa({}): this processor has {} at most", names[static_cast<int>(isa)],
                            names[static_cast<int>(has)]));
  current().store(isa, std::memory_order_relaxed);
}

}  // namespace sinter::inline v1::jit::cpu
