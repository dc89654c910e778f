// Several processes that do not do the same, or die: each of the others learns who did what, and nobody waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <runtime/collective/together.hpp>
#include <sinter/runtime/error.hpp>

#include "mpirun.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using namespace sn::testing;
using sn::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// No virtual GPUs, unless a test asks for them.
const sinter::test::Setup faults_without_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "", 0); });

/// From here on: starting may take longer where much else is going on.
void wait_for_seconds_only() {
  communicator().barrier();
  setenv("SINTER_COLLECTIVE_TIMEOUT", "3", 1);
}

/// Reports what `call` throws, and what the next one does. So many processes never do.
template <class F>
void report_errors(F call, int missing = 0) {
  Communicator& c = communicator();
  meet(c.size() - missing);
  std::string report;
  for (int i = 0; i < 2; ++i) try {
      if (i == 0)
        call(c);
      else
        c.barrier();
      report += "no error\n";
    } catch (const sn::Error& e) {
      report += "error " + std::to_string(i) + ": " + e.what() + "\n";
    }
  report_and_leave(report, c.size() - missing);
}

TEST(Child, DISABLED_MakeDifferentCalls) {
  report_errors([](Communicator& c) {
    if (runtime::world().process == 1)
      c.broadcast(ones(5), 0);
    else
      c.all_reduce(ones(5), ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_CombineDifferently) {
  report_errors([](Communicator& c) {
    c.all_reduce(ones(5), runtime::world().process == 1 ? ReduceOp::Maximum : ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_BringDifferentLengths) {
  report_errors([](Communicator& c) { c.all_reduce(ones(runtime::world().process == 1 ? 6 : 5), ReduceOp::Sum); });
}
TEST(Child, DISABLED_BringDifferentDtypes) {
  report_errors([](Communicator& c) {
    std::vector<TensorRef> mine = ones(5);
    if (runtime::world().process == 1) mine[0] = runtime::empty(sn::Shape{5}, DType::Int32, mine[0]->device);
    c.all_reduce(mine, ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_BringDifferentCounts) {
  report_errors([](Communicator& c) {
    const std::vector<std::int64_t> counts =
        runtime::world().process == 0 ? std::vector<std::int64_t>{1, 3} : std::vector<std::int64_t>{2, 2};
    const std::size_t own = runtime::world().process == 0 ? 1 : 2;
    c.all_gather(ones(own), ones(4), counts);
  });
}
TEST(Child, DISABLED_BringDifferentRoots) {
  report_errors([](Communicator& c) { c.broadcast(ones(5), runtime::world().process); });
}
TEST(Child, DISABLED_SendDifferently) {
  report_errors([](Communicator& c) {
    const std::vector<TensorRef> mine = ones(runtime::world().process == 1 ? 6 : 5);
    c.send(mine[0], 0, mine[0], 1);
  });
}
TEST(Child, DISABLED_OneIsRefused) {
  report_errors([](Communicator& c) {
    c.all_reduce(runtime::world().process == 1 ? std::vector<TensorRef>{TensorRef()} : ones(5), ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_AllAreRefused) {
  report_errors([](Communicator& c) { c.all_reduce({}, ReduceOp::Sum); });
}
TEST(Child, DISABLED_OneNeverCalls) {
  wait_for_seconds_only();
  if (runtime::world().process == 2) std::this_thread::sleep_for(std::chrono::seconds(12));
  report_errors([](Communicator& c) { c.all_reduce(ones(5), ReduceOp::Sum); }, 1);
}
TEST(Child, DISABLED_OneNeverStarts) {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == std::string("1"))
    return std::this_thread::sleep_for(std::chrono::seconds(2));
  std::string report;
  for (int i = 0; i < 2; ++i) try {
      runtime::world();
    } catch (const sn::Error& e) {
      report += "error " + std::to_string(i) + ": " + e.what() + "\n";
    }
  report_and_leave(report, 1);
}
TEST(Child, DISABLED_OneNeverSends) {
  wait_for_seconds_only();
  if (runtime::world().process == 0) std::this_thread::sleep_for(std::chrono::seconds(12));
  report_errors(
      [](Communicator& c) {
        const std::vector<TensorRef> mine = ones(5);
        c.send(mine[0], 0, mine[0], 1);
      },
      1);
}
TEST(Child, DISABLED_OneDies) {
  wait_for_seconds_only();
  if (runtime::world().process == 1) _exit(0);
  report_errors([](Communicator& c) { c.all_reduce(ones(5), ReduceOp::Sum); }, 1);
}
TEST(Child, DISABLED_OneEnds) {
  communicator();
  if (runtime::world().process != 1) report_errors([](Communicator& c) { c.all_reduce(ones(5), ReduceOp::Sum); }, 1);
}

/// An error of this process, which is told once however deep it is.
void fail() {
  const sn::Mesh world = sn::Mesh::world(), alone({sn::Device()});
  const auto deep = [&](const sn::Mesh& mesh) {
    runtime::together(
        mesh, [&] { runtime::together(world, [] { throw sn::OutOfMemory("no room for the rows of this one"); }); });
  };
  try {
    deep(runtime::world().process % 2 ? world : alone);
  } catch (const sn::OutOfMemory&) {
  }
}
TEST(Child, DISABLED_OneHasAnErrorFirst) {
  report_errors([](Communicator& c) {
    if (runtime::world().process == 1) fail();
    if (runtime::world().process != 1) c.all_reduce(ones(5), ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_OneHasAnErrorBeforeItsPartOfASend) {
  report_errors([](Communicator& c) {
    if (runtime::world().process == 1) fail();
    const std::vector<TensorRef> mine = ones(5);
    if (runtime::world().process == 0) c.send(mine[0], 0, mine[0], 1);
  });
}
/// Whether the others hear of it first or find the call another one.
TEST(Child, DISABLED_OneTriesAgain) {
  report_errors([](Communicator& c) {
    if (runtime::world().process == 1) {
      fail();
      std::this_thread::sleep_for(std::chrono::milliseconds(std::getenv("CHILD_IS_SLOW") ? 300 : 0));
    } else if (!std::getenv("CHILD_IS_SLOW")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    c.all_reduce(ones(5), ReduceOp::Sum);
  });
}
TEST(Child, DISABLED_AllHaveAnError) {
  Communicator& c = communicator();
  meet(c.size());
  for (int i = 0; i < 20; ++i) {
    for (int errors = 0; errors <= i % 3; ++errors) fail();
    c.all_reduce(ones(5), ReduceOp::Sum);
    EXPECT_THROW(runtime::together(sn::Mesh::world(), [&] { c.all_reduce({}, ReduceOp::Sum); }), sn::Error);
  }
}
TEST(Child, DISABLED_OneHasAnErrorAtTheEnd) {
  communicator().barrier();
  if (runtime::world().process == 1) fail();
}
TEST(Child, DISABLED_OneEndsBeforeItSends) {
  Communicator& c = communicator();
  if (runtime::world().process == 0) return;
  report_errors(
      [&](Communicator&) {
        const std::vector<TensorRef> mine = ones(5);
        if (runtime::world().process == 1) c.send(mine[0], 0, mine[0], 1);
      },
      1);
}
// What starts them.

constexpr const char* one_second = "-x SINTER_COLLECTIVE_TIMEOUT=1";
constexpr double not_a_hang = 40;  // seconds, of four that it takes

TEST_F(Mpi, DifferentCallsAreNamed) {
  const Result r = reports_of(3, "MakeDifferentCalls");
  for (int process = 0; process < 3; ++process)
    EXPECT_THAT(r.of(process),
                AllOf(HasSubstr("different calls"), HasSubstr("process 1: broadcast of 5 float32 from rank 0"),
                      HasSubstr("processes 0, 2: all_reduce, sum, of 5 float32"), HasSubstr("error 1"),
                      HasSubstr("out of sync")))
        << r.text;
}

TEST_F(Mpi, EveryDifferenceIsFound) {
  const std::pair<const char*, const char*> cases[] = {
      {"CombineDifferently", "all_reduce, maximum, of 5 float32"},
      {"BringDifferentLengths", "all_reduce, sum, of 6 float32"},
      {"BringDifferentDtypes", "all_reduce, sum, of 5 int32"},
      {"BringDifferentCounts", "all_gather of 4 float32"},
      {"BringDifferentRoots", "broadcast of 5 float32 from rank 1"},
      {"SendDifferently", "send of 6 float32 from rank 0 to 1"},
  };
  for (const auto& [test, message] : cases) {
    const Result r = reports_of(2, test);
    // By its own comparison, or as the other one, which was faster, tells it.
    EXPECT_THAT(r.of(0), AllOf(HasSubstr("process 1"), HasSubstr(message), HasSubstr("error 1"))) << test << r.text;
    EXPECT_THAT(r.of(1), HasSubstr("error 1")) << test << r.text;
  }
}

TEST_F(Mpi, WhoIsRefusedSaysSoToTheOthers) {
  const Result one = reports_of(2, "OneIsRefused");
  EXPECT_THAT(one.of(0), HasSubstr("process 1: a call that it rejected with an error")) << one.text;
  EXPECT_THAT(one.of(1), HasSubstr("there is no array for rank 1 (cpu)")) << one.text;
  const Result all = reports_of(2, "AllAreRefused");
  EXPECT_THAT(all.of(0), AllOf(HasSubstr("0 given arrays"), Not(HasSubstr("error 1")))) << all.text;
  EXPECT_EQ(all.status, 0) << all.text;
}

class Errors : public Mpi, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Processes, Errors, ::testing::Values(2, 4));

TEST_P(Errors, OfOneAreHeardAtOnce) {
  const Result r = reports_of(GetParam(), "OneHasAnErrorFirst");
  for (int process = 0; process < GetParam(); process += 2)
    EXPECT_THAT(r.of(process),
                AllOf(HasSubstr("of " + std::to_string(GetParam()) + " under MPI, in all_reduce, sum, of 5"),
                      HasSubstr("process 1 does not take part because of an error: no room for the"),
                      HasSubstr("error 1"), HasSubstr("out of sync"), Not(HasSubstr("did not respond"))))
        << r.text;
  EXPECT_THAT(r.of(1), AllOf(HasSubstr("error 1: process 1 of"), HasSubstr("does not take part"))) << r.text;
  EXPECT_LT(r.seconds, not_a_hang) << r.text;
}
TEST_P(Errors, OfOneAreHeardByWhoSendsToIt) {
  const Result r = reports_of(GetParam(), "OneHasAnErrorBeforeItsPartOfASend");
  EXPECT_THAT(r.of(0), AllOf(HasSubstr("in send of 5 float32 from rank 0 to 1"), HasSubstr("process 1 does not take"),
                             HasSubstr("no room for the rows of this one")))
      << r.text;
  EXPECT_LT(r.seconds, not_a_hang) << r.text;
}
TEST_P(Errors, OfOneAreOnesOfAllThoughItTriesAgain) {
  for (const char* option : {"", " -x CHILD_IS_SLOW=1"}) {
    const Result r = reports_of(GetParam(), "OneTriesAgain", option);
    for (int process = 0; process < GetParam(); ++process)
      EXPECT_THAT(r.of(process),
                  AllOf(HasSubstr("error 0: process"), HasSubstr("error 1"), HasSubstr("no room for the")))
          << r.text;
    EXPECT_LT(r.seconds, not_a_hang) << r.text;
  }
}
TEST_P(Errors, OfAllLeaveThemTogether) {
  const Result r = reports_of(GetParam(), "AllHaveAnError");
  EXPECT_EQ(r.status, 0) << r.text;
}
TEST_P(Errors, AtTheEndDisturbNobody) {
  const Result r = mpirun(GetParam(), "OneHasAnErrorAtTheEnd");
  EXPECT_EQ(r.status, 0) << r.text;
}
TEST_P(Errors, OfWhoSendsToOneThatHasEnded) {
  const Result r = reports_of(GetParam(), "OneEndsBeforeItSends");
  EXPECT_THAT(r.of(1), AllOf(HasSubstr("send of 5 float32 from rank 0 to 1"), HasSubstr("process 0 gave up: end of")))
      << r.text;
  EXPECT_LT(r.seconds, not_a_hang) << r.text;
}

TEST_F(Mpi, WhoNeverCallsIsNamed) {
  const Result r = reports_of(3, "OneNeverCalls");
  for (const int process : {0, 1})
    EXPECT_THAT(r.of(process), AllOf(HasSubstr("all_reduce, sum, of 5 float32"), HasSubstr("within 3 s"),
                                     HasSubstr("process 2 did not respond"), HasSubstr("error 1")))
        << r.text;
  EXPECT_LT(r.seconds, not_a_hang);
}

TEST_F(Mpi, WhoNeverStartsDoesNotHangTheOthers) {
  const Result r = reports_of(2, "OneNeverStarts", one_second);
  EXPECT_THAT(r.of(0),
              AllOf(HasSubstr("did not start within 1 s"), HasSubstr("some of the 2 processes"), HasSubstr("error 1")))
      << r.text;
  EXPECT_LT(r.seconds, not_a_hang);
}

TEST_F(Mpi, ASenderThatNeverComesIsNamed) {
  const Result r = reports_of(2, "OneNeverSends");
  EXPECT_THAT(r.of(1), AllOf(HasSubstr("send of 5 float32 from rank 0 to 1"), HasSubstr("within 3 s"),
                             HasSubstr("process 0 did not respond")))
      << r.text;
}

TEST_F(Mpi, WhoDiesDoesNotHangTheOthers) {
  const Result killed = mpirun(3, "OneDies");  // by mpirun, which sees it first
  EXPECT_NE(killed.status, 0);
  EXPECT_LT(killed.seconds, not_a_hang) << killed.text;
  const Result alone = reports_of(3, "OneDies", "--enable-recovery");
  EXPECT_THAT(alone.of(0), AllOf(HasSubstr("process 1 did not respond"), HasSubstr("error 1"))) << alone.text;
  EXPECT_LT(alone.seconds, not_a_hang) << alone.text;
}

TEST_F(Mpi, WhoHasEndedIsNamed) {
  const Result r = reports_of(3, "OneEnds");
  for (const int process : {0, 2})
    EXPECT_THAT(r.of(process), AllOf(HasSubstr("process 1: end of the program"))) << r.text;
}

}  // namespace
