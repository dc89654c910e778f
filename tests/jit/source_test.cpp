// The text of kernels: exact literals, golden files, and every kind of class run against the reference.
#include <jit/cuda/source.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <locale>

#include <jit/cache/kernel_cache.hpp>
#include <jit/cuda/expression.hpp>
#include <jit/plan/nest.hpp>
#include <jit/plan/parameters.hpp>
#include "device_arrays.hpp"
#include "golden.hpp"
#include "golden_kernels.hpp"
#include "programs.hpp"

namespace sinter::testing {
namespace {

using jit::AccessPattern;
using jit::KernelClass;
using jit::cuda::literal;
using test::to_bits;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Source, LiteralsAreExact) {
  EXPECT_EQ(literal(DType::Float32, to_bits(2.5f)), "0x1.4p+1f");
  EXPECT_EQ(literal(DType::Float32, to_bits(-0.0f)), "-0x0p+0f");
  EXPECT_EQ(literal(DType::Float64, to_bits(0.1)), "0x1.999999999999ap-4");
  EXPECT_EQ(literal(DType::Float32, to_bits(std::numeric_limits<float>::infinity())), "float_bits(0x7f800000u)");
  EXPECT_EQ(literal(DType::Float64, to_bits(-std::numeric_limits<double>::infinity())),
            "double_bits(0xfff0000000000000ull)");
  EXPECT_THAT(literal(DType::Float32, to_bits(std::numeric_limits<float>::quiet_NaN())),
              HasSubstr("float_bits(0x7fc00000u)"));
  EXPECT_EQ(literal(DType::Int32, to_bits(std::numeric_limits<std::int32_t>::min())), "(-2147483647 - 1)");
  EXPECT_EQ(literal(DType::Int64, to_bits(std::int64_t{-5})), "-5ll");
  EXPECT_EQ(literal(DType::Int64, to_bits(std::numeric_limits<std::int64_t>::min())), "(-9223372036854775807ll - 1)");
  EXPECT_EQ(literal(DType::Bool, 1), "true");
}

TEST(Source, FloatLiteralsReadBackAsWritten) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto d = std::bit_cast<double>(random());
    if (std::isfinite(f)) {
      EXPECT_EQ(to_bits(std::strtof(literal(DType::Float32, to_bits(f)).c_str(), nullptr)), to_bits(f));
    }
    if (std::isfinite(d)) {
      EXPECT_EQ(to_bits(std::strtod(literal(DType::Float64, to_bits(d)).c_str(), nullptr)), to_bits(d));
    }
  }
}

std::string text_of(const Kernelled& k, const KernelClass& c) { return jit::cuda::source(k.kernel(), k.traits, c); }

TEST(Source, Golden) {
  for (const GoldenKernel& k : golden_kernels()) test::expect_golden(k.name + ".cu", k.text(jit::cuda::source));
}

/// Writes 1,5 for 1.5.
struct CommaForPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(Source, DoesNotDependOnTheLocale) {
  const Kernelled k(golden_constants());
  const KernelClass c{1, 4, false, false, {AccessPattern::Contiguous, AccessPattern::Contiguous}};
  const std::string before = text_of(k, c);
  const std::locale global = std::locale::global(std::locale(std::locale(), new CommaForPoint));
  EXPECT_EQ(text_of(k, c), before);
  std::locale::global(global);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, name)) {
      EXPECT_EQ(text_of(k, c), before);
    }
  std::setlocale(LC_ALL, "C");
}

TEST(Source, IntegersAddAsUnsigned) {
  Written p;
  p.leaf(DType::Int32).leaf(DType::Int32).op(Op::mul).leaf(DType::Int32).op(Op::sub);
  const KernelClass c{1, 4, false, false, std::vector(4, AccessPattern::Contiguous)};
  EXPECT_THAT(text_of(Kernelled(p), c), Not(HasSubstr("= x0 * x1")));
}

/// Runs a kernel of one class over a nest that it holds.
void launch(const Kernelled& k, const KernelClass& c, const jit::LoopNest& nest,
            const std::vector<std::uint64_t>& scalars, Device device) {
  runtime::GpuBackend& gpu = runtime::gpu(device.index());
  const runtime::KernelSource source{k.kernel().name, text_of(k, c)};
  std::vector<std::uint64_t> words(jit::nest_word_count(c));
  ASSERT_EQ(jit::write_nest(words.data(), c, nest), words.data() + words.size());
  words.insert(words.end(), scalars.begin(), scalars.end());
  gpu.launch({.kernel = gpu.load(jit::compiled(source, gpu).binary, source.name).handle(),
              .grid = 2,
              .block = 256,
              .words = words,
              .pointers = static_cast<unsigned>(nest.operands.size())});
}

TEST(Source, EveryKindOfClassComputesTheSame) {
  const std::vector<Device> devices = test_devices();
  if (devices.size() < 2) GTEST_SKIP() << "no GPU";
  const Device gpu = devices[1];
  Written p;  // x * y + s with three dtypes
  p.leaf(DType::Float32)
      .leaf(DType::Int32)
      .op(Op::mul)
      .scalar(Category::Float)
      .op(Op::add)
      .leaf(DType::Bool)
      .op(Op::maximum);
  const Kernelled k(p);
  const std::vector<std::uint64_t> scalars{to_bits(0.5f)};
  std::mt19937_64 random(9);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(::testing::Message() << "round " << i);
    const Shape shape = i % 4 == 0 ? Shape{static_cast<std::int64_t>(random() % 2000 + 1)}
                                   : Shape{13, 4, 8 + 4 * static_cast<std::int64_t>(random() % 9)};
    const auto own = [&] { return i % 3 == 0 ? shape : broadcastable(shape, random); };
    const Layout layout = i % 2 ? Layout::Any : Layout::Contiguous;
    const TensorRef x = random_array(DType::Float32, own(), gpu, layout, random),
                    y = random_array(DType::Int32, own(), gpu, layout, random),
                    z = random_array(DType::Bool, own(), gpu, layout, random),
                    out =
                        random_array(DType::Float32, shape, gpu, i % 5 == 0 ? Layout::Any : Layout::Contiguous, random);
    std::vector<TensorImpl*> operands{out.get(), x.get(), y.get(), z.get()};
    jit::LoopNest nest;
    jit::make_nest(nest, operands, 1);
    const KernelClass narrow = jit::classify(k.traits, nest, false).decode(4);
    KernelClass wide = narrow, aliased = narrow, scalar = narrow;
    wide.wide = aliased.aliased = true;
    scalar.vector_width = 1;
    const auto a = values_over(*x, shape), b = values_over(*y, shape), c = values_over(*z, shape);
    for (const KernelClass& kind : {narrow, wide, aliased, scalar, jit::generic_class(k.traits)}) {
      launch(k, kind, nest, scalars, gpu);
      const auto got = values_of(*out);
      for (std::size_t e = 0; e < got.size(); ++e) {
        const std::uint64_t leaves[] = {a[e], b[e], c[e]}, arrived[] = {to_bits(0.5)};
        ASSERT_TRUE(same_value(DType::Float32, outputs_of(k.plan.graph, leaves, arrived)[0], got[e]))
            << "element " << e;
      }
      fill(*out, random);
    }
  }
}

}  // namespace
}  // namespace sinter::testing
