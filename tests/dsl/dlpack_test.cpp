// Tensors through DLPack: exports are read by the published layout only, imports are made by hand.
#include <sinter/dsl/dlpack.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "devices.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Managed = dlpack::ManagedTensorVersioned;

// Another header's structures, of the same layout: they are taken as well.
extern "C" {
struct OtherDevice {
  std::int32_t device_type, device_id;
};
struct OtherType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct OtherTensor {
  void* data;
  OtherDevice device;
  std::int32_t ndim;
  OtherType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct OtherManaged {
  OtherTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(OtherManaged*);
};
struct OtherVersion {
  std::uint32_t major, minor;
};
struct OtherVersioned {
  OtherVersion version;
  void* manager_ctx;
  void (*deleter)(OtherVersioned*);
  std::uint64_t flags;
  OtherTensor dl_tensor;
};
}

/// A producer's tensor, which counts how often it is deleted.
template <class M = OtherVersioned>
struct Producer {
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;
  M managed{};

  Producer(void* data, std::vector<std::int64_t> s, std::vector<std::int64_t> steps, OtherType dtype,
           std::uint64_t offset = 0)
      : shape(std::move(s)), strides(std::move(steps)) {
    managed.dl_tensor = {data,  {1, 0},       static_cast<std::int32_t>(shape.size()),
                         dtype, shape.data(), strides.empty() ? nullptr : strides.data(),
                         offset};
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](M* m) { ++static_cast<Producer*>(m->manager_ctx)->deleted; };
  }
  Producer(const Producer&) = delete;
};
constexpr OtherType f32{2, 32, 1}, f64{2, 64, 1}, i32{0, 32, 1};

TEST(ToDlpack, TellsWhereTheElementsLie) {
  const auto x = arange<float>(24).reshape({2, 3, 4});
  const auto part = x(range(0, 2), range(2, range::none, -1), 1);
  const DLPack managed = to_dlpack(part);
  const auto& t = managed->dl_tensor;
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->flags, 0u);
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ(std::vector(t.shape, t.shape + 2), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::vector(t.strides, t.strides + 2), (std::vector<std::int64_t>{12, -4}));
  EXPECT_EQ(t.device.device_type, dlpack::DeviceType::Cpu);
  const auto* data = reinterpret_cast<const float*>(static_cast<const std::byte*>(t.data) + t.byte_offset);
  EXPECT_EQ(data, part.data());
  EXPECT_EQ(data[0], 9);
  EXPECT_EQ(data[12 - 4], 17);
}

TEST(ToDlpack, NamesEachDtype) {
  const auto type = [](const auto& t) {
    const auto d = to_dlpack(t)->dl_tensor.dtype;
    return std::vector<int>{static_cast<int>(d.code), d.bits, d.lanes};
  };
  const auto zero = [](auto of) { return zeros<decltype(of)>({2}); };
  EXPECT_EQ(type(zero(bool())), (std::vector<int>{6, 8, 1}));
  EXPECT_EQ(type(zero(std::uint8_t())), (std::vector<int>{1, 8, 1}));
  EXPECT_EQ(type(zero(std::int8_t())), (std::vector<int>{0, 8, 1}));
  EXPECT_EQ(type(zero(std::int16_t())), (std::vector<int>{0, 16, 1}));
  EXPECT_EQ(type(zero(std::int32_t())), (std::vector<int>{0, 32, 1}));
  EXPECT_EQ(type(zero(std::int64_t())), (std::vector<int>{0, 64, 1}));
  EXPECT_EQ(type(zero(half())), (std::vector<int>{2, 16, 1}));
  EXPECT_EQ(type(zero(bfloat16())), (std::vector<int>{4, 16, 1}));
  EXPECT_EQ(type(zero(float())), (std::vector<int>{2, 32, 1}));
  EXPECT_EQ(type(zero(double())), (std::vector<int>{2, 64, 1}));
  EXPECT_EQ(type(zero(std::complex<float>())), (std::vector<int>{5, 64, 1}));
  EXPECT_EQ(type(zero(std::complex<double>())), (std::vector<int>{5, 128, 1}));
}

TEST(ToDlpack, SharesTheMemoryAndKeepsIt) {
  Tensor x = arange<float>(4).clone();
  dlpack::ManagedTensorVersioned* managed = to_dlpack(x).release();
  auto* data = static_cast<float*>(managed->dl_tensor.data);
  x[0] = 7;
  EXPECT_EQ(data[0], 7);
  data[1] = 8;
  EXPECT_EQ(x[1].item(), 8);
  x = Tensor<float, Cpu>();
  EXPECT_EQ(data[1], 8);
  std::thread([&] { managed->deleter(managed); }).join();
}

TEST(ToDlpack, MemoryGoesWithTheLastOwner) {
  const std::size_t before = memory_stats(Device()).in_use;
  {
    const DLPackUnversioned managed = [] { return to_dlpack_unversioned(ones({1 << 16})); }();
    EXPECT_GE(memory_stats(Device()).in_use, before + (4 << 16));
  }
  EXPECT_EQ(memory_stats(Device()).in_use, before);
}

TEST(ToDlpack, CopiesAndFlagsWhereAsked) {
  const Tensor x = arange<float>(6).reshape({2, 3}).clone();
  const DLPack copy = to_dlpack(x.t(), {.copy = true, .read_only = true});
  EXPECT_EQ(copy->flags, 3u);
  EXPECT_NE(copy->dl_tensor.data, x.data());
  EXPECT_EQ(static_cast<float*>(copy->dl_tensor.data)[1], 3);
  EXPECT_THAT(message_of<Error>([&] { to_dlpack_unversioned(x, {.read_only = true}); }), HasSubstr("use to_dlpack"));
  EXPECT_THAT(message_of<Error>([&] { to_dlpack(Tensor<float>()); }), HasSubstr("is empty: it was"));
}

TEST(ToDlpack, EmptyAndNumbers) {
  const DLPack none = to_dlpack(zeros({0, 3}));
  EXPECT_EQ(none->dl_tensor.data, nullptr);
  EXPECT_EQ(none->dl_tensor.shape[1], 3);
  const DLPack number = to_dlpack(tensor(2.5f));
  EXPECT_EQ(number->dl_tensor.ndim, 0);
  EXPECT_EQ(*static_cast<float*>(number->dl_tensor.data), 2.5f);
}

TEST(FromDlpack, SharesWhatItTakesOver) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  Producer p(data, {2, 3}, {3, 1}, f32);
  {
    auto x = from_dlpack<float, Cpu>(&p.managed);
    EXPECT_EQ(x.data(), data);
    x[1] = 9;
    EXPECT_EQ(data[3], 9);
    const auto view = x[0];
    x = Tensor<float, Cpu>();
    EXPECT_EQ(p.deleted, 0);
    data[0] = -1;
    EXPECT_EQ(view[0].item(), -1);
  }
  EXPECT_EQ(p.deleted, 1);
}

TEST(FromDlpack, TakesTheOldStructureAndNullDeleters) {
  double data[6] = {0, 1, 2, 3, 4, 5};
  Producer<OtherManaged> p(data, {3, 2}, {}, f64);
  {
    const AnyTensor x = from_dlpack(&p.managed);
    EXPECT_EQ(x.dtype(), DType::Float64);
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_EQ(x.as<double>()(2, 1).item(), 5);
  }
  EXPECT_EQ(p.deleted, 1);
  p.managed.deleter = nullptr;
  EXPECT_EQ((from_dlpack<double>(&p.managed).numel()), 6);
}

TEST(FromDlpack, OffsetsStridesAndOddAxes) {
  std::int32_t data[12];
  for (int i = 0; i < 12; ++i) data[i] = i;
  Producer<> backwards(data, {3, 2}, {-4, 2}, i32, 4 * 8);
  EXPECT_EQ(from_dlpack<std::int32_t>(&backwards.managed).to_vector(), (std::vector<int>{8, 10, 4, 6, 0, 2}));
  Producer<> expanded(data, {2, 3}, {0, 1}, i32, 4);
  EXPECT_EQ(from_dlpack<std::int32_t>(&expanded.managed).to_vector(), (std::vector<int>{1, 2, 3, 1, 2, 3}));
  constexpr auto far = std::numeric_limits<std::int64_t>::min();
  Producer<> ones_have_any(data, {1, 3, 1}, {far, 1, -(far + 1)}, i32);
  EXPECT_EQ(from_dlpack<std::int32_t>(&ones_have_any.managed).to_vector(), (std::vector<int>{0, 1, 2}));
  Producer<> number(data, {}, {}, i32, 8);
  number.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(from_dlpack<std::int32_t>(&number.managed).item(), 2);
  Producer<> none(nullptr, {2, 0}, {far, far}, i32, 1);
  const AnyTensor empty = from_dlpack(&none.managed);
  EXPECT_EQ(empty.shape(), Shape(2, 0));
  EXPECT_EQ(ones_have_any.deleted + number.deleted, 2);
}

TEST(FromDlpack, EveryDtypeComesBack) {
  for (const Device device : sinter_tests::devices())
    for (int i = 0; i < dtype_count; i += device.is_cpu() ? 1 : 5)
      visit(DType(i), [&]<class T>(std::type_identity<T>) {
        const Tensor<T> x = (arange(6).reshape({2, 3}) % 2).to<T>().to(device);
        const Tensor<T> versioned = from_dlpack<T>(to_dlpack(x.t()));
        EXPECT_TRUE(equal(versioned, x.t())) << name(DType(i));
        EXPECT_EQ(versioned.data(), x.data());
        EXPECT_EQ(versioned.strides(), Shape(1, 3));
        EXPECT_TRUE(equal(from_dlpack<T>(to_dlpack_unversioned(x)), x)) << name(DType(i));
      });
}

TEST(FromDlpack, CopiesWhatItMustNotShare) {
  alignas(8) std::byte bytes[40] = {};
  const double values[] = {1, 2, 3, 4};
  std::memcpy(bytes + 3, values, sizeof values);
  Producer<> unaligned(bytes, {2, 2}, {-1, 2}, f64, 3 + 8);
  EXPECT_EQ(from_dlpack<double>(&unaligned.managed).to_vector(), (std::vector<double>{2, 4, 1, 3}));
  EXPECT_EQ(unaligned.deleted, 1);
  EXPECT_THAT(message_of<Error>([&] { from_dlpack(&unaligned.managed, {.copy = false}); }),
              AllOf(HasSubstr("not aligned to 8 bytes"), HasSubstr("float64"), HasSubstr("copy")));

  float data[] = {1, 2};
  Producer<> read_only(data, {2}, {1}, f32);
  read_only.managed.flags = 1;
  const auto copy = from_dlpack<float>(&read_only.managed);
  EXPECT_EQ(read_only.deleted, 1);  // no longer needed
  EXPECT_NE(copy.data(), data);
  EXPECT_THAT(message_of<Error>([&] { from_dlpack(&read_only.managed, {.copy = false}); }),
              HasSubstr("the tensor is read-only"));
  EXPECT_EQ(read_only.deleted, 1);
  Producer<> asked(data, {2}, {1}, f32);
  EXPECT_NE(from_dlpack<float>(&asked.managed, {.copy = true}).data(), data);
}

TEST(FromDlpack, RefusesWithoutTakingOver) {
  float data[4] = {};
  const auto refuses = [&]<class E>(std::type_identity<E>, auto change, const char* says) {
    Producer<> p(data, {2, 2}, {2, 1}, f32);
    change(p.managed);
    EXPECT_THAT(message_of<E>([&] { from_dlpack(&p.managed); }), HasSubstr(says));
    EXPECT_EQ(p.deleted, 0) << says;
  };
  const std::type_identity<DTypeError> dtype;
  const std::type_identity<DeviceError> device;
  const std::type_identity<ShapeError> shape;
  const std::type_identity<Error> error;
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype.lanes = 4; }, "4 lanes");
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype.lanes = 0; }, "0 lanes");
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype = {0, 4, 1}; }, "int with 4 bits, which are smaller than a byte");
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype = {1, 128, 1}; }, "uint with 128 bits");
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype = {10, 8, 1}; }, "float8_e4m3fn");
  refuses(dtype, [](auto& m) { m.dl_tensor.dtype = {200, 8, 1}; }, "unknown code 200");
  refuses(device, [](auto& m) { m.dl_tensor.device = {10, 1}; }, "kDLROCM:1");
  refuses(device, [](auto& m) { m.dl_tensor.device = {99, 0}; }, "unknown device type 99");
  const int gpu = sinter_tests::virtual_gpus ? 12 : 2;  // kDLExtDev or kDLCUDA
  const auto on_gpu = [=](int index) { return [=](auto& m) { m.dl_tensor.device = {gpu, index}; }; };
  refuses(device, on_gpu(64), "cuda:64");
  refuses(device, on_gpu(-1), "cuda:-1");
  refuses(shape, [](auto& m) { m.dl_tensor.ndim = 9; }, "9 axes");
  refuses(shape, [](auto& m) { m.dl_tensor.ndim = -1; }, "-1 axes");
  refuses(shape, [](auto& m) { m.dl_tensor.shape[0] = -2; }, "negative");
  refuses(shape, [](auto& m) { m.dl_tensor.shape[0] = std::int64_t{1} << 62; }, "too large");
  refuses(shape, [](auto& m) { m.dl_tensor.strides[0] = std::int64_t{1} << 62; }, "exceeds the address space");
  refuses(
      shape, [](auto& m) { m.dl_tensor.strides[0] = std::numeric_limits<std::int64_t>::min(); },
      "exceeds the address space");
  refuses(shape, [](auto& m) { m.dl_tensor.strides[0] = -(std::int64_t{1} << 60); }, "exceeds the address space");
  refuses(shape, [](auto& m) { m.dl_tensor.byte_offset = ~std::uint64_t{}; }, "exceeds the address space");
  refuses(error, [](auto& m) { m.dl_tensor.data = nullptr; }, "null data");
  refuses(error, [](auto& m) { m.dl_tensor.shape = nullptr; }, "null shape");
  refuses(error, [](auto& m) { m.version.major = 2; }, "DLPack 2.0");
  EXPECT_THAT(message_of<Error>([] { from_dlpack(static_cast<Managed*>(nullptr)); }), HasSubstr("null"));
  EXPECT_THAT(message_of<Error>([] { from_dlpack(DLPackUnversioned()); }), HasSubstr("null"));

  Producer<> p(data, {2, 2}, {2, 1}, f32);
  EXPECT_THAT(message_of<DTypeError>([&] { from_dlpack<double>(&p.managed); }), HasSubstr("float32"));
  EXPECT_THAT(message_of<DeviceError>([&] { from_dlpack<float, Cuda<>>(&p.managed); }), HasSubstr("a GPU"));
  EXPECT_THAT(message_of<DeviceError>([&] { from_dlpack(&p.managed, {.stream = Stream(0)}); }), HasSubstr("no stream"));
  EXPECT_EQ(p.deleted, 0);
  EXPECT_THROW((from_dlpack<double>(std::unique_ptr<OtherVersioned, detail::CallDeleter>(&p.managed))), DTypeError);
  EXPECT_EQ(p.deleted, 1);  // the pointer owned it
}

// Any descriptor is either rejected with one of Sinter's errors or read correctly, and nothing is deleted twice.
TEST(FromDlpack, RandomDescriptors) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
  std::vector<float> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  constexpr std::int64_t middle = 2048, huge = std::numeric_limits<std::int64_t>::max();
  int taken = 0;
  for (int round = 0; round < 10'000; ++round) {
    const bool wild = random() % 4 == 0;
    const auto ndim = static_cast<std::size_t>(wild ? random() % 11 : random() % 4);
    std::vector<std::int64_t> shape, strides;
    std::int64_t low = 0, high = 0;
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      shape.push_back(wild ? pick({-1, 0, 1, 2, 3, huge}) : pick({0, 1, 2, 3, 5, 8}));
      strides.push_back(wild ? pick({0, 1, -1, 100, huge, -huge - 1}) : pick({-40, -9, -1, 0, 1, 3, 17, 64}));
      if (!wild) (strides.back() < 0 ? low : high) += (shape.back() - 1) * strides.back();
    }
    const bool empty = std::ranges::find(shape, 0) != shape.end();
    const OtherType dtype{static_cast<std::uint8_t>(wild ? random() % 20 : 2),
                          static_cast<std::uint8_t>(wild ? pick({1, 4, 8, 32, 128}) : 32),
                          static_cast<std::uint16_t>(wild ? pick({0, 1, 1, 1, 4}) : 1)};
    Producer<> p(memory.data(), shape, strides, dtype, 4 * middle);
    if (wild) p.managed.dl_tensor.device.device_type = static_cast<std::int32_t>(pick({0, 1, 1, 1, 3, 12, 13, 77}));
    if (wild && random() % 8 == 0) p.managed.dl_tensor.byte_offset = ~(random() % 4096);  // beyond the address space
    try {
      const AnyTensor x = from_dlpack(&p.managed);
      ++taken;
      EXPECT_EQ(p.deleted, 0);
      const bool inside = !wild && (empty || (low >= -middle && high < middle));
      if (inside && x.numel() > 0 && x.numel() < 100) {
        const std::vector<float> values = x.as<float>().to_vector();
        for (std::size_t i = 0; i < values.size(); ++i) {
          auto rest = static_cast<std::int64_t>(i), at = middle;
          for (std::size_t axis = ndim; axis-- > 0; rest /= shape[axis]) at += rest % shape[axis] * strides[axis];
          ASSERT_EQ(values[i], static_cast<float>(at));
        }
      }
    } catch (const Error&) {
      EXPECT_EQ(p.deleted, 0);
      continue;
    }
    // An element that is not aligned was copied, and its producer was released immediately.
    EXPECT_EQ(p.deleted, 1);
  }
  EXPECT_GT(taken, 5000);
}

TEST(Gpus, VirtualOnesAreNoCudaDevices) {
  const auto x = arange<float>(4).cuda(1);
  if (!sinter_tests::virtual_gpus) GTEST_SKIP() << "of virtual GPUs";
  const DLPack managed = to_dlpack(x);
  EXPECT_EQ(managed->dl_tensor.device.device_type, dlpack::DeviceType::ExtDev);
  EXPECT_EQ(managed->dl_tensor.device.device_id, 1);
  float data[2] = {};
  Producer<> cuda(data, {2}, {1}, f32);
  cuda.managed.dl_tensor.device = {2, 0};
  EXPECT_THAT(message_of<DeviceError>([&] { from_dlpack(&cuda.managed); }),
              AllOf(HasSubstr("kDLCUDA:0"), HasSubstr("SINTER_VIRTUAL_GPUS")));
  Producer<> pinned(data, {2}, {1}, f32);
  pinned.managed.dl_tensor.device = {3, 0};
  EXPECT_TRUE((from_dlpack<float, Cpu>(&pinned.managed, {.stream = Stream(0)}).device().is_cpu()));
}

TEST(Gpus, TensorsComeBackFromThem) {
  for (const Device device : sinter_tests::devices()) {
    const Tensor<float> x = arange<float>(1000).to(device);
    Tensor<float> y = from_dlpack<float>(to_dlpack(x));
    EXPECT_EQ(y.device(), device);
    y += 1;
    EXPECT_EQ(x[999].item(), 1000);
    EXPECT_EQ(Tensor<float>(exp(y * 0.f) + y)[1].item(), 3);
  }
}

// The strict tier of virtual GPUs reports accesses that are not ordered.
TEST(Gpus, StreamsPutWorkInOrder) {
  if (device_count() == 0) GTEST_SKIP();
  const Stream producer(0), consumer(0);
  for (int round = 0; round < 20; ++round) {
    Tensor<float> x;
    {
      const StreamGuard on(producer);
      x = full({4096}, 1.f, sinter::cuda<0>) * 2;
    }
    DLPack managed = to_dlpack(x, {.stream = consumer});
    Tensor<float> y;
    {
      const StreamGuard on(consumer);  // as another library would: its own idea of the memory
      y = from_dlpack<float>(std::move(managed), {.stream = consumer});
      y *= 3;
    }
    const StreamGuard on(producer);
    const Tensor<float> z = x + 1;  // after the consumer's work
    EXPECT_EQ(z.to_vector(), std::vector<float>(4096, 7));
  }
  EXPECT_THAT(message_of<DeviceError>([&] { to_dlpack(zeros({2}), {.stream = consumer}); }), HasSubstr("no stream"));
  EXPECT_THAT(message_of<DeviceError>([&] { to_dlpack(zeros({2}, sinter::cuda<1>), {.stream = consumer}); }),
              HasSubstr("cuda:1"));
}

TEST(Gpus, MemoryGoesBackWhenNothingUsesIt) {
  if (device_count() == 0) GTEST_SKIP();
  for (int round = 0; round < 10; ++round) {
    const Stream stream(0);
    Tensor<float> sum;
    {
      Tensor<float> x = from_dlpack<float>(to_dlpack(full({1 << 14}, 2.f, sinter::cuda<0>)));
      const StreamGuard on(stream);
      sum = Tensor<float>(x * 2).sum();
    }  // x is destroyed while the stream may still read it
    const Tensor<float> other = full({1 << 14}, 5.f, sinter::cuda<0>);
    EXPECT_EQ(sum.item(), 4.f * (1 << 14));
    EXPECT_EQ(other[5].item(), 5);
  }
}

/// Outlives main: its deleter runs after everything else in the program has been destroyed.
struct AtExit {
  dlpack::ManagedTensorVersioned* managed = nullptr;
  ~AtExit() {
    if (managed) managed->deleter(managed);
  }
} at_exit;
TEST(ToDlpack, DeletersRunAfterMain) {
  at_exit.managed = to_dlpack(ones({100}).cuda(0), {.stream = Stream(0)}).release();
}

TEST(ToDlpack, DeletersRunInAnyThread) {
  const auto x = ones({100});
  std::vector<dlpack::ManagedTensorVersioned*> all(200);
  for (auto& managed : all) managed = to_dlpack(x).release();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (std::size_t n = next++; n < all.size(); n = next++) all[n]->deleter(all[n]);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(x.ref()->owners(), 1u);
}

}  // namespace
}  // namespace sinter
