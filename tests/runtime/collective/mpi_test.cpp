// Several processes, of CPUs and of virtual GPUs: the contract, the bits of sums, what is counted, other MPIs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include <runtime/collective/mpi_communicator.hpp>
#include <runtime/collective/mpi_library.hpp>
#include <sinter/runtime/error.hpp>

#include "mpirun.hpp"
#include "setup.hpp"

namespace {

// No virtual GPUs, unless a test asks for them.
const sinter::test::Setup mpi_without_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "", 0); });

namespace sn = sinter;
namespace runtime = sn::runtime;
using namespace sn::testing;
using sn::Device;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Child, DISABLED_KeepsTheContract) {
  Communicator& c = communicator();
  sn::testing::Contract(c, local_devices(), 21).run(40);
}

TEST(Child, DISABLED_KeepsTheContractInParts) {
  runtime::set_mpi_part(7);
  Communicator& c = communicator();
  sn::testing::Contract(c, local_devices(), 22).run(20);
}

TEST(Child, DISABLED_KnowsTheWorld) {
  const runtime::RankTable& world = runtime::world();
  const int process = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")),
            size = std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE"));
  EXPECT_EQ(world.process, process);
  EXPECT_EQ(static_cast<int>(world.all.size()), size * world.local);
  EXPECT_EQ(world.first, process * world.local);
  Communicator& c = communicator();
  EXPECT_EQ(c.name(), size == 1 ? "loopback" : "MPI");
  EXPECT_EQ(c.size(), size * world.local);
  std::printf("process %d of %d has %d x %s\n", process, size, world.local, to_string(world.all[0]).c_str());
}

/// Process 0 gathers what all made of the same sum; bits must be equal.
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
    if (p >= c.first_local_rank() && p < c.first_local_rank() + c.local_size())
      mine.push_back(array(local_devices()[mine.size()], values));
  }
  c.all_reduce(mine, ReduceOp::Sum);
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
  const auto local = static_cast<std::uint64_t>(c.local_size()), size = static_cast<std::uint64_t>(c.size());
  const std::vector<std::int64_t> counts(size, 1000);
  c.all_reduce(one, ReduceOp::Sum);
  expect(1, 4000);
  c.all_gather(one, all, counts);
  expect(1, 4000 * local);
  c.reduce_scatter(all, one, counts, ReduceOp::Sum);
  expect(1, 4000 * size);
  c.broadcast(one, 0);
  expect(c.first_local_rank() == 0, c.first_local_rank() == 0 ? 4000 : 0);
  if (c.first_local_rank() == 0) c.send(one[0], 0, {}, c.size() - 1);
  if (c.first_local_rank() + c.local_size() == c.size()) c.send({}, 0, one.back(), c.size() - 1);
  expect(c.first_local_rank() == 0, c.first_local_rank() == 0 ? 4000 : 0);
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
        c.all_reduce(mine, ReduceOp::Sum);
        const float expected = static_cast<float>(c.size());
        EXPECT_EQ(std::memcmp(sn::testing::bytes_of(mine[0]).data(), &expected, 4), 0);
      }
    });
  for (std::thread& t : threads) t.join();
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
/// A program that uses MPI itself, for calls from its main thread only.
TEST(Child, DISABLED_HasItsOwnMpi) {
  const runtime::mpi::Library& mpi = runtime::mpi::library();
  int level = 0;
  constexpr int funneled = 1;
  ASSERT_EQ(mpi.MPI_Init_thread(nullptr, nullptr, funneled, &level), 0);
  Communicator& c = communicator();
  c.barrier();
  const auto error = [&c]() -> std::string {
    try {
      c.barrier();
      return "none";
    } catch (const sn::Error& e) {
      return e.what();
    }
  };
  std::string elsewhere;
  std::thread([&] { elsewhere = error(); }).join();
  EXPECT_THAT(elsewhere, HasSubstr(level == funneled ? "from its main thread only" : "none"));
  mpi.MPI_Finalize();
  EXPECT_THAT(error(), HasSubstr("the program has finalized MPI"));
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

class MpiOver : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_TRUE(has_mpirun()) << "there is no mpirun: scripts/deps test installs it"; }
};
INSTANTIATE_TEST_SUITE_P(Processes, MpiOver, ::testing::Values(1, 2, 4));

constexpr const char* well =
    "KeepsTheContract*:Child.DISABLED_KnowsTheWorld:Child.DISABLED_SumsHaveTheSameBitsEverywhere";

TEST_P(MpiOver, CpusKeepTheContract) {
  const Result r = mpirun(GetParam(), well);
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("process 0 of " + std::to_string(GetParam()) + " has 1 x cpu"));
}
TEST_P(MpiOver, VirtualGpusKeepTheContract) {
  const Result r = mpirun(GetParam(), well, "-x SINTER_VIRTUAL_GPUS=2");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("process 0 of " + std::to_string(GetParam()) + " has 2 x cuda:0"));
}

TEST_F(Mpi, CountsTraffic) {
  const Result r = mpirun(3, "CountsTraffic:Child.DISABLED_ThreadsTakeTurns", "-x SINTER_VIRTUAL_GPUS=2");
  EXPECT_EQ(r.status, 0) << r.text;
}

TEST_F(Mpi, AChildOfAForkIsNone) {
  const Result r = mpirun(2, "AChildOfAForkIsNone");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(r.text, HasSubstr("a child of a fork is not one of the processes"));
}

TEST_F(Mpi, AProgramMayUseItItself) {
  const Result r = mpirun(2, "HasItsOwnMpi");
  EXPECT_EQ(r.status, 0) << r.text;
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
                            HasSubstr("only Open MPI's ABI")));
  const Result none = shell("OMPI_COMM_WORLD_SIZE=2 SINTER_MPI=" SINTER_FAKE_CUDA " " + child("OpensTheWorld"));
  EXPECT_THAT(none.text, AllOf(HasSubstr("DeviceError"), HasSubstr("it is not an MPI library")));
}

}  // namespace
