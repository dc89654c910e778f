// What explain says about row kernels, on GPUs of the fake driver, so that it decides as on real ones.
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
    const int most = sn::testing::fake().shared_per_block;
    for (const auto& [device, shared] : {std::pair("cuda:0", most), {"cuda:1", 99 << 10}}) {
      sn::testing::fake().shared_per_block = shared;
      sn::empty<float>({1}, device);
    }
    sn::testing::fake().shared_per_block = most;  // for the kernels that this test loads
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
            "  sinter_mul_amax_sub_exp_sum_and_2_f32_#### over (4096, 1024)\n"
            "    computes   mul, amax, sub, exp, sum, div, mul\n"
            "    rows       4096 of 1024 elements, 3 passes over each\n"
            "    threads    32 threads of 256 for a row, which is kept in registers\n"
            "    reads      leaf 0: float32 (4096, 1024), contiguous\n"
            "               1 number, passed at each launch\n"
            "    writes     output 0: float32 (4096, 1024)\n"
            "    costs      16.8 MB read, 16.8 MB written, 54.6 M operations: 1.63 per byte, memory-bound\n"
            "memory: 33.6 MB read and written in 1 kernel\n"
            "        6.82 us at 4.92 TB/s memory bandwidth, if nothing is cached\n"
            "        a float32 kernel is memory-bound up to 13.6 operations per byte, at 66.9 T operations/s\n"
            "        one kernel per operation would move 67.1 MB in 2 kernels, 2.0 times as much\n"
            "temporaries: none\n"
            "composite: 1 operation composed of others, 13 in total\n"
            "simplified: 13 operations in total, 7 left\n");
}

TEST_F(ExplainRows, SchemesFollowFromSizes) {
  EXPECT_THAT(softmax_of(1 << 16, 3), HasSubstr(" 2 threads of 256 for a row, which is kept in registers\n"));
  EXPECT_THAT(softmax_of(64, 16384), AllOf(HasSubstr(" 512 threads of 512 for a row, which is kept in registers\n"),
                                           Not(HasSubstr("launches")), HasSubstr("memory: 8.39 MB")));
  EXPECT_THAT(softmax_of(1, 1 << 20),
              HasSubstr(" 512 threads of 512 for a row, which every pass reads; 64 blocks share "
                        "it\n               2 launches, since blocks"));
  EXPECT_THAT(sn::explain(sn::sum(rows(8192, 128), 0)),
              AllOf(HasSubstr(" 128 of 8192 elements, 1 pass over each\n"),
                    HasSubstr(" 32 threads of 1024 for 4 columns, which every pass reads; 8 blocks share it\n"),
                    HasSubstr(" 2 launches, since blocks that share a row combine partial results\n"),
                    HasSubstr(" 853 ns at 4.92 TB/s memory bandwidth")));
}

// Counted once if shared memory has room, and once per pass if this GPU's, or any GPU's, has not.
TEST_F(ExplainRows, WhatIsKeptInSharedMemoryIsReadOnce) {
  EXPECT_THAT(softmax_of(20, 40000),
              AllOf(HasSubstr(" 20 of 40000 elements, 2 passes over each\n"),
                    HasSubstr(" 1024 threads of 1024 for a row, which is kept in shared memory\n"),
                    HasSubstr("memory: 6.4 MB read and written in 1 kernel\n"),
                    HasSubstr(" 1.3 us at 4.92 TB/s memory bandwidth")));
  EXPECT_THAT(
      softmax_of(20, 40000, "cuda:1"),
      AllOf(HasSubstr(" 20 of 40000 elements, 2 passes over each\n"),
            HasSubstr(" 1024 threads of 1024 for a row, which every pass reads\n"), HasSubstr("memory: 9.6 MB")));
  EXPECT_THAT(softmax_of(20, 60000), AllOf(HasSubstr("which every pass reads\n"), HasSubstr("memory: 14.4 MB")));
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
  EXPECT_THAT(text, AllOf(HasSubstr(" 3 of 4 elements, 1 pass over each\n"), Not(HasSubstr("threads")),
                          Not(HasSubstr("memory bandwidth"))));
}

TEST_F(ExplainRows, WhatBoundsAKernel) {
  const sn::Tensor x = rows(1000, 1000);
  const auto functions = [&](int count) {
    sn::Lazy<float> e = x;
    for (int i = 0; i < count; ++i) e = sn::exp(e);
    return sn::explain(e);
  };
  EXPECT_THAT(functions(13), HasSubstr(": 13 per byte, memory-bound\n"));  // 8 of each for 8 bytes
  EXPECT_THAT(functions(14), HasSubstr(": 14 per byte, compute-bound\n"));
  EXPECT_THAT(sn::explain(x.to<double>() * 2), HasSubstr("memory-bound\n"));
  EXPECT_THAT(sn::explain(x.to<int>() + 1), HasSubstr(" per byte\n"));  // no rate of integers is known
  const std::string product = sn::explain(sn::matmul(x, x));
  EXPECT_THAT(product, HasSubstr("2 G operations: 167 per byte\n"));  // nor that of tensor cores
  EXPECT_THAT(sn::explain(sn::matmul(sn::exp(sn::sigmoid(x)), x) + sn::sigmoid(x)),
              AllOf(HasSubstr("recomputed: sigmoid in 2 kernels"),
                    HasSubstr("        that saves 8 M operations (120 ns) and adds at most 12 MB (2.44 us)\n")));
}

struct ExplainPlans : testing::Test {
  sn::Tensor<float> x = sn::zeros({4, 6}), y = sn::zeros({6, 4});
};

TEST_F(ExplainPlans, WhyKernelsAreApart) {
  const auto not_fused = [](const std::string& kernels, const std::string& reason) {
    return HasSubstr("not fused: kernels " + kernels + "\n        " + reason);
  };
  EXPECT_THAT(sn::explain(sn::exp(sn::matmul(sn::exp(x), y))),
              not_fused("1 and 2, 2 and 3", "a matrix product is a call of OpenBLAS, which reads and writes memory\n"));
  EXPECT_THAT(sn::explain(sn::sum(sn::sum(x, 1) * 2, 0)),
              not_fused("1 and 2", "the result of a reduction over (4, 6) is read over another shape, (4,)"));
  EXPECT_THAT(sn::explain(sn::sum(x, 0) + sn::amax(x)), not_fused("1 and 2", "they reduce different dims"));
  EXPECT_THAT(sn::explain(sn::sum(x, 1) + sn::zeros({3, 4})),
              not_fused("1 and 2", "the result of a reduction over (4, 6) is read over another shape, (3, 4)"));
  EXPECT_THAT(sn::explain(sn::softmax(x, 1)), Not(HasSubstr("not fused")));
  const auto p = sn::softmax(x, 1);  // a product is between kernels that reduce the same rows
  EXPECT_THAT(sn::explain(sn::sum(sn::matmul(p, sn::zeros({6, 6})) * p, 1)),
              AllOf(not_fused("1 and 3", "the second also needs a result that another kernel computes from the first"),
                    Not(HasSubstr("limits"))));
  EXPECT_THAT(sn::explain(sn::sum(sn::exp(x), 0) + sn::sum(sn::exp(x), 1).sum()), Not(HasSubstr("reduced again")));
}

TEST_F(ExplainPlans, WhatIsLeftOfAPlanWithAProduct) {
  EXPECT_THAT(sn::explain(sn::softmax(sn::matmul(x, y), -1)), HasSubstr(" operations in total, 7 left\n"));
}

TEST_F(ExplainPlans, AGatherReadsWhatItsIndicesName) {
  const sn::Tensor<std::int64_t> first = sn::zeros<std::int64_t>({4, 1});
  EXPECT_THAT(sn::explain(sn::sum(x - sn::gather(x, 1, first), 1)), HasSubstr("costs      144 B read, 16 B written"));
}

// Times on the CPU are unknown, so none is shown.
TEST_F(ExplainPlans, StoringAValueIsBytesForOperations) {
  EXPECT_THAT(sn::explain(sn::matmul(sn::exp(sn::sigmoid(x)), y).sum() + sn::sigmoid(x)),
              HasSubstr("        that saves 192 operations and adds at most 288 B\n"));
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
  const sn::Lazy<float> grown = sn::Lazy<float>(x) + 1;  // an expression itself has no name
  EXPECT_THAT(sn::explain(sn::parse("a * 2", {{"a", grown}})), HasSubstr("leaf 0: float32"));
}

TEST_F(ExplainPlans, CommunicationOfAMesh) {
  const sn::Mesh mesh({sn::cpu, sn::cpu});
  const auto s = sn::shard(x, mesh);
  EXPECT_THAT(sn::explain(s + 1), AllOf(HasSubstr("float32 (4, 6) on mesh("), HasSubstr("on each of 2 ranks\n"),
                                        HasSubstr(" over (2, 6)\n"), HasSubstr("communication: none")));
  EXPECT_THAT(sn::explain(s.sum(0)), AllOf(HasSubstr("communication: 24 B from each of 2 ranks\n"),
                                           HasSubstr("        all_reduce of 6 float32 elements for sum: 24 B\n"),
                                           HasSubstr("writes     part of value 0: float32 (6,)\n"),
                                           HasSubstr("1 operation in 1 kernel on each of 2 ranks\n")));
  EXPECT_THAT(sn::explain(s.sum(0) + 1), AllOf(HasSubstr("reads      value 0: float32 (6,)"),
                                               HasSubstr("the mesh's ranks communicate between them\n")));
  EXPECT_THAT(sn::explain(s.sum(1)), AllOf(HasSubstr(" 2 of 6 elements"), Not(HasSubstr("threads"))));
  EXPECT_THAT(
      sn::explain(s.argmax(0)),
      AllOf(HasSubstr("communication: 72 B"), HasSubstr("all_gather of 6 float32 elements for amax: 24 B\n"),
            HasSubstr("all_gather of 6 int64 elements for argmax: 48 B\n"), HasSubstr("parts of value 0: int64 (2, 6)"),
            HasSubstr("ranks: int64 (2, 1)"), HasSubstr("writes     value 0: int64 (6,)\n")));
  EXPECT_THAT(sn::explain(s.softmax(1)), HasSubstr("communication: none"));
  EXPECT_THAT(sn::explain(sn::exp(s * 2) + sn::exp(s * 2)), HasSubstr("communication: none"));
  EXPECT_THAT(sn::explain(sn::sum((s - sn::sum(s, 0)) * s, 0)),
              AllOf(HasSubstr("part of value 0: "), HasSubstr(" value 0: "), HasSubstr("part of value 1: ")));
}

}  // namespace
