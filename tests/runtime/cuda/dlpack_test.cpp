// DLPack with CUDA's memory and streams, on a driver whose streams put work off: an order that is missing shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include <runtime/cuda/driver.hpp>
#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace driver = sn::runtime::driver;
using sn::dlpack::DeviceType;
using sn::testing::calls_of;
using Array = sn::Tensor<float, sn::Cuda<>>;

constexpr std::int64_t n = 1000;
std::vector<float> all(float value) { return std::vector<float>(n, value); }

class DLPackOnCuda : public ::testing::Test {
 protected:
  void SetUp() override { sn::testing::fake_for_expressions(); }
  void TearDown() override { sn::synchronize(); }

  static Array array(float value) { return sn::full({n}, value).cuda(0); }
  static bool waits_on_host(const std::function<void()>& work) {
    auto calls = calls_of(work);
    return calls["cuStreamSynchronize"] || calls["cuEventSynchronize"];
  }
};

/// A producer's array on GPU 0, in memory that Sinter knows nothing of as far as the importer can tell.
struct Producer {
  Array memory = sn::empty({n}, sn::cuda<0>);
  std::int64_t shape[1] = {n};
  bool deleted = false;
  sn::dlpack::ManagedTensorVersioned managed{};

  Producer() {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.dl_tensor = {memory.data(), {DeviceType::Cuda, 0}, 1, {sn::dlpack::TypeCode::Float, 32, 1}, shape};
    managed.deleter = [](sn::dlpack::ManagedTensorVersioned* m) {
      auto& p = *static_cast<Producer*>(m->manager_ctx);
      p.deleted = true;
      std::memset(p.managed.dl_tensor.data, 0xFF, 4 * n);  // the fake's memory is the host's
    };
  }
};

TEST_F(DLPackOnCuda, SaysWhereMemoryIs) {
  EXPECT_EQ(sn::to_dlpack(array(1))->dl_tensor.device.device_type, DeviceType::Cuda);
  EXPECT_EQ(sn::to_dlpack(sn::empty({2}, sn::cuda<1>))->dl_tensor.device.device_id, 1);
  EXPECT_EQ(sn::to_dlpack(sn::ones({2}).pin_memory())->dl_tensor.device.device_type, DeviceType::CudaHost);
  EXPECT_EQ(sn::to_dlpack(sn::ones({2}))->dl_tensor.device.device_type, DeviceType::Cpu);
}

TEST_F(DLPackOnCuda, ImportsWhatTheDriverReaches) {
  Producer p;
  for (const DeviceType type : {DeviceType::Cuda, DeviceType::CudaManaged}) {
    p.managed.dl_tensor.device.device_type = type;
    EXPECT_EQ(sn::from_dlpack(&p.managed).device(), sn::Device(0));
  }
  p.managed.dl_tensor.device.device_type = DeviceType::CudaHost;
  EXPECT_EQ(sn::from_dlpack(&p.managed).device(), sn::Device());
  p.deleted = false;
  p.managed.dl_tensor.device.device_type = DeviceType::ExtDev;
  EXPECT_THROW(sn::from_dlpack(&p.managed), sn::DeviceError);
  p.managed.dl_tensor.device = {DeviceType::Cuda, 2};
  EXPECT_THROW(sn::from_dlpack(&p.managed), sn::DeviceError);
  p.managed.dl_tensor.device = {DeviceType::Cuda, 0};
  p.managed.dl_tensor.byte_offset = 2;
  EXPECT_THROW(sn::from_dlpack(&p.managed), sn::Error);  // a GPU reads elements where they are aligned
  EXPECT_FALSE(p.deleted);
}

TEST_F(DLPackOnCuda, AConsumersStreamWaitsForOurs) {
  const sn::Stream ours(0), theirs(0);
  Array x = array(0), result = array(0);
  {
    const sn::StreamGuard on(ours);
    x.copy_(array(3));
  }
  sn::DLPack managed;
  EXPECT_FALSE(waits_on_host([&] { managed = sn::to_dlpack(x, {.stream = theirs}); }));
  {
    // As the consumer's library would, which knows no order but its stream's.
    const sn::StreamGuard on(theirs);
    const Array view = sn::from_dlpack<float, sn::Cuda<>>(sn::to_dlpack(x, {.stream = theirs}));
    result.copy_(view);
    theirs.synchronize();
  }
  EXPECT_EQ(result.to_vector(), all(3));
}

TEST_F(DLPackOnCuda, WithoutAStreamTheTensorIsThere) {
  Array x = array(0);
  x.copy_(array(4));
  const sn::DLPack managed = sn::to_dlpack(x);
  EXPECT_EQ(*static_cast<float*>(managed->dl_tensor.data), 4);
}

TEST_F(DLPackOnCuda, OurWorkWaitsForAProducersStream) {
  const sn::Stream theirs(0);
  Producer p;
  Array result = array(0);
  {
    const sn::StreamGuard on(theirs);
    p.memory.copy_(array(5));
  }
  sn::AnyTensor kept;
  EXPECT_FALSE(waits_on_host([&] {
    const auto x = sn::from_dlpack<float, sn::Cuda<>>(&p.managed, {.stream = theirs});
    result.copy_(x);
    kept = x;  // else the host would wait when it goes
  }));
  EXPECT_EQ(result.to_vector(), all(5));
}

TEST_F(DLPackOnCuda, MemoryGoesBackAfterOurWork) {
  const sn::Stream ours(0);
  Producer p;
  p.memory.copy_(array(6));
  sn::synchronize();
  Array result = array(0);
  auto x = sn::from_dlpack<float, sn::Cuda<>>(&p.managed);
  {
    const sn::StreamGuard on(ours);
    result.copy_(x);  // is put off
  }
  x = Array(sn::AnyTensor(sn::empty({1}, sn::Device(0))));
  EXPECT_TRUE(p.deleted);
  EXPECT_EQ(result.to_vector(), all(6));
}

TEST_F(DLPackOnCuda, ALentTensorWaitsForTheConsumersLastWork) {
  auto x = array(7);
  const Array result = array(0);
  const driver::Driver& d = driver::opened().functions;
  driver::CUcontext context = nullptr;
  d.cuDevicePrimaryCtxRetain(&context, 0);
  d.cuCtxSetCurrent(context);
  driver::CUstream theirs = nullptr;
  ASSERT_EQ(d.cuStreamCreate(&theirs, driver::stream_non_blocking), driver::success);
  sn::synchronize();
  sn::DLPack managed = sn::to_dlpack(x, {.stream = sn::Stream::from_native(theirs, 0)});
  // The consumer's work, of which Sinter is told nothing.
  const auto address = [](const void* p) { return reinterpret_cast<driver::CUdeviceptr>(p); };
  ASSERT_EQ(d.cuMemcpyDtoDAsync(address(result.data()), address(managed->dl_tensor.data), 4 * n, theirs), 0);
  x.copy_(array(9));
  sn::default_stream(sn::Device(0)).synchronize();
  EXPECT_EQ(*result.data(), 7);
  EXPECT_EQ(*x.data(), 9);
  managed.reset();
  d.cuStreamDestroy(theirs);
}

}  // namespace
