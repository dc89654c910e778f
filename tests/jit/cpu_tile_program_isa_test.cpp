// The instruction set that programs are made for: the environment's and the processor's.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
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
  EachIsa().run([](Isa isa) {
    EXPECT_NE(isa_of_process(std::string(isa_name(isa))).find(fmt::format("isa: {}\n", isa_name(isa))),
              std::string::npos);
  });
}

TEST(CpuTileProgramIsa, EnvironmentIsReadInAnyCase) {
  std::string loud(jit::cpu::isa_names[0]);
  std::ranges::transform(loud, loud.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string text = isa_of_process(loud);
  EXPECT_EQ(text.find("is not valid"), std::string::npos);
  EXPECT_NE(text.find(fmt::format("isa: {}\n", jit::cpu::isa_names[0])), std::string::npos);
}

TEST(CpuTileProgramIsa, EnvironmentNamesAnUnknownOne) {
  const std::string text = isa_of_process("mmx");
  EXPECT_NE(text.find("SINTER_CPU_ISA=\"mmx\" is not valid: expected "), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("{}, which this processor supports", isa_name(jit::cpu::best_isa()))),
            std::string::npos)
      << text;
}

TEST(CpuTileProgramIsa, IsaThatTheProcessorLacks) {
  for (int i = static_cast<int>(jit::cpu::best_isa()) + 1; i < jit::cpu::isa_count; ++i)
    EXPECT_THROW(jit::cpu::set_isa(static_cast<Isa>(i)), Error);
}

}  // namespace
}  // namespace sinter::test
