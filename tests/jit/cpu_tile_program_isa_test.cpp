// The instruction set that programs are made for: the environment's and the processor's.
#include <jit/cpu/tile_program.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cpu_kernels.hpp"
#include "setup.hpp"

namespace sinter::test {
namespace {

TEST(CpuTileProgramIsa, DISABLED_PrintIsa) { std::printf("isa: %s\n", isa_name(jit::cpu::isa()).data()); }

std::string isa_of_process(const std::string& wish) {
  const std::string command = "SINTER_CPU_ISA=" + wish + " " + this_program() +
                              " --gtest_also_run_disabled_tests --gtest_filter='*PrintIsa' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (char line[512]; pipe && std::fgets(line, sizeof line, pipe.get());) text += line;
  return text;
}

TEST(CpuTileProgramIsa, EnvironmentLowersTheIsa) {
  const EachIsa isas;
  for (const Isa isa : isas.all())
    EXPECT_NE(isa_of_process(std::string(isa_name(isa))).find(fmt::format("isa: {}\n", isa_name(isa))),
              std::string::npos);
  EXPECT_EQ(isa_of_process("SSE4").find("is not valid"), std::string::npos);
  EXPECT_NE(isa_of_process("SSE4").find("isa: sse4\n"), std::string::npos);
  const std::string text = isa_of_process("neon");
  EXPECT_NE(text.find("SINTER_CPU_ISA=\"neon\" is not valid: expected sse4, avx2 or avx512"), std::string::npos)
      << text;
}

TEST(CpuTileProgramIsa, IsaThatTheProcessorLacks) {
  const EachIsa isas;
  for (const Isa isa : {Isa::Sse4, Isa::Avx2, Isa::Avx512})
    if (std::ranges::find(isas.all(), isa) == isas.all().end()) {
      EXPECT_THROW(jit::cpu::set_isa(isa), Error);
    }
  EXPECT_FALSE(isas.all().empty());
}

}  // namespace
}  // namespace sinter::test
