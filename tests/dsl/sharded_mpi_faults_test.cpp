// Expressions on the devices of several processes, one of which has an error.
#include <sinter/dsl/sharded.hpp>
#include <sinter/sinter.hpp>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/collective/mpirun.hpp"
#include "setup.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using namespace sn::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

// No virtual GPUs, unless a test asks for them.
const sinter::test::Setup faults_on_cpus([] { setenv("SINTER_VIRTUAL_GPUS", "", 0); });

/// Reports the error of `call`, whose processes are those of the mesh.
template <class F>
void report_error(F call) {
  const sn::Mesh world = sn::Mesh::world();
  (void)world.communicator();
  meet(world.size());
  std::string report = "no error";
  try {
    call(world, runtime::world().process);
  } catch (const sn::Error& e) {
    report = e.what();
  }
  report_and_leave(report, static_cast<int>(runtime::world().all.size()));
}

/// Each evaluates a sum over dim 0; process 1 has operands that do not match.
TEST(Child, DISABLED_OneHasAnotherShape) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Tensor a = sn::shard(sn::ones({8, 3}), world);
    const sn::Tensor b = sn::replicate(sn::ones({process == 1 ? 4 : 3}), world);
    const sn::Tensor sum = (a * b).sum(0);
  });
}
/// The same for an evaluation in which no rank needs another; the next one does.
TEST(Child, DISABLED_OneHasNoMemory) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Tensor a = sn::shard(sn::ones({8, 1}), world), b = sn::replicate(sn::ones({3}), world);
    const sn::Tensor wide = sn::replicate(sn::ones({1}), world).expand({process == 1 ? std::int64_t{1} << 50 : 3});
    const sn::Tensor rows = a * wide;
    const sn::Tensor sum = (a * b).sum(0);
  });
}

/// Calls that agree in dtype and count, for different operations.
TEST(Child, DISABLED_OneHasAnotherReduction) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Tensor a = sn::shard(sn::ones({8, 3}), world);
    const sn::Tensor b = process == 1 ? sn::Tensor(sn::amin(a, 0)) : sn::Tensor(sn::prod(a, 0));
  });
}
/// The same, for other shapes.
TEST(Child, DISABLED_OneHasMoreRows) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Tensor a = sn::shard(sn::ones({process == 1 ? 14 : 12, 2}), world);
    const sn::Tensor sum = a.sum(0);
  });
}

/// The same reduction of operands that are computed in different ways.
TEST(Child, DISABLED_OneHasAnotherOperand) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Tensor a = sn::shard(sn::ones({8, 3}), world);
    const sn::Tensor b = process == 1 ? sn::Tensor(sn::sum(a + 2, 0)) : sn::Tensor(sn::sum(a * 2, 0));
  });
}

/// A process may evaluate on its own what needs no other process.
TEST(Child, DISABLED_OneEvaluatesAPart) {
  report_error([](const sn::Mesh& world, int process) {
    const sn::Lazy twice = sn::shard(sn::ones({8, 3}), world) * 2;
    if (process == 1) (void)sn::Sharded<float>(twice);
    const sn::Tensor sum = (twice + 1).sum(0);
    EXPECT_EQ(sum[0].item(), 24.0f);
  });
}

class ShardedFaults : public Mpi, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Processes, ShardedFaults, ::testing::Values(2, 4));

constexpr double not_a_hang = 30;  // seconds

TEST_P(ShardedFaults, AnErrorOfOneIsHeardByTheOthers) {
  const Result r = reports_of(GetParam(), "OneHasAnotherShape");
  EXPECT_THAT(r.of(1), AllOf(HasSubstr("(8, 3)"), HasSubstr("(4)"))) << r.text;
  for (int process = 0; process < GetParam(); process += 2)
    EXPECT_THAT(r.of(process), AllOf(HasSubstr("all_reduce, sum, of 3 float32"),
                                     HasSubstr("process 1 does not take part because of an error"), HasSubstr("(4)")))
        << r.text;
  EXPECT_LT(r.seconds, not_a_hang) << r.text;
}
TEST_P(ShardedFaults, AnErrorWhereNobodyWaitsIsHeardInTheNextCall) {
  const Result r = reports_of(GetParam(), "OneHasNoMemory");
  EXPECT_THAT(r.of(1), HasSubstr("memory")) << r.text;
  for (int process = 0; process < GetParam(); process += 2)
    EXPECT_THAT(r.of(process), AllOf(HasSubstr("all_reduce, sum, of 3 float32"),
                                     HasSubstr("process 1 does not take part"), HasSubstr("memory")))
        << r.text;
  EXPECT_LT(r.seconds, not_a_hang) << r.text;
}
TEST_P(ShardedFaults, DifferentExpressionsAndShapesAreTold) {
  for (const char* test : {"OneHasAnotherReduction", "OneHasMoreRows", "OneHasAnotherOperand"}) {
    const Result r = reports_of(GetParam(), test);
    for (int process = 0; process < GetParam(); ++process)
      EXPECT_THAT(r.of(process), AllOf(HasSubstr("different calls"), HasSubstr("\n  process 1: all_"),
                                       HasSubstr("for the expression and shapes #")))
          << r.text;
  }
}
TEST_P(ShardedFaults, WhatOneEvaluatesByItselfIsNone) {
  const Result r = reports_of(GetParam(), "OneEvaluatesAPart");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(r.of(0), "no error");
}

}  // namespace
