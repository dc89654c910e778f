// NCCL, played by a library made for tests, on a driver whose streams put work off: whatever is not waited for is not
// done. No GPU takes part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <runtime/collective/collective.hpp>
#include <runtime/collective/combine.hpp>
#include <runtime/fake_driver/fake_nccl.hpp>
#include <sinter/runtime/error.hpp>

#include "../cuda/fake_gpus.hpp"
#include "mpirun.hpp"
#include "setup.hpp"

namespace {

// No virtual GPUs, unless a test asks for them.
const sinter::test::Setup nccl_without_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "", 0); });

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::ReduceOp;
using runtime::TensorRef;
using sn::Device;
using sn::DType;
using sn::Shape;
using sn::testing::gpus;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// What the kernels that combine do.
void run_kernel(const fake_cuda::Launch& launch) {
  for (int d = 0; d < sn::dtype_count; ++d)
    for (std::size_t h = 0; h < 4; ++h) {
      constexpr std::string_view ways[] = {"sum", "product", "maximum", "minimum"};
      const DType dtype = static_cast<DType>(d);
      if (launch.kernel != "combine_" + std::string(name(dtype)) + "_" + std::string(ways[h])) continue;
      const auto* const from = reinterpret_cast<const std::byte*>(launch.words.at(1));
      const std::uint64_t arrays = launch.words.at(2), count = launch.words.at(3);
      std::vector<const std::byte*> sources;
      for (std::uint64_t a = 0; a < arrays; ++a) sources.push_back(from + a * count * size_of(dtype));
      std::vector<std::byte> wide(count * 8);
      runtime::combine(dtype, static_cast<ReduceOp>(h), wide.data(), sources, static_cast<std::int64_t>(count));
      runtime::narrow(dtype, reinterpret_cast<std::byte*>(launch.words.at(0)), wide.data(),
                      static_cast<std::int64_t>(count));
    }
}

fake_nccl::Control& fake_nccl_control() {
  sn::testing::fake();
  static fake_nccl::Control& control =
      *reinterpret_cast<fake_nccl::Control* (*)()>(dlsym(dlopen(SINTER_FAKE_CUDA, RTLD_LAZY), "fake_nccl_control"))();
  return control;
}

class Nccl : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    setenv("SINTER_NCCL", SINTER_FAKE_CUDA, 1);
    sn::testing::fake_for_expressions().run = run_kernel;
    sn::testing::fake().devices = 8;
    sn::testing::fake().goes_on = true;
    sn::testing::fake().hangs = 0;
    fake_nccl_control() = {};
  }
  void TearDown() override {
    sn::synchronize();
    EXPECT_EQ(fake_nccl_control().misuses, 0);
    EXPECT_EQ(fake_nccl_control().communicators, 0);
    EXPECT_EQ(sn::testing::fake().hangs, 0);
    sn::testing::fake().run = nullptr;
  }
};
using NcclErrors = Nccl;

TEST_P(Nccl, KeepsTheContract) {
  const auto c = runtime::make_nccl(gpus(GetParam()));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->name(), "NCCL");
  sn::testing::Contract(*c, gpus(GetParam()), 31).run(150);
}
INSTANTIATE_TEST_SUITE_P(Numbers, Nccl, ::testing::Values(1, 2, 3, 8));

std::vector<TensorRef> arrays(int n, std::int64_t length, DType dtype = DType::Float32) {
  std::vector<TensorRef> all;
  for (int i = 0; i < n; ++i)
    all.push_back(sn::testing::filled(Device(i), dtype,
                                      std::vector<std::byte>(static_cast<std::size_t>(length) * size_of(dtype))));
  return all;
}

TEST_F(NcclErrors, NothingIsWaitedFor) {
  const auto c = runtime::make_nccl(gpus(2));
  const std::vector<TensorRef> mine = arrays(2, 100);
  sn::synchronize();
  auto calls = sn::testing::calls_of([&] { c->all_reduce(mine, ReduceOp::Sum); });
  for (const char* call : {"cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"})
    EXPECT_EQ(calls[call], 0) << call;
  EXPECT_EQ(fake_nccl_control().calls["ncclAllReduce"], 2);
}

TEST_F(NcclErrors, SixteenBitsAndMaximaAreCombinedByKernels) {
  const auto c = runtime::make_nccl(gpus(2));
  const auto kernels = [&](DType dtype, ReduceOp how) {
    sn::testing::fake().launches.clear();
    c->all_reduce(arrays(2, 100, dtype), how);
    return sn::testing::fake().launches.size();
  };
  EXPECT_EQ(kernels(DType::Float16, ReduceOp::Sum), 2u);
  EXPECT_EQ(kernels(DType::BFloat16, ReduceOp::Sum), 2u);
  EXPECT_EQ(kernels(DType::Int16, ReduceOp::Sum), 2u);
  EXPECT_EQ(kernels(DType::Float32, ReduceOp::Maximum), 2u);
  EXPECT_EQ(kernels(DType::Float32, ReduceOp::Sum), 0u);
  EXPECT_EQ(kernels(DType::Complex128, ReduceOp::Sum), 0u);
}

TEST_F(NcclErrors, EqualShardsAreGatheredByOneCall) {
  const auto c = runtime::make_nccl(gpus(2));
  const auto calls = [&](std::int64_t count) {
    fake_nccl_control().calls.clear();
    c->all_reduce(arrays(2, count, DType::Float16), ReduceOp::Sum);
    return fake_nccl_control().calls;
  };
  EXPECT_EQ(calls(100)["ncclAllGather"], 2);
  EXPECT_EQ(calls(101)["ncclBroadcast"], 4);
}

TEST_F(NcclErrors, TrafficIsWhatIsHandedOver) {
  const auto c = runtime::make_nccl(gpus(4));
  c->all_reduce(arrays(4, 100), ReduceOp::Sum);
  EXPECT_EQ(c->traffic().messages, 4u);
  EXPECT_EQ(c->traffic().bytes, 1600u);
  c->broadcast(arrays(4, 100), 3);
  EXPECT_EQ(c->traffic().messages, 5u);
  EXPECT_EQ(c->traffic().bytes, 2000u);
}

TEST_F(NcclErrors, SayWhatNcclSays) {
  const auto c = runtime::make_nccl(gpus(2));
  fake_nccl_control().fail_call = "ncclAllReduce", fake_nccl_control().fail_result = 1,
  fake_nccl_control().last_error = "the link is down";
  const auto reduce = [&] { c->all_reduce(arrays(2, 100), ReduceOp::Sum); };
  EXPECT_THAT(reduce, ThrowsMessage<sn::Error>(AllOf(HasSubstr("all_reduce, sum, of 100 float32 at ranks 0 to 1 of 2"),
                                                     HasSubstr("unhandled error (1): the link is down"))));
  fake_nccl_control().fail_call.clear();
  EXPECT_THAT(reduce, ThrowsMessage<sn::Error>(AllOf(HasSubstr("NCCL has failed"), HasSubstr("the link is down"))));
  EXPECT_EQ(fake_nccl_control().aborted, 2);
}

TEST_F(NcclErrors, ThatComeLaterAreFound) {
  const auto c = runtime::make_nccl(gpus(2));
  fake_nccl_control().async_error = 6;
  EXPECT_THAT([&] { c->broadcast(arrays(2, 100), 0); }, ThrowsMessage<sn::Error>(HasSubstr("unhandled error (6)")));
}

TEST_F(NcclErrors, WhatNeverEndsIsGivenUp) {
  setenv("SINTER_COLLECTIVE_TIMEOUT", "0.2", 1);
  fake_nccl_control().async_error = 7;
  EXPECT_THAT([] { runtime::make_nccl(gpus(2)); },
              ThrowsMessage<sn::Error>(AllOf(HasSubstr("ncclCommInitRankConfig"), HasSubstr("within 0.2 s"))));
  unsetenv("SINTER_COLLECTIVE_TIMEOUT");
  EXPECT_EQ(fake_nccl_control().aborted, 2);
}

/// A call whose peer has died, and what waits for its stream then.
class NcclWatch : public Nccl {
 protected:
  void SetUp() override {
    Nccl::SetUp();
    setenv("SINTER_COLLECTIVE_TIMEOUT", "0.2", 1);
    fake_nccl_control().hangs = true;
  }
  void TearDown() override {
    unsetenv("SINTER_COLLECTIVE_TIMEOUT");
    Nccl::TearDown();
  }
};
const std::pair<const char*, void (*)(const TensorRef&)> waits[] = {
    {"synchronize", [](const TensorRef&) { sn::synchronize(); }},
    {"of a device", [](const TensorRef& x) { sn::synchronize(x->device); }},
    {"download", [](const TensorRef& x) { (void)sn::testing::bytes_of(x); }},
    {"event", [](const TensorRef& x) { sn::current_stream(x->device).record().synchronize(); }},
    {"of another stream",
     [](const TensorRef& x) {
       const sn::Stream s(x->device);
       const sn::StreamGuard guard(s);
       (void)sn::testing::bytes_of(x);
     }},
    {"upload", [](const TensorRef& x) {
       const std::vector<std::byte> bytes(400);
       for (int i = 0; i < 1 << 17; ++i) runtime::upload({x->buffer.get(), x->data}, bytes.data(), bytes.size());
     }}};

TEST_P(NcclWatch, EndsEveryWait) {
  const auto& [name, wait] = waits[GetParam()];
  const auto c = runtime::make_nccl(gpus(2));
  const std::vector<TensorRef> mine = arrays(2, 100);
  c->all_reduce(mine, ReduceOp::Sum);
  c->broadcast(mine, 0);  // behind it: it is the first one that does not end
  EXPECT_THAT([&] { wait(mine[1]); },
              ThrowsMessage<sn::Error>(AllOf(HasSubstr("all_reduce, sum, of 100 float32 at ranks 0 to 1 of 2"),
                                             HasSubstr("did not finish within 0.2 s"), HasSubstr("undefined"))))
      << name;
  EXPECT_EQ(fake_nccl_control().aborted, 2);
  sn::synchronize();  // the streams go on
  EXPECT_THAT([&] { c->broadcast(mine, 0); }, ThrowsMessage<sn::Error>(HasSubstr("NCCL has failed")));
  fake_nccl_control().hangs = false;
  const auto next = runtime::make_nccl(gpus(2));
  next->all_reduce(mine, ReduceOp::Sum);
  sn::synchronize();
}
INSTANTIATE_TEST_SUITE_P(Waits, NcclWatch, ::testing::Range(0, static_cast<int>(std::size(waits))));

TEST_F(NcclErrors, WhileWaitingAreHeardAtOnce) {
  const auto c = runtime::make_nccl(gpus(2));
  fake_nccl_control().hangs = true;
  c->all_reduce(arrays(2, 100), ReduceOp::Sum);
  fake_nccl_control().async_error = 6, fake_nccl_control().last_error = "the peer is gone";
  EXPECT_THAT([] { sn::synchronize(); }, ThrowsMessage<sn::Error>(AllOf(HasSubstr("all_reduce, sum, of 100 float32"),
                                                                        HasSubstr("(6): the peer is gone"))));
  EXPECT_EQ(fake_nccl_control().aborted, 2);
}

TEST_F(NcclErrors, AreNotBlamedForWorkBeforeThem) {
  setenv("SINTER_COLLECTIVE_TIMEOUT", "0.1", 1);
  const auto c = runtime::make_nccl(gpus(2));
  const auto over = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  sn::testing::fake().run = [over](const fake_cuda::Launch& launch) {
    if (std::chrono::steady_clock::now() < over) throw fake_cuda::Stuck();
    run_kernel(launch);
  };
  c->all_reduce(arrays(2, 100, DType::Int16), ReduceOp::Sum);  // calls, and a kernel in between
  sn::synchronize();
  unsetenv("SINTER_COLLECTIVE_TIMEOUT");
  EXPECT_EQ(fake_nccl_control().aborted, 0);
}

/// Two threads wait: both hear of it, though one of them alone ends the call.
TEST_F(NcclErrors, AreHeardByAllThatWait) {
  setenv("SINTER_COLLECTIVE_TIMEOUT", "0.2", 1);
  const auto c = runtime::make_nccl(gpus(2));
  fake_nccl_control().hangs = true;
  c->all_reduce(arrays(2, 100), ReduceOp::Sum);
  std::atomic<int> heard{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&heard, i] {
      try {
        sn::synchronize(Device(i % 2));
      } catch (const sn::Error&) {
        ++heard;
      }
    });
  for (std::thread& t : threads) t.join();
  unsetenv("SINTER_COLLECTIVE_TIMEOUT");
  EXPECT_EQ(heard, 3);
}

TEST_F(NcclErrors, OfTheSameGpuTwice) {
  EXPECT_THAT([] { runtime::make_nccl({Device(0), Device(0)}); },
              ThrowsMessage<sn::DeviceError>(HasSubstr("cuda:0 is listed twice")));
  EXPECT_THAT([] { runtime::make_nccl({Device(0), Device(sn::cpu)}); },
              ThrowsMessage<sn::DeviceError>(HasSubstr("cpu is not a GPU")));
  fake_nccl_control().fail_call = "ncclCommInitRankConfig", fake_nccl_control().fail_result = 5,
  fake_nccl_control().last_error = "Duplicate GPU detected";
  EXPECT_THAT([] { runtime::make_nccl(gpus(2)); },
              ThrowsMessage<sn::Error>(AllOf(HasSubstr("Duplicate GPU detected"), HasSubstr("CUDA_VISIBLE_DEVICES"))));
}

// Of several processes there is the start alone, and what is compared by MPI: the library made for tests has no
// network.
TEST(Child, DISABLED_ComparesItsCalls) {
  sn::testing::fake_for_expressions();
  setenv("SINTER_NCCL", SINTER_FAKE_CUDA, 1);
  runtime::Communicator& c = sn::testing::communicator();
  const int process = runtime::world().process;
  EXPECT_EQ(c.name(), "NCCL");
  EXPECT_EQ(c.size(), 4);
  EXPECT_EQ(c.first_local_rank(), 2 * process);
  c.barrier();
  std::string report;
  try {
    c.all_reduce(arrays(2, process == 0 ? 5 : 6), ReduceOp::Sum);
  } catch (const sn::Error& e) {
    report = e.what();
  }
  sn::testing::report_and_leave(report, 2);
}
TEST(NcclOfSeveralProcesses, ComparesItsCalls) {
  ASSERT_TRUE(sn::testing::has_mpirun()) << "there is no mpirun: scripts/deps test installs it";
  const sn::testing::Result r = sn::testing::reports_of(2, "ComparesItsCalls");
  EXPECT_EQ(r.status, 0) << r.text;
  for (const int process : {0, 1})
    EXPECT_THAT(r.of(process), AllOf(HasSubstr("process 0: all_reduce, sum, of 5 float32"),
                                     HasSubstr("process 1: all_reduce, sum, of 6")))
        << r.text;
}

TEST(NcclLibrary, ThatIsNoneIsAnError) {
  const sn::testing::Result r = sn::testing::shell("SINTER_NCCL=/nonexistent SINTER_CUDA_DRIVER=" SINTER_FAKE_CUDA " " +
                                                   sn::testing::child("OpensAWrongOne"));
  EXPECT_THAT(r.text, AllOf(HasSubstr("DeviceError: NCCL"), HasSubstr("SINTER_NCCL"), HasSubstr("/nonexistent")));
}
TEST(Child, DISABLED_OpensAWrongOne) {
  try {
    runtime::make_nccl(gpus(2));
  } catch (const sn::DeviceError& e) {
    std::printf("DeviceError: %s\n", e.what());
  }
}

}  // namespace
