// Several processes: this program starts itself again, through mpirun. Tests that are DISABLED_ are what those run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <runtime/collective/collective.hpp>
#include <runtime/collective/mpi_communicator.hpp>
#include <sinter/runtime/error.hpp>

#include "contract.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::Combine;
using runtime::Communicator;
using runtime::TensorRef;
using sn::Device;
using sn::DType;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

// What runs as a process of several.

std::vector<Device> local_devices() {
  const runtime::World& world = runtime::world();
  return {world.all.begin() + world.first, world.all.begin() + world.first + world.local};
}
Communicator& communicator() {
  static const std::unique_ptr<Communicator> made = runtime::make_world_communicator(runtime::world());
  return *made;
}

template <class T>
TensorRef array(Device device, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return sn::testing::filled(device, sn::dtype_of<T>, bytes);
}
/// Of so many ones, for each position here.
std::vector<TensorRef> ones(std::size_t n) {
  std::vector<TensorRef> all;
  for (const Device d : local_devices()) all.push_back(array(d, std::vector<float>(n, 1.0f)));
  return all;
}

TEST(Child, DISABLED_KeepsTheContract) {
  Communicator& c = communicator();
  sn::testing::Contract(c, local_devices(), 21).run(60);
}

TEST(Child, DISABLED_KeepsTheContractInParts) {
  runtime::set_mpi_part(7);
  Communicator& c = communicator();
  sn::testing::Contract(c, local_devices(), 22).run(30);
}

TEST(Child, DISABLED_KnowsTheWorld) {
  const runtime::World& world = runtime::world();
  const int rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")),
            size = std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE"));
  EXPECT_EQ(world.rank, rank);
  EXPECT_EQ(static_cast<int>(world.all.size()), size * world.local);
  EXPECT_EQ(world.first, rank * world.local);
  Communicator& c = communicator();
  EXPECT_EQ(c.name(), size == 1 ? "loopback" : "MPI");
  EXPECT_EQ(c.size(), size * world.local);
  std::printf("rank %d of %d has %d x %s\n", rank, size, world.local, to_string(world.all[0]).c_str());
}

/// Rank 0 gathers what all made of the same sum; bits must be equal.
template <class T>
void expect_same_bits_of_sums() {
  Communicator& c = communicator();
  std::vector<TensorRef> mine, all;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(c.size()), 1000);
  std::vector<double> exact(1000), size(1000);
  for (int p = 0; p < c.size(); ++p) {
    std::mt19937 random(static_cast<unsigned>(p) + 5);
    std::normal_distribution<float> normal;
    std::vector<T> values;
    for (std::size_t i = 0; i < 1000; ++i) {
      values.push_back(T(i == 999 ? std::nanf(p % 2 ? "1" : "2") : normal(random)));
      exact[i] += static_cast<double>(static_cast<float>(values[i]));
      size[i] += std::abs(static_cast<double>(static_cast<float>(values[i])));
    }
    if (p >= c.first() && p < c.first() + c.local()) mine.push_back(array(local_devices()[mine.size()], values));
  }
  c.all_reduce(mine, Combine::Sum);
  for (const Device d : local_devices()) all.push_back(runtime::empty(sn::Shape{1000 * c.size()}, sn::dtype_of<T>, d));
  c.all_gather(mine, all, counts);
  const std::vector<std::byte> bytes = sn::testing::bytes_of(all[0]);
  const std::size_t one = 1000 * sizeof(T);
  for (std::size_t p = 1; p < counts.size(); ++p) EXPECT_EQ(std::memcmp(&bytes[0], &bytes[p * one], one), 0) << p;
  const double step = sizeof(T) == 4 ? 0x1p-24 * c.size() : std::is_same_v<T, sn::half> ? 0x1p-11 : 0x1p-8;
  for (std::size_t i = 0; i < 999; ++i) {
    T got;
    std::memcpy(&got, &bytes[i * sizeof(T)], sizeof(T));
    const double error = std::abs(static_cast<double>(static_cast<float>(got)) - exact[i]);
    // Rounded once; float32 at each addition.
    EXPECT_LE(error, sizeof(T) == 4 ? step * size[i] : step * std::abs(exact[i]) + 0x1p-22 * size[i] + 0x1p-24) << i;
  }
}
TEST(Child, DISABLED_SumsHaveTheSameBitsEverywhere) {
  expect_same_bits_of_sums<float>();
  expect_same_bits_of_sums<sn::half>();
  expect_same_bits_of_sums<sn::bfloat16>();
}

TEST(Child, DISABLED_CountsTraffic) {
  Communicator& c = communicator();
  auto expect = [&, before = c.traffic()](std::uint64_t messages, std::uint64_t bytes) mutable {
    const auto now = c.traffic();
    EXPECT_EQ(now.messages - before.messages, messages);
    EXPECT_EQ(now.bytes - before.bytes, bytes);
    before = now;
  };
  const std::vector<TensorRef> one = ones(1000), all = ones(1000 * static_cast<std::size_t>(c.size()));
  const auto local = static_cast<std::uint64_t>(c.local()), size = static_cast<std::uint64_t>(c.size());
  const std::vector<std::int64_t> counts(size, 1000);
  c.all_reduce(one, Combine::Sum);
  expect(1, 4000);
  c.all_gather(one, all, counts);
  expect(1, 4000 * local);
  c.reduce_scatter(all, one, counts, Combine::Sum);
  expect(1, 4000 * size);
  c.broadcast(one, 0);
  expect(c.first() == 0, c.first() == 0 ? 4000 : 0);
  if (c.first() == 0) c.send(one[0], 0, {}, c.size() - 1);
  if (c.first() + c.local() == c.size()) c.send({}, 0, one.back(), c.size() - 1);
  expect(c.first() == 0, c.first() == 0 ? 4000 : 0);
  c.barrier();
  expect(0, 0);
}

/// What the calls of several threads at once give.
TEST(Child, DISABLED_ThreadsTakeTurns) {
  Communicator& c = communicator();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const std::vector<TensorRef> mine = ones(100);
        c.all_reduce(mine, Combine::Sum);
        const float expected = static_cast<float>(c.size());
        EXPECT_EQ(std::memcmp(sn::testing::bytes_of(mine[0]).data(), &expected, 4), 0);
      }
    });
  for (std::thread& t : threads) t.join();
}

/// Prints what `call` throws, and what the next one does.
template <class F>
void print_errors(F call) {
  const auto begin = std::chrono::steady_clock::now();
  Communicator& c = communicator();
  for (int i = 0; i < 2; ++i) try {
      if (i == 0)
        call(c);
      else
        c.barrier();
      std::printf("no error\n");
    } catch (const sn::Error& e) {
      std::printf("<%d> error %d after %.0f s: %s</%d>\n", runtime::world().rank, i,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), e.what(),
                  runtime::world().rank);
    }
  std::fflush(stdout);
}

TEST(Child, DISABLED_MakeDifferentCalls) {
  print_errors([](Communicator& c) {
    if (runtime::world().rank == 1)
      c.broadcast(ones(5), 0);
    else
      c.all_reduce(ones(5), Combine::Sum);
  });
}
TEST(Child, DISABLED_CombineDifferently) {
  print_errors(
      [](Communicator& c) { c.all_reduce(ones(5), runtime::world().rank == 1 ? Combine::Maximum : Combine::Sum); });
}
TEST(Child, DISABLED_BringDifferentLengths) {
  print_errors([](Communicator& c) { c.all_reduce(ones(runtime::world().rank == 1 ? 6 : 5), Combine::Sum); });
}
TEST(Child, DISABLED_BringDifferentDtypes) {
  print_errors([](Communicator& c) {
    std::vector<TensorRef> mine = ones(5);
    if (runtime::world().rank == 1) mine[0] = runtime::empty(sn::Shape{5}, DType::Int32, mine[0]->device);
    c.all_reduce(mine, Combine::Sum);
  });
}
TEST(Child, DISABLED_BringDifferentCounts) {
  print_errors([](Communicator& c) {
    const std::vector<std::int64_t> counts =
        runtime::world().rank == 0 ? std::vector<std::int64_t>{1, 3} : std::vector<std::int64_t>{2, 2};
    const std::size_t own = runtime::world().rank == 0 ? 1 : 2;
    c.all_gather(ones(own), ones(4), counts);
  });
}
TEST(Child, DISABLED_BringDifferentRoots) {
  print_errors([](Communicator& c) { c.broadcast(ones(5), runtime::world().rank); });
}
TEST(Child, DISABLED_SendDifferently) {
  print_errors([](Communicator& c) {
    const std::vector<TensorRef> mine = ones(runtime::world().rank == 1 ? 6 : 5);
    c.send(mine[0], 0, mine[0], 1);
  });
}
TEST(Child, DISABLED_OneIsRefused) {
  print_errors([](Communicator& c) {
    c.all_reduce(runtime::world().rank == 1 ? std::vector<TensorRef>{TensorRef()} : ones(5), Combine::Sum);
  });
}
TEST(Child, DISABLED_AllAreRefused) {
  print_errors([](Communicator& c) { c.all_reduce({}, Combine::Sum); });
}
TEST(Child, DISABLED_OneNeverCalls) {
  communicator();
  if (runtime::world().rank == 2) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    std::printf("<2> slept</2>\n");
    std::fflush(stdout);
  }
  print_errors([](Communicator& c) { c.all_reduce(ones(5), Combine::Sum); });
}
TEST(Child, DISABLED_OneNeverSends) {
  communicator();
  if (runtime::world().rank == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
  print_errors([](Communicator& c) {
    const std::vector<TensorRef> mine = ones(5);
    c.send(mine[0], 0, mine[0], 1);
  });
}
TEST(Child, DISABLED_OneDies) {
  communicator().barrier();
  if (runtime::world().rank == 1) _exit(0);
  print_errors([](Communicator& c) { c.all_reduce(ones(5), Combine::Sum); });
}
TEST(Child, DISABLED_OneEnds) {
  communicator();
  if (runtime::world().rank != 1) print_errors([](Communicator& c) { c.all_reduce(ones(5), Combine::Sum); });
}
TEST(Child, DISABLED_AChildOfAForkIsNone) {
  Communicator& c = communicator();
  c.barrier();
  if (const pid_t child = fork(); child == 0) {
    try {
      c.barrier();
    } catch (const sn::Error& e) {
      std::printf("%s\n", e.what());
      std::fflush(stdout);
    }
    std::exit(0);
  }
  c.barrier();
}
TEST(Child, DISABLED_OpensTheWorld) {
  try {
    std::printf("a world of %zu\n", runtime::world().all.size());
  } catch (const sn::DeviceError& e) {
    std::printf("DeviceError: %s\n", e.what());
  }
  std::fflush(stdout);
}

// What starts them.

bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

struct Result {
  int status = -1;
  double seconds = 0;
  std::string text;
  /// What the process of a rank printed between <rank> and </rank>, all together.
  std::string of(int rank) const {
    const std::string open = "<" + std::to_string(rank) + ">", close = "</" + std::to_string(rank) + ">";
    std::string all;
    for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
      const std::size_t end = text.find(close, at);
      all += text.substr(at, end - at) + "\n";
      at = end == std::string::npos ? text.size() : end;
    }
    return all;
  }
};

Result shell(const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.text.append(buffer, n);
  result.status = pclose(pipe);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::string self() {
  char path[4096] = {};
  return readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? path : "";
}
std::string child(const std::string& tests) {
  return self() + " --gtest_also_run_disabled_tests --gtest_brief=1 --gtest_filter=Child.DISABLED_" + tests;
}

/// Several processes on one machine, without what a container forbids.
Result mpirun(int processes, const std::string& tests, const std::string& options = "") {
  return shell(
      "timeout 60 env OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=/bin/true "
      "OMPI_MCA_btl=self,vader OMPI_MCA_odls_base_sigkill_timeout=0 mpirun --allow-run-as-root --oversubscribe "
      "--bind-to none " +
      options + " -n " + std::to_string(processes) + " " + child(tests));
}

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpirun()) GTEST_SKIP() << "mpirun is not installed: apt install openmpi-bin";
  }
};
class MpiOver : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!has_mpirun()) GTEST_SKIP() << "mpirun is not installed: apt install openmpi-bin";
  }
};
INSTANTIATE_TEST_SUITE_P(Processes, MpiOver, testing::Values(1, 2, 4));

constexpr const char* well =
    "KeepsTheContract*:Child.DISABLED_KnowsTheWorld:Child.DISABLED_SumsHaveTheSameBitsEverywhere";

TEST_P(MpiOver, CpusKeepTheContract) {
  const Result r = mpirun(GetParam(), well);
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("rank 0 of " + std::to_string(GetParam()) + " has 1 x cpu"));
}
TEST_P(MpiOver, VirtualGpusKeepTheContract) {
  const Result r = mpirun(GetParam(), well, "-x SINTER_VIRTUAL_GPUS=2");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("rank 0 of " + std::to_string(GetParam()) + " has 2 x cuda:0"));
}

TEST_F(Mpi, CountsTraffic) {
  const Result r = mpirun(3, "CountsTraffic:Child.DISABLED_ThreadsTakeTurns", "-x SINTER_VIRTUAL_GPUS=2");
  EXPECT_EQ(r.status, 0) << r.text;
}

constexpr const char* two_seconds = "-x SINTER_COLLECTIVE_TIMEOUT=2";

TEST_F(Mpi, DifferentCallsAreNamed) {
  const Result r = mpirun(3, "MakeDifferentCalls");
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_THAT(r.of(rank),
                AllOf(HasSubstr("different calls"), HasSubstr("rank 1: broadcast of 5 float32 from position 0"),
                      HasSubstr("ranks 0, 2: all_reduce, sum, of 5 float32"), HasSubstr("error 1 after 0 s"),
                      HasSubstr("out of step")))
        << r.text;
}

TEST_F(Mpi, EveryDifferenceIsFound) {
  const std::pair<const char*, const char*> cases[] = {
      {"CombineDifferently", "rank 1: all_reduce, maximum, of 5 float32"},
      {"BringDifferentLengths", "rank 1: all_reduce, sum, of 6 float32"},
      {"BringDifferentDtypes", "rank 1: all_reduce, sum, of 5 int32"},
      {"BringDifferentCounts", "rank 1: all_gather of 4 float32"},
      {"BringDifferentRoots", "rank 1: broadcast of 5 float32 from position 1"},
      {"SendDifferently", "rank 1: send of 6 float32 from position 0 to 1"},
  };
  for (const auto& [test, message] : cases) {
    const Result r = mpirun(2, test);
    EXPECT_THAT(r.of(0), AllOf(HasSubstr(message), HasSubstr("error 1"))) << test << r.text;
    EXPECT_THAT(r.of(1), HasSubstr("error 1")) << test << r.text;
  }
}

TEST_F(Mpi, WhoIsRefusedSaysSoToTheOthers) {
  const Result one = mpirun(2, "OneIsRefused");
  EXPECT_THAT(one.of(0), HasSubstr("rank 1: a call that it refused with an error of its own")) << one.text;
  EXPECT_THAT(one.of(1), HasSubstr("there is no array for position 1 (cpu)")) << one.text;
  const Result all = mpirun(2, "AllAreRefused");
  EXPECT_THAT(all.of(0), AllOf(HasSubstr("0 given arrays"), Not(HasSubstr("error 1")))) << all.text;
  EXPECT_EQ(all.status, 0) << all.text;
}

TEST_F(Mpi, WhoNeverCallsIsNamed) {
  const Result r = mpirun(3, "OneNeverCalls", two_seconds);
  for (const int rank : {0, 1})
    EXPECT_THAT(r.of(rank), AllOf(HasSubstr("all_reduce, sum, of 5 float32"), HasSubstr("2 s"),
                                  HasSubstr("rank 2 gave no sign of life"), HasSubstr("error 1")))
        << r.text;
  EXPECT_LT(r.seconds, 8);
}

TEST_F(Mpi, ASenderThatNeverComesIsNamed) {
  const Result r = mpirun(2, "OneNeverSends", two_seconds);
  EXPECT_THAT(r.of(1), AllOf(HasSubstr("send of 5 float32 from position 0 to 1"), HasSubstr("within 2 s"),
                             HasSubstr("rank 0 gave no sign of life")))
      << r.text;
}

TEST_F(Mpi, WhoDiesDoesNotHangTheOthers) {
  const Result killed = mpirun(3, "OneDies", two_seconds);  // by mpirun, which sees it first
  EXPECT_NE(killed.status, 0);
  EXPECT_LT(killed.seconds, 8) << killed.text;
  const Result alone = mpirun(3, "OneDies", std::string(two_seconds) + " --enable-recovery");
  EXPECT_THAT(alone.of(0), AllOf(HasSubstr("rank 1 gave no sign of life"), HasSubstr("error 1"))) << alone.text;
  EXPECT_LT(alone.seconds, 8) << alone.text;
}

TEST_F(Mpi, WhoHasEndedIsNamed) {
  const Result r = mpirun(3, "OneEnds", two_seconds);
  for (const int rank : {0, 2})
    EXPECT_THAT(r.of(rank), AllOf(HasSubstr("error 0 after 0 s"), HasSubstr("rank 1: end of the program"))) << r.text;
}

TEST_F(Mpi, AChildOfAForkIsNone) {
  const Result r = mpirun(2, "AChildOfAForkIsNone");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("a child of a fork is none of the processes"));
}

TEST_F(Mpi, WithoutTheLibraryTheErrorSaysWhatHelps) {
  const Result r = mpirun(2, "OpensTheWorld", "-x SINTER_MPI=/nonexistent/libmpi.so");
  EXPECT_THAT(r.text, AllOf(HasSubstr("DeviceError: MPI"), HasSubstr("/nonexistent/libmpi.so"),
                            HasSubstr("apt install openmpi-bin"), HasSubstr("SINTER_MPI")));
}

TEST(MpiWithoutMpirun, StartsNothing) {
  const Result r = shell("SINTER_MPI=/nonexistent " + child("OpensTheWorld"));
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("a world of 1"));
}

TEST(MpiWithoutMpirun, OtherImplementationsAreToldApart) {
  const Result r = shell("OMPI_COMM_WORLD_SIZE=2 SINTER_MPI=" SINTER_FAKE_MPICH " " + child("OpensTheWorld"));
  EXPECT_THAT(r.text, AllOf(HasSubstr("DeviceError"), HasSubstr("\"MPICH Version:      4.0.2\""),
                            HasSubstr("Open MPI's binary interface alone")));
  const Result none = shell("OMPI_COMM_WORLD_SIZE=2 SINTER_MPI=" SINTER_FAKE_CUDA " " + child("OpensTheWorld"));
  EXPECT_THAT(none.text, AllOf(HasSubstr("DeviceError"), HasSubstr("it is no MPI library")));
}

}  // namespace
