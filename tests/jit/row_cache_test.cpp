// What stays of a row in shared memory: where it lies, for which rows it is enough, and that results do not tell.
#include <jit/plan/row_cache.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jit/plan/row_passes.hpp>
#include "fake_gpu.hpp"
#include "row_kernels.hpp"
#include "setup.hpp"
#include "shared_gpu.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup row_cache_compiles(sinter::test::keep_kernels_in_memory);

using jit::AccessPattern;
using jit::Executable;
using jit::KernelTraits;
using jit::row_cache_extent;
using jit::RowCache;
using ::testing::Each;

TEST(RowCache, ExtentIsAlignedAndAllOfItFits) {
  EXPECT_EQ(row_cache_extent(1000, 4, 0, 8192), 1008);
  EXPECT_EQ(row_cache_extent(1008, 4, 0, 8192), 1008);
  constexpr std::int64_t room = 4 * 1008, spare = 1024;
  EXPECT_EQ(row_cache_extent(1000, 4, 256, room + spare + 256), 1008);
  EXPECT_EQ(row_cache_extent(1000, 4, 257, room + spare + 256), 0);
  EXPECT_EQ(row_cache_extent(1000, 4, 256, room + spare + 255), 0);
  EXPECT_EQ(row_cache_extent(1000, 5, 256, room + spare + 256), 0);
  EXPECT_EQ(row_cache_extent(1000, 0, 0, 1 << 30), 0);  // nothing is read again
  EXPECT_EQ(row_cache_extent(1000, 4, 9000, 8192), 0);
  EXPECT_EQ(row_cache_extent(std::int64_t{1} << 62, 4, 0, 1 << 30), 0);
}

/// y = (x - max x) * w + sum(i x) + s, where x and h (of halves) are read by two passes and w by the last one, and m is
/// there only for its maximum.
struct SeveralInputs : RowKernel {
  SeveralInputs() : RowKernel("several_inputs") {
    const DType f = DType::Float32;
    const Operand x = leaf(f), w = leaf(f), h = cast(leaf(DType::Float16), f), m = leaf(DType::Float64);
    const Operand r = leaf(f, AxisMapping::Rows), i = cast(iota(), f);
    const Operand most = apply(Op::amax, {x}), sum = apply(Op::sum, {apply(Op::mul, {h, i})});
    const Operand of_m = cast(apply(Op::amin, {m}), f);
    Operand y = apply(Op::mul, {apply(Op::sub, {x, most}), w});
    for (const Operand o : {sum, h, of_m, i, r}) y = apply(Op::add, {y, o});
    output(y);
  }
};

TEST(RowCache, HasAPartForWhatIsReadAgain) {
  SeveralInputs k;
  const KernelTraits traits(k.done());
  EXPECT_EQ(traits.rows->read_again, (std::vector<bool>{true, false, true, false, false, true}));
  EXPECT_EQ(traits.rows->row_cache_bytes, 6);
  jit::KernelClass c{.ndim = 2, .vector_width = 2, .reduced = 1, .rows = {.block = 512, .row_cache = true}};
  c.patterns.assign(traits.operands.size(), AccessPattern::Contiguous);
  const auto places = [&] {
    const RowCache row_cache(traits, c);
    std::vector<std::optional<int>> found;
    for (std::size_t i = 0; i < traits.operands.size(); ++i) found.push_back(row_cache.offset(i));
    return found;
  };
  const std::optional<int> none;
  EXPECT_EQ(places(), (std::vector<std::optional<int>>{none, 0, none, 4, none, none, none}));
  EXPECT_EQ(RowCache(traits, c).bytes(100), 600);
  c.patterns[1] = AccessPattern::Uniform;  // one element for a row is in a register
  EXPECT_EQ(places(), (std::vector<std::optional<int>>{none, none, none, 0, none, none, none}));
  EXPECT_EQ(RowCache(traits, c).bytes(100), 200);
  c.rows.row_cache = false;
  EXPECT_THAT(places(), Each(none));
  EXPECT_EQ(RowCache(traits, c).extent(100, 1 << 20), 0);
  EXPECT_EQ(RowCache().extent(100, 1 << 20), 0);
}

/// What kernels ask a GPU for, and how they tell their threads.
TEST(RowCache, IsWhatTheGpuHasRoomFor) {
  RowKernel k("softmax_asks");
  write_softmax(k, DType::Float32, DType::Float32);
  const Executable e(k.done());
  FakeGpu gpu("row_cache");
  jit::use_gpu(1, &gpu);
  const auto asked = [&](std::int64_t columns, std::int64_t shared) {
    gpu.shared = shared;
    const TensorRef x = runtime::iota_tensor(Shape{2, columns}, Device(1));
    x->dtype = DType::Float32;
    x->data = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
    run_rows(e, {x, x}, {2, columns}, true);
    const std::vector<std::uint64_t> words = gpu.last().words;
    EXPECT_EQ(gpu.last().shared, columns > 32768 && columns < 58000 ? 4 * words[5] : 0u);
    return gpu.last().shared;
  };
  if (cuda_is_available()) {
    EXPECT_EQ(asked(32768, 227 << 10), 0u);  // registers hold it
    EXPECT_EQ(asked(32772, 227 << 10), 4u * 32784);
    EXPECT_EQ(asked(57600, 227 << 10), 4u * 57600);
    EXPECT_EQ(asked(57600, 228 << 10), 4u * 57600);
    EXPECT_EQ(asked(100000, 227 << 10), 0u);  // longer than any
    for (const std::int64_t small : {48, 64, 99}) EXPECT_EQ(asked(32772, small << 10), 0u);
    EXPECT_EQ(asked(32772, 163 << 10), 4u * 32784);
    EXPECT_EQ(asked(57600, 163 << 10), 0u);
    EXPECT_EQ(gpu.compiles, 3);  // for rows of registers, of shared memory, of neither, whatever the GPU has
  }
  jit::use_gpu(1, nullptr);
}

TEST(RowCache, LeavesTheBlocksVariablesTheirRoom) {
  SeveralInputs several;
  RowKernel norm("norm_with_variables");
  write_norm(norm, DType::Float64, DType::Float64);
  for (const Kernel* k : {&several.done(), &norm.done()}) {
    const jit::RowPasses passes(*k, true);
    std::int64_t bytes = 0;
    for (int s = 0; s < passes.stages.count; ++s) bytes += 32 * partial_size(passes, s, true) + 15;
    EXPECT_GE(jit::variable_bytes(jit::RowTraits(*k)), bytes);
  }
}

/// Nothing a block may have is exceeded by the longest rows that are cached, and one of them more is not.
TEST(RowCache, FitsBesideTheBlocksVariables) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  const Overridden w({{.block = 64, .vectors_per_thread = 2, .row_cache = true}, 16, 32});
  SeveralInputs k;
  const Executable e(k.done());
  const KernelTraits traits(e.kernel());
  const std::int64_t room = runtime::gpu(0).shared_per_block() - jit::variable_bytes(*traits.rows) - 1024;
  const std::int64_t most = room / 6 / 16 * 16;
  for (const std::int64_t columns : {most, most + 1}) {
    SharedGpu gpu(runtime::gpu(0).shared_per_block());
    const auto zeros = [&](DType t, const Shape& shape) {
      return device_array(t, shape, test_devices()[1],
                          std::vector<std::uint64_t>(static_cast<std::size_t>(shape.numel())));
    };
    const Shape domain{1, columns};
    const TensorRef y = runtime::empty(domain, DType::Float32, test_devices()[1]);
    const TensorRef i = runtime::iota_tensor(domain, test_devices()[1]);
    run_rows(e,
             {y, zeros(DType::Float32, domain), zeros(DType::Float32, domain), zeros(DType::Float16, domain),
              zeros(DType::Float64, domain), zeros(DType::Float32, {1}), i},
             domain);
    EXPECT_EQ(gpu.asked_for, columns == most ? 6 * most : 0);
    EXPECT_EQ(download<float>(y)[static_cast<std::size_t>(columns - 1)], static_cast<float>(columns - 1));
  }
}

}  // namespace
}  // namespace sinter::testing
