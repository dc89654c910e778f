// Kernels as HIP text, compiled by clang for AMD's GPUs with a stand-in for HIP's headers. Nothing runs.
#include <jit/hip/source.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <jit/cuda/source.hpp>
#include <sinter/jit/inspect.hpp>
#include <sinter/jit/lazy.hpp>
#include <sinter/jit/recorded.hpp>
#include "golden.hpp"
#include "golden_kernels.hpp"
#include "scratch.hpp"

namespace sinter::testing {
namespace {

using jit::LazyRef;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr DType dtypes[] = {DType::Bool,    DType::UInt8,    DType::Int8,   DType::UInt16, DType::Int16,
                            DType::Float16, DType::BFloat16, DType::UInt32, DType::Int32,  DType::UInt64,
                            DType::Int64,   DType::Float32,  DType::Float64};

std::vector<GoldenKernel> all_golden_kernels() {
  std::vector<GoldenKernel> all = golden_kernels();
  for (GoldenKernel& k : golden_row_kernels()) all.push_back(std::move(k));
  return all;
}

// ---- Texts

TEST(HipText, Golden) {
  for (const GoldenKernel& k : all_golden_kernels())
    if (k.name == "row_softmax_cached") test::expect_golden(k.name + ".hip", k.text(jit::hip::source));
}

TEST(HipText, HasNothingThatOnlyCudaHas) {
  for (const GoldenKernel& k : all_golden_kernels()) {
    const std::string text = k.text(jit::hip::source);
    for (const char* const word : {"__CUDA_ARCH__", "__grid_constant__", "_sync(", "__syncwarp", "asm(", "mov.u32"})
      EXPECT_THAT(text, Not(HasSubstr(word))) << k.name;
    EXPECT_THAT(text, Not(HasSubstr("SINTER_VIRTUAL_GPU"))) << k.name;
  }
}

TEST(HipText, AsksForWavesOfASimd) {
  const Kernel k = Softmax().done();
  const jit::KernelTraits traits(k);
  jit::KernelClass c = row_class(k, 1 << 20, 128);
  c.rows.block = 128;
  EXPECT_THAT(jit::cuda::source(k, traits, c), HasSubstr("__launch_bounds__(128, 8)"));
  EXPECT_THAT(jit::hip::source(k, traits, c), HasSubstr("__launch_bounds__(128, 4)"));
}

// ---- Compiled

/// A clang that compiles HIP for AMD's GPUs; empty if there is none.
std::string find_clang() {
  for (const char* const name :
       {"clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang", "amdclang"}) {
    const std::string command = fmt::format(
        "{} -x hip --offload-arch=gfx90a --offload-device-only -nogpuinc -nogpulib -S -o /dev/null /dev/null", name);
    if (std::system((command + " >/dev/null 2>&1").c_str()) == 0) return name;
  }
  return {};
}

/// One translation unit of many kernels, each in a namespace and under a name of its own.
class Kernels {
 public:
  void add(std::string text) {
    const std::string own = fmt::format("k{}", count_++), name = name_in(text);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + own.size()))
      text.replace(at, name.size(), own);
    text_ += fmt::format("namespace {}_text {{\n{}}}\n", own, text);
  }
  int count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  static std::string name_in(const std::string& text) {
    const std::size_t bounds = text.find("__launch_bounds__("), begin = text.find(") ", bounds) + 2;
    return text.substr(begin, text.find('(', begin) - begin);
  }

  std::string text_;
  int count_ = 0;
};

class Hip : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { clang_ = find_clang(); }
  void SetUp() override {
    if (clang_.empty()) GTEST_SKIP() << "no clang that compiles HIP for AMD's GPUs: scripts/deps clang";
  }

  /// What the compiler writes, without a warning.
  static std::string compiled(const Kernels& kernels, const std::string& options) {
    const ScratchFolder folder;
    write_text(folder.file("kernels.hip"), kernels.text());
    const std::string command = fmt::format(
        "{} -x hip -std=c++17 --offload-device-only -nogpuinc -nogpulib -Wall -Wno-unused -Wno-tautological-compare "
        "-Werror {} -include {} {} -o {} "
        ">{} 2>&1",
        clang_, options, SINTER_TEST_DATA "/../jit/hip_stand_in.h", folder.file("kernels.hip"),
        folder.file("kernels.s"), folder.file("messages"));
    EXPECT_EQ(std::system(command.c_str()), 0) << command << '\n' << read_text(folder.file("messages")).substr(0, 4000);
    return read_text(folder.file("kernels.s"));
  }

  /// Generating the code of all these kernels would take half a minute.
  static void check_syntax(const Kernels& kernels) { compiled(kernels, "--offload-arch=gfx90a -fsyntax-only"); }
  static void check_code(const Kernels& kernels) { compiled(kernels, "--offload-arch=gfx90a -O1 -S"); }

  static inline std::string clang_;
};

TEST_F(Hip, GoldenKernelsCompileForWavesOf32And64Lanes) {
  Kernels kernels;
  for (const GoldenKernel& k : all_golden_kernels()) kernels.add(k.text(jit::hip::source));
  for (const char* const architecture : {"gfx90a", "gfx1100"}) {
    const std::string assembly = compiled(kernels, fmt::format("-O2 -S --offload-arch={}", architecture));
    for (int i = 0; i < kernels.count(); ++i) EXPECT_THAT(assembly, HasSubstr(fmt::format(".amdhsa_kernel k{}\n", i)));
    EXPECT_THAT(assembly, HasSubstr("ds_bpermute_b32"));
    EXPECT_THAT(assembly, HasSubstr("s_barrier"));
  }
}

/// A product and a sum stay two instructions, halves are converted by one, and vectors are loaded whole.
TEST_F(Hip, InstructionsAreThoseThatAreMeant) {
  Written p;
  p.leaf(DType::Float16).cast(DType::Float32).leaf(DType::Float32).op(Op::mul).leaf(DType::Float32).op(Op::add);
  p.cast(DType::Float16);
  const jit::Plan plan = jit::schedule(p.record());  // not simplified, which would make a multiply-add of it
  const jit::Kernel& k = plan.kernels[0];
  Kernels kernels;
  kernels.add(
      jit::hip::source(k, jit::KernelTraits(k), {1, 8, false, false, std::vector(4, jit::AccessPattern::Contiguous)}));
  const std::string assembly = compiled(kernels, "-O3 -S --offload-arch=gfx90a");
  EXPECT_THAT(assembly, HasSubstr("v_cvt_f32_f16"));
  EXPECT_THAT(assembly, HasSubstr("v_cvt_f16_f32"));
  EXPECT_THAT(assembly, HasSubstr("global_load_dwordx4"));
  EXPECT_THAT(assembly, HasSubstr("global_store_dwordx4"));
  for (const char* const multiply_add : {"_fma_f", "_fmac_f", "_mac_f", "_mad_f"})
    EXPECT_THAT(assembly, Not(HasSubstr(multiply_add)));
}

// ---- All kinds of kernels

/// The operation on tensors of a dtype, or on rows of them; null if it does not take that dtype.
LazyRef expression(Op op, DType dtype) {
  const auto tensor = [](DType t) {
    const TensorRef x = runtime::empty({8, 64}, t, Device());
    return jit::lazy(*x);
  };
  std::vector<LazyRef> operands;
  const int tensors = is_reduction(op) ? 1 : info(op).arity;
  for (int i = 0; i < tensors; ++i) operands.push_back(tensor(op == Op::where && i == 0 ? DType::Bool : dtype));
  try {
    if (!is_reduction(op)) return jit::lazy(op, operands);
    if (info(op).arity == 2) operands.push_back(jit::lazy(jit::Scalar(std::int64_t{1}), Category::Int));
    return jit::lazy(op, operands, jit::ReduceAxes{2, false});
  } catch (const DTypeError&) {
    return {};
  }
}

TEST_F(Hip, EveryOperationOfEveryDtype) {
  Kernels kernels;
  for (int number = static_cast<int>(Op::add); number < all_op_count; ++number)
    for (const DType t : dtypes) {
      const Op op = static_cast<Op>(number);
      if (op == Op::matmul || name(op) == "broadcast_like" || name(op) == "class_index") continue;
      const LazyRef e = expression(op, t);
      if (!e) continue;
      SCOPED_TRACE(::testing::Message() << name(op) << " of " << name(t));
      kernels.add(jit::hip_source(jit::Recorded(e)));
    }
  EXPECT_GT(kernels.count(), 500);
  check_syntax(kernels);
}

TEST_F(Hip, EveryConversion) {
  Kernels kernels;
  for (const DType from : dtypes)
    for (const DType to : dtypes) {
      Written p;
      p.leaf(from).cast(to);
      const Kernelled k(p);
      kernels.add(
          jit::hip::source(k.kernel(), k.traits, {1, 2, false, false, std::vector(2, jit::AccessPattern::Contiguous)}));
    }
  check_code(kernels);
}

/// Softmaxes and norms of every row scheme; in place, teams of lanes need a barrier.
TEST_F(Hip, EveryRowScheme) {
  Kernels kernels;
  for (const NamedOverride& w : overrides) {
    const Overridden overridden(w.chosen);
    RowKernel softmax("softmax"), norm("norm"), extremes("extremes");
    write_softmax(softmax, DType::BFloat16, DType::Float32);
    write_norm(norm, DType::Float64, DType::Float64);
    const Operand x = extremes.leaf(DType::Int64);
    for (const Op op : {Op::amax, Op::argmin, Op::prod}) extremes.output(extremes.apply(op, {x}), AxisMapping::Rows);
    for (RowKernel* const k : {&softmax, &norm, &extremes}) {
      const Kernel& kernel = k->done();
      const jit::KernelTraits traits(kernel);
      for (const bool aliased : {false, true})
        kernels.add(
            jit::hip::source(kernel, traits, row_class(kernel, 64, 256, w.chosen.config.row_per_element, aliased)));
    }
  }
  EXPECT_THAT(kernels.text(), HasSubstr("sync_warp();"));
  check_syntax(kernels);
}

/// Transposed tiles, gathers and divisions that report faults; 64-bit indices, and any strides.
TEST_F(Hip, EveryKindOfClass) {
  using enum jit::AccessPattern;
  Kernels kernels;
  const auto add = [&](const Written& p, const jit::KernelClass& c) {
    const Kernelled k(p);
    for (const bool wide : {false, true}) {
      jit::KernelClass own = c;
      own.wide = wide;
      kernels.add(jit::hip::source(k.kernel(), k.traits, own));
    }
    kernels.add(jit::hip::source(k.kernel(), k.traits, jit::generic_class(k.traits)));
  };
  Written sum, division, gather;
  sum.leaf(DType::Float32).leaf(DType::Float32).op(Op::add);
  jit::KernelClass tiled{2, 4, false, false, {InnerContiguous, InnerContiguous, Transposed}};
  tiled.tile_dim = 0;
  add(sum, tiled);
  division.leaf(DType::Int32).leaf(DType::Int32).op(Op::floor_divide);
  add(division, {2, 4, false, false, {Contiguous, Strided, InnerContiguous}});
  gather.array(DType::Float16).leaf(DType::Int64).constant(5).constant(1).op(Op::axis_offset).op(Op::load);
  add(gather, {1, 4, false, true, {Contiguous, Uniform, Contiguous}});
  check_code(kernels);
  EXPECT_THAT(kernels.text(), HasSubstr("report(p.fault, p.division_by_zero_code)"));
}

}  // namespace
}  // namespace sinter::testing
