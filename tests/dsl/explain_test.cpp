// What explain says of kernels over rows: on GPUs of a driver made for tests, so that it decides as on real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <runtime/cuda/fake_gpus.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

struct ExplainRows : testing::Test {
  ExplainRows() {
    sn::testing::fake_for_expressions();
    static const bool opened = open_gpus();
    EXPECT_TRUE(opened);
  }
  /// Blocks of cuda:1 have less shared memory.
  static bool open_gpus() {
    for (const auto& [device, shared] : {std::pair("cuda:0", 227 << 10), {"cuda:1", 99 << 10}}) {
      sn::testing::fake().shared_per_block = shared;
      sn::empty<float>({1}, device);
    }
    return true;
  }
  static sn::Tensor<float> rows(std::int64_t count, std::int64_t length, const char* device = "cuda:0") {
    return sn::empty<float>({count, length}, device);
  }
  static std::string softmax_of(std::int64_t count, std::int64_t length, const char* device = "cuda:0") {
    return sn::explain(sn::softmax(rows(count, length, device), -1));
  }
};

TEST_F(ExplainRows, TheWholeText) {
  std::string text = sn::explain(sn::softmax(rows(4096, 1024) * 2, -1));
  text.replace(text.find(" over ") - 4, 4, "####");  // the kernel's hash
  EXPECT_EQ(text,
            "float32 (4096, 1024) on cuda:0\n"
            "2 operations in 1 kernel\n"
            "  sinter_mul_amax_sub_exp_sum_and_1_f32_#### over (4096, 1024)\n"
            "    computes   mul, amax, sub, exp, sum, div\n"
            "    rows       4096 of 1024 elements, 3 walks through each\n"
            "    threads    32 threads of 256 for a row, which is kept in registers\n"
            "    reads      leaf 0: float32 (4096, 1024), contiguous\n"
            "               1 number, given at each launch\n"
            "    writes     output 0: float32 (4096, 1024)\n"
            "    costs      16.8 MB read, 16.8 MB written, 83.9 M operations: 2.5 a byte, bound by memory\n"
            "memory: 33.6 MB read and written in 1 pass\n"
            "        6.82 us at the memory's 4.92 TB/s, if nothing is in caches\n"
            "        a kernel in float32 is bound by memory up to 13.6 operations a byte, at 66.9 T operations/s\n"
            "        one kernel per operation would move 67.1 MB in 2 passes, 2.0 times as much\n"
            "temporaries: none\n"
            "composite: 1 operation made of others, 12 in all\n"
            "simplified: 12 operations in all, 6 left\n");
}

TEST_F(ExplainRows, SchemesFollowFromSizes) {
  EXPECT_THAT(softmax_of(1 << 16, 3), HasSubstr(" 2 threads of 256 for a row, which is kept in registers\n"));
  EXPECT_THAT(softmax_of(64, 16384), AllOf(HasSubstr(" 512 threads of 512 for a row, which is kept in registers\n"),
                                           Not(HasSubstr("launches")), HasSubstr("memory: 8.39 MB")));
  EXPECT_THAT(softmax_of(1, 1 << 20),
              HasSubstr(" 512 threads of 512 for a row, which every walk reads; 64 blocks share "
                        "it\n               2 launches, as blocks"));
  EXPECT_THAT(sn::explain(sn::sum(rows(8192, 128), 0)),
              AllOf(HasSubstr(" 128 of 8192 elements, 1 walk through each\n"),
                    HasSubstr(" 32 threads of 1024 for 4 columns, which every walk reads; 8 blocks share it\n"),
                    HasSubstr(" 2 launches, as blocks that share a row pass on what they know of it\n"),
                    HasSubstr(" 853 ns at the memory's 4.92 TB/s")));
}

// Counted once where shared memory has room, and once for each walk where the GPU's has not or no GPU's would.
TEST_F(ExplainRows, WhatIsKeptInSharedMemoryIsReadOnce) {
  EXPECT_THAT(
      softmax_of(20, 40000),
      AllOf(HasSubstr(" 20 of 40000 elements, 2 walks through each\n"),
            HasSubstr(" 1024 threads of 1024 for a row, which is kept in shared memory\n"),
            HasSubstr("memory: 6.4 MB read and written in 1 pass\n"), HasSubstr(" 1.3 us at the memory's 4.92 TB/s")));
  EXPECT_THAT(
      softmax_of(20, 40000, "cuda:1"),
      AllOf(HasSubstr(" 20 of 40000 elements, 2 walks through each\n"),
            HasSubstr(" 1024 threads of 1024 for a row, which every walk reads\n"), HasSubstr("memory: 9.6 MB")));
  EXPECT_THAT(softmax_of(20, 60000), AllOf(HasSubstr("which every walk reads\n"), HasSubstr("memory: 14.4 MB")));
}

TEST_F(ExplainRows, LaunchesAskForTheSharedMemoryThatThereIs) {
  const auto asked_for = [&](const char* device) {
    const sn::Tensor<float> x = rows(3, 40000, device);
    sn::testing::fake().launches.clear();
    const sn::Tensor y = sn::softmax(x, -1);
    return sn::testing::fake().launches.back().shared;
  };
  EXPECT_EQ(asked_for("cuda:0"), 160000u);
  EXPECT_EQ(asked_for("cuda:1"), 0u);
}

// The bandwidth of the host is not known.
TEST_F(ExplainRows, CpuHasNoRoofline) {
  const std::string text = sn::explain(sn::sum(sn::zeros({3, 4}), 1));
  EXPECT_THAT(text, AllOf(HasSubstr(" 3 of 4 elements, 1 walk through each\n"), Not(HasSubstr("threads")),
                          Not(HasSubstr("at the memory's"))));
}

TEST_F(ExplainRows, WhatBoundsAKernel) {
  const sn::Tensor x = rows(1000, 1000);
  const auto functions = [&](int count) {
    sn::Lazy<float> e = x;
    for (int i = 0; i < count; ++i) e = sn::exp(e);
    return sn::explain(e);
  };
  EXPECT_THAT(functions(13), HasSubstr(": 13 a byte, bound by memory\n"));  // 8 of each for 8 bytes
  EXPECT_THAT(functions(14), HasSubstr(": 14 a byte, bound by arithmetic\n"));
  EXPECT_THAT(sn::explain(x.to<double>() * 2), HasSubstr("bound by memory\n"));
  EXPECT_THAT(sn::explain(x.to<int>() + 1), HasSubstr(" a byte\n"));  // no rate of integers is known
  const std::string product = sn::explain(sn::matmul(x, x));
  EXPECT_THAT(product, HasSubstr("2 G operations: 167 a byte\n"));  // nor that of tensor cores
  EXPECT_THAT(sn::explain(sn::matmul(sn::exp(sn::sigmoid(x)), x) + sn::sigmoid(x)),
              AllOf(HasSubstr("computed again: sigmoid in 2 kernels"),
                    HasSubstr("        that spares 8 M operations (120 ns) and adds at most 12 MB (2.44 us)\n")));
}

struct ExplainPlans : testing::Test {
  sn::Tensor<float> x = sn::zeros({4, 6}), y = sn::zeros({6, 4});
};

TEST_F(ExplainPlans, WhyKernelsAreApart) {
  const auto not_fused = [](const std::string& kernels, const std::string& reason) {
    return HasSubstr("not fused: kernels " + kernels + "\n        " + reason);
  };
  EXPECT_THAT(sn::explain(sn::exp(sn::matmul(sn::exp(x), y))),
              not_fused("1 and 2, 2 and 3", "a product is a call of OpenBLAS, which reads and writes memory\n"));
  EXPECT_THAT(sn::explain(sn::sum(sn::sum(x, 1) * 2, 0)),
              not_fused("1 and 2", "the result of a reduction over (4, 6) is read over another shape, (4,)"));
  EXPECT_THAT(sn::explain(sn::sum(x, 0) + sn::amax(x)), not_fused("1 and 2", "they reduce different dims"));
  EXPECT_THAT(sn::explain(sn::sum(x, 1) + sn::zeros({3, 4})),
              not_fused("1 and 2", "the result of a reduction over (4, 6) is read over another shape, (3, 4)"));
  EXPECT_THAT(sn::explain(sn::softmax(x, 1)), Not(HasSubstr("not fused")));
  const auto p = sn::softmax(x, 1);  // a product lies between those that reduce the same rows
  EXPECT_THAT(sn::explain(sn::sum(sn::matmul(p, sn::zeros({6, 6})) * p, 1)),
              AllOf(not_fused("1 and 3", "the second also needs what a kernel between them computes from the first"),
                    Not(HasSubstr("limits"))));
  EXPECT_THAT(sn::explain(sn::sum(sn::exp(x), 0) + sn::sum(sn::exp(x), 1).sum()), Not(HasSubstr("reduced again")));
}

TEST_F(ExplainPlans, WhatIsLeftOfAPlanWithAProduct) {
  EXPECT_THAT(sn::explain(sn::softmax(sn::matmul(x, y), -1)), HasSubstr(" operations in all, 6 left\n"));
}

TEST_F(ExplainPlans, AGatherReadsWhatItsIndicesName) {
  const sn::Tensor<std::int64_t> first = sn::zeros<std::int64_t>({4, 1});
  EXPECT_THAT(sn::explain(sn::sum(x - sn::gather(x, 1, first), 1)), HasSubstr("costs      144 B read, 16 B written"));
}

// On the CPU no time is known, and none is made up.
TEST_F(ExplainPlans, StoringAValueIsBytesForOperations) {
  EXPECT_THAT(sn::explain(sn::matmul(sn::exp(sn::sigmoid(x)), y).sum() + sn::sigmoid(x)),
              HasSubstr("        that spares 192 operations and adds at most 288 B\n"));
}

TEST_F(ExplainPlans, ArgumentsHaveTheirNames) {
  const auto text = [&](std::string_view expression) {
    return sn::explain(sn::parse(expression, {{"length", x}, {"time", y}}));
  };
  EXPECT_THAT(text("length / time.t()"),
              AllOf(HasSubstr("reads      length: float32 (4, 6), contiguous\n"),
                    HasSubstr("               time: float32 (4, 6), strides (1, 4)\n"), Not(HasSubstr("leaf"))));
  EXPECT_THAT(text("exp(length)[1:] * 2"), HasSubstr("reads      length: float32 (3, 6)"));
  EXPECT_THAT(sn::explain(x + 1), HasSubstr("reads      leaf 0: float32"));
  const sn::Lazy<float> written(sn::jit::named(sn::Lazy<float>(x).node(), "\x1b[31m\n"));
  EXPECT_THAT(sn::explain(written + 1), HasSubstr("reads      \"\\x1b[31m\\x0a\": float32"));
  const sn::Lazy<float> grown = sn::Lazy<float>(x) + 1;  // an expression has no name of its own
  EXPECT_THAT(sn::explain(sn::parse("a * 2", {{"a", grown}})), HasSubstr("leaf 0: float32"));
}

TEST_F(ExplainPlans, WhatPositionsOfAMeshTellOneAnother) {
  const sn::Mesh mesh({sn::cpu, sn::cpu});
  const auto s = sn::shard(x, mesh);
  EXPECT_THAT(sn::explain(s + 1), AllOf(HasSubstr("float32 (4, 6) on mesh("), HasSubstr("at each of 2 positions\n"),
                                        HasSubstr(" over (2, 6)\n"), HasSubstr("communication: none")));
  EXPECT_THAT(sn::explain(s.sum(0)), AllOf(HasSubstr("communication: 24 B from each of 2 positions\n"),
                                           HasSubstr("        all_reduce of 6 float32 elements for sum: 24 B\n"),
                                           HasSubstr("writes     part 0: float32 (1, 6), for the next stage\n"),
                                           HasSubstr("reads      joined 0: float32 (6,)"),
                                           HasSubstr("the positions of the mesh exchange results between them\n")));
  EXPECT_THAT(sn::explain(s.sum(1)), AllOf(HasSubstr(" 2 of 6 elements"), Not(HasSubstr("threads"))));
  EXPECT_THAT(sn::explain(s.argmax(0)),
              AllOf(HasSubstr("communication: 72 B"), HasSubstr("all_gather of 6 float32 elements for amax: 24 B\n"),
                    HasSubstr("all_gather of 6 int64 elements for argmax: 48 B\n")));
  EXPECT_THAT(sn::explain(s.softmax(1)), HasSubstr("communication: none"));
  EXPECT_THAT(sn::explain(sn::exp(s * 2) + sn::exp(s * 2)), HasSubstr("communication: none"));
  EXPECT_THAT(sn::explain(sn::sum((s - sn::sum(s, 0)) * s, 0)),
              AllOf(HasSubstr("part 0: "), HasSubstr("joined 0: "), HasSubstr("part 1: "), HasSubstr("joined 1: ")));
}

}  // namespace
