// Compiled loops beside the interpreted ones, bit by bit.
#include <jit/cpu/tier.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <jit/ops/traits.hpp>
#include <jit/passes/compute_dtypes.hpp>
#include <runtime/process.hpp>
#include <sinter/jit/ops.hpp>
#include <sinter/jit/stats.hpp>
#include "../setuid_copy.hpp"
#include "cpu_compiled_case.hpp"
#include "cpu_small_run.hpp"

namespace sinter::test {
namespace {

const Setup memory_only([] {
  keep_kernels_in_memory();
  setenv("SINTER_CPU_JIT", "off", 1);
});

/// The result's dtype of an operation of the table that computes in `dtype`; none if it does not.
std::optional<DType> result_of(Op op, DType dtype) {
  const bool is_float = dtype == DType::Float32 || dtype == DType::Float64;
  switch (info(op).rule) {
    case DTypeRule::Same:
    case DTypeRule::First:
    case DTypeRule::FirstNumber:
    case DTypeRule::Number:
    case DTypeRule::Select: return dtype;
    case DTypeRule::Compare: return DType::Bool;
    case DTypeRule::Integer:
    case DTypeRule::IntegerOnly: return is_float ? std::nullopt : std::optional(dtype);
    case DTypeRule::Float:
    case DTypeRule::FloatOnly:
    case DTypeRule::WideFloat: return is_float ? std::optional(dtype) : std::nullopt;
    default: return std::nullopt;
  }
}

/// For the instruction set in use: compiling takes twenty seconds for each dtype.
TEST(CpuCompiledLoops, EveryOperationOfEveryDtype) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64}) {
    Case c;
    const Operand a = c.leaf(dtype), b = c.leaf(dtype), d = c.leaf(dtype), mask = c.leaf(DType::Bool);
    std::size_t operations = 0;
    for (int number = static_cast<int>(first_table_op); number < op_count; ++number) {
      const Op op = static_cast<Op>(number);
      const std::optional<DType> result = result_of(op, dtype);
      if (is_composite(op) || !result || is_random(op)) continue;
      if (has(op, jit::FaultsOnZeroDivisor) && dtype != DType::Float32 && dtype != DType::Float64) continue;
      std::vector<Operand> operands{a, b, d};
      if (info(op).rule == DTypeRule::Select) operands = {mask, a, b};
      operands.resize(info(op).arity);
      c.output(c.graph.node(op, *result, operands), *result);
      ++operations;
    }
    EXPECT_GT(operations, 15u);
    SCOPED_TRACE(name(dtype));
    for (const std::int64_t n : {1, 7, 33, 1000}) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
    for (const std::uint32_t uniform : {1u, 6u, 8u}) c.check(100, uniform, seed_of_tests() + uniform);
  }
}

/// Also those between the two that other tests choose: each reads other intrinsics.
TEST(CpuCompiledLoops, EachInstructionSetHasThem) {
  Case c;
  const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float16), z = c.leaf(DType::Float64);
  const Operand wide = c.graph.node(Op::cast, DType::Float32, std::vector{y});
  const Operand less = c.graph.node(Op::lt, DType::Bool, std::vector{x, wide});
  c.output(less, DType::Bool);
  c.output(c.graph.node(Op::where, DType::Float32, std::vector{less, x, wide}), DType::Float32);
  c.output(c.graph.node(Op::where, DType::Float64, std::vector{less, z, z}), DType::Float64);
  EachIsa().run([&](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (const std::int64_t n : {1, 15, 17, 100}) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
  });
}

TEST(CpuCompiledLoops, EveryConversion) {
  Case c;
  std::vector<DType> dtypes;
  for (int k = 0; k < real_dtype_count; ++k) dtypes.push_back(static_cast<DType>(k));
  for (const DType from : dtypes) {
    const Operand x = c.leaf(from);
    for (const DType to : dtypes)
      if (from != to && jit::has_conversion(from, to)) c.output(c.graph.node(Op::cast, to, std::vector{x}), to);
  }
  for_two_isas([&](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (const std::int64_t n : {1, 5, 19, 300}) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
  });
}

// Compilers take a conversion to an integer and back for a truncation, which keeps the sign of what becomes 0.
TEST(CpuCompiledLoops, FloatsThroughIntegers) {
  Case c;
  for (const DType from : {DType::Float32, DType::Float64}) {
    const Operand x = c.leaf(from);
    for (const DType through : {DType::Int32, DType::Int64}) {
      const Operand n = c.graph.node(Op::cast, through, std::vector{x});
      for (const DType to : {DType::Float32, DType::Float64}) c.output(c.graph.node(Op::cast, to, std::vector{n}), to);
      c.output(c.graph.cast(c.graph.cast(n, DType::Float32), DType::BFloat16), DType::BFloat16);
    }
  }
  for_two_isas([&](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (const std::int64_t n : {1, 5, 19, 300}) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
  });
}

/// Bools, 8-byte and 16-bit values between floats: (half(x) > y) & (y < z) ? x : float(z), z a double.
TEST(CpuCompiledLoops, DtypesInOneLoop) {
  Case c;
  const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float32), z = c.leaf(DType::Float64);
  const auto make = [&](Op op, DType dtype, std::vector<Operand> of) { return c.graph.node(op, dtype, of); };
  const Operand half = make(Op::cast, DType::Float16, {x}), back = make(Op::cast, DType::Float32, {half});
  const Operand wide = make(Op::cast, DType::Float64, {y});
  const Operand both =
      make(Op::logical_and, DType::Bool, {make(Op::gt, DType::Bool, {back, y}), make(Op::lt, DType::Bool, {wide, z})});
  c.output(make(Op::where, DType::Float32, {both, x, make(Op::cast, DType::Float32, {z})}), DType::Float32);
  c.output(make(Op::where, DType::Float64, {both, wide, z}), DType::Float64);
  c.output(both, DType::Bool);
  c.output(half, DType::Float16);
  c.output(make(Op::cast, DType::Int32, {both}), DType::Int32);
  for_two_isas([&](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (std::int64_t n = 1; n < 70; ++n) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
    c.check(20'000, 4, seed_of_tests());
  });
}

/// Operations with more operands together than a loop may have.
TEST(CpuCompiledLoops, ManyOperands) {
  Case c;
  std::vector<Operand> inputs;
  for (int i = 0; i < 20; ++i) inputs.push_back(c.leaf(DType::Float32));
  for (int i = 0; i < 42; ++i) {
    const Operand low = c.graph.constant(DType::Float32, to_bits(-1.f - static_cast<float>(i)));
    const Operand high = c.graph.constant(DType::Float32, to_bits(1.f + static_cast<float>(i)));
    c.output(c.graph.node(Op::clamp, DType::Float32, std::vector{inputs[static_cast<std::size_t>(i % 20)], low, high}),
             DType::Float32);
  }
  for (const std::int64_t n : {5, 1000}) c.check(n, 0, seed_of_tests() + static_cast<std::uint32_t>(n));
}

/// sin calls a library, between two loops.
TEST(CpuCompiledLoops, BesideOtherOperations) {
  Case c;
  const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float32);
  const auto op = [&](Op op, std::vector<Operand> of) { return c.graph.node(op, DType::Float32, of); };
  const Operand wave = op(Op::sin, {op(Op::mul, {op(Op::abs, {op(Op::mul, {x, y})}), x})});
  c.output(op(Op::exp, {op(Op::sub, {wave, y})}), DType::Float32);
  for (const std::int64_t n : {5, 1000}) c.check(n, 0, seed_of_tests());
}

TEST(CpuCompiledLoops, OutputsInThePlaceOfInputs) {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0), y = graph.leaf(DType::Float32, 1);
  const Operand sum = graph.node(Op::add, DType::Float32, std::vector{x, y});
  graph.output(graph.node(Op::mul, DType::Float32, std::vector{sum, x}));
  for (const std::int64_t n : {3, 64, 1000, 30'000}) {
    const Array xs = make_array(DType::Float32, {n}, {1}), ys = make_array(DType::Float32, {n}, {1});
    for (std::int64_t i = 0; i < n; ++i) {
      write(DType::Float32, xs.memory.data() + 4 * i, to_bits(static_cast<float>(i % 1000)));
      write(DType::Float32, ys.memory.data() + 4 * i, to_bits(static_cast<float>(i % 7)));
    }
    const When chosen(CpuJit::Always);
    TileProgram(graph).run(make_nest({n}, {&xs, &xs, &ys}, 1), {});
    for (std::int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<float>(i % 1000), b = static_cast<float>(i % 7);
      ASSERT_EQ(as<float>(element(xs, {n}, i)), (a + b) * a) << i << " of " << n;
    }
  }
}

TEST(CpuCompiledLoops, ReplaceTheInterpretedOnesOfHotPrograms) {
  const TileProgram program(small_graph(), "hot");
  const SmallRun small;
  program.run(small.nest, {});
  const When chosen(CpuJit::Hot);
  const std::uint64_t before = jit_stats().compiles;
  program.run(small.nest, {});
  EXPECT_FALSE(program.is_compiled()) << "after one run";
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!program.is_compiled() && std::chrono::steady_clock::now() < give_up) program.run(small.nest, {});
  ASSERT_TRUE(program.is_compiled());
  EXPECT_EQ(jit_stats().compiles, before + 1);
  program.run(small.nest, {});
  EXPECT_EQ(as<float>(element(small.out, {1000}, 999)), 1.f);
  const KernelRecord last = kernel_history().back();
  EXPECT_EQ(last.name, "hot");
  EXPECT_TRUE(last.device.is_cpu());
  EXPECT_EQ(last.target.substr(0, 4), "cpu ");
}

/// The child has none of its parent's threads.
TEST(CpuCompiledLoops, AreMadeInTheChildOfAFork) {
  const TileProgram program(other_small_graph(), "forked");
  const SmallRun small;
  const When chosen(CpuJit::Hot);
  for (int i = 0; i < 200'000 && !program.is_compiled(); ++i) program.run(small.nest, {});  // has begun
  const pid_t child = fork();
  if (child == 0) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!program.is_compiled() && std::chrono::steady_clock::now() < give_up) program.run(small.nest, {});
    _exit(program.is_compiled() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CpuCompiledLoops, AreNotMadeWhereThatIsOff) {
  const TileProgram program(small_graph(), "off");
  const SmallRun small;
  const std::uint64_t before = jit_stats().compiles;
  for (int i = 0; i < 1000; ++i) program.run(small.nest, {});
  program.prepare(small.nest);
  EXPECT_FALSE(program.is_compiled());
  EXPECT_EQ(jit_stats().compiles, before);
}

TEST(CpuCompiledLoops, AreMadeByPreparing) {
  const TileProgram program(small_graph(), "prepared");
  const SmallRun small;
  const When chosen(CpuJit::Hot);
  program.prepare(small.nest);
  EXPECT_TRUE(program.is_compiled());
}

TEST(CpuCompiledLoops, WithoutACompilerPreparingDoesNothing) {
  const std::string command = "SINTER_HOST_CXX=/nowhere/c++ SINTER_CACHE=off " + this_program() +
                              " --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_Prepared*'";
  const runtime::ProcessResult child = runtime::run_process({"sh", "-c", command});
  EXPECT_EQ(child.status, 0) << child.output;
}
TEST(CpuCompiledLoops, DISABLED_PreparedWithoutACompiler) {
  const TileProgram program(small_graph(), "prepared");
  const SmallRun small;
  const When chosen(CpuJit::Always);
  program.prepare(small.nest);
  program.prepare(small.nest);
  program.run(small.nest, {});
  EXPECT_FALSE(program.is_compiled());
  EXPECT_EQ(as<float>(element(small.out, {1000}, 999)), 1.f);
}

TEST(CpuCompiledLoops, ACompilerThatRejectsThemIsNotAskedAgain) {
  const sinter::testing::ScratchFolder scratch;
  const std::string compiler = scratch.file("compiler");
  std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *--version*) echo none;; *) echo asked >> " +
                                 scratch.file("log") + "; echo 'In a function:'; echo 'x: error: no'; exit 1;; esac\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const std::string command = "SINTER_QUIET= SINTER_HOST_CXX='" + compiler + "' SINTER_CACHE=off " + this_program() +
                              " --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_Prepared*' 2>&1";
  const runtime::ProcessResult child = runtime::run_process({"sh", "-c", command});
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_THAT(child.output, ::testing::HasSubstr("turns this message off). It says: x: error: no\n"));
  EXPECT_EQ(sinter::testing::read_text(scratch.file("log")), "asked\n");
}

TEST(CpuCompiledLoops, DISABLED_AreCompiledAtAll) {
  ignore_leaks();  // LeakSanitizer would want to trace a process with more rights
  setenv("SINTER_CPU_JIT", "hot", 1);
  std::exit(cpu_jit() == CpuJit::Off ? 4 : 3);
}
TEST(CpuCompiledLoops, AreNotMadeInProgramsWithMoreRights) {
  const auto status_of = [](const std::string& program) {
    const std::string arguments = " --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_AreCompiledAtAll'";
    return runtime::run_process({"sh", "-c", program + arguments}).status;
  };
  const sinter::testing::ScratchFolder scratch;
  const std::string copy = sinter::testing::setuid_copy(scratch);
  if (copy.empty()) GTEST_SKIP() << "needs root, a file system without nosuid, and no emulator";
  EXPECT_EQ(status_of(this_program()), 3);
  EXPECT_EQ(status_of(copy), 4);
}

/// Equal loops of different kernels are one entry of the cache.
TEST(CpuCompiledLoops, AreSharedByEqualPrograms) {
  const When chosen(CpuJit::Always);
  const SmallRun small;
  const TileProgram first(small_graph(), "first"), second(small_graph(), "second");
  first.run(small.nest, {});
  const std::uint64_t before = jit_stats().compiles;
  second.run(small.nest, {});
  EXPECT_TRUE(second.is_compiled());
  EXPECT_EQ(jit_stats().compiles, before);
}

/// The child's compiler never ends.
TEST(CpuCompiledLoops, DISABLED_EndWhileTheyAreCompiled) {
  const TileProgram program(small_graph(), "never");
  const SmallRun small;
  set_cpu_jit(CpuJit::Hot);
  for (int i = 0; i < 200'000; ++i) program.run(small.nest, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it has started, on most machines
}
TEST(CpuCompiledLoops, AreNotWaitedForByTheEndOfTheProcess) {
  const sinter::testing::ScratchFolder scratch;
  const std::string compiler = scratch.file("compiler");
  std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *--version*) echo none;; *) sleep 1000;; esac\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const std::string command = "SINTER_QUIET= SINTER_HOST_CXX='" + compiler + "' " + this_program() +
                              " --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_EndWhile*'";
  const runtime::ProcessResult child = runtime::run_process({"sh", "-c", command}, {.limit = std::chrono::minutes(2)});
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_EQ(child.output.find("rejects"), std::string::npos) << child.output;
}

}  // namespace
}  // namespace sinter::test
