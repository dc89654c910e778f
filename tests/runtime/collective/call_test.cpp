// What calls are called, and whether they come through as numbers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include <runtime/collective/call.hpp>
#include <runtime/collective/processes.hpp>

namespace {

namespace runtime = sinter::runtime;
using runtime::Call;
using runtime::CallKind;

TEST(Call, ComesThroughAsNumbers) {
  const Call call{CallKind::Send, 3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_EQ(runtime::call_of(runtime::words_of(call)), call);
  EXPECT_NE(runtime::call_of(runtime::words_of(call)), Call{});
}

TEST(Call, HasWords) {
  const auto text = [](CallKind kind) {
    return describe(Call{.kind = kind,
                         .dtype = static_cast<std::int64_t>(sinter::DType::Int16),
                         .how = 2,
                         .from = 1,
                         .to = 3,
                         .count = 7,
                         .counts = 0xABCDE});
  };
  EXPECT_EQ(text(CallKind::AllReduce), "all_reduce, maximum, of 7 int16");
  EXPECT_EQ(text(CallKind::AllGather), "all_gather of 7 int16 (counts #bcde)");
  EXPECT_EQ(text(CallKind::ReduceScatter), "reduce_scatter, maximum, of 7 int16 (counts #bcde)");
  EXPECT_EQ(text(CallKind::Broadcast), "broadcast of 7 int16 from rank 1");
  EXPECT_EQ(text(CallKind::Send), "send of 7 int16 from rank 1 to 3");
  EXPECT_EQ(text(CallKind::Barrier), "barrier");
  EXPECT_EQ(describe(Call{.errors = 1}), "barrier, after an error of this process");
  EXPECT_EQ(describe(Call{.errors = 3}), "barrier, after 3 errors of this process");
  EXPECT_EQ(describe(Call{.subject = 0x12345}), "barrier, for the expression and shapes #00012345");
}

TEST(Call, CountsHaveAHash) {
  const std::vector<std::int64_t> a{1, 3}, b{2, 2}, c{1, 3};
  EXPECT_NE(runtime::hash_of(a), runtime::hash_of(b));
  EXPECT_EQ(runtime::hash_of(a), runtime::hash_of(c));
  EXPECT_GE(runtime::hash_of(a), 0);
  EXPECT_GE(runtime::hash_of({}), 0);
}

TEST(Call, RanksHaveAProcess) {
  const std::vector<std::int64_t> locals{2, 1, 3};
  const int processes[] = {0, 0, 1, 2, 2, 2};
  for (int p = 0; p < 6; ++p) EXPECT_EQ(runtime::process_of(p, locals), processes[p]);
}

TEST(Launched, IsSeenInTheEnvironment) {
  for (const char* v : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_NTASKS"}) unsetenv(v);
  EXPECT_EQ(runtime::launched_processes(), 1);
  setenv("SLURM_NTASKS", "5", 1);
  EXPECT_EQ(runtime::launched_processes(), 1);
  setenv("PMIX_RANK", "0", 1);
  EXPECT_EQ(runtime::launched_processes(), 5);
  setenv("PMI_SIZE", "6", 1);
  EXPECT_EQ(runtime::launched_processes(), 6);
  setenv("OMPI_COMM_WORLD_SIZE", "many", 1);
  EXPECT_EQ(runtime::launched_processes(), 6);
  setenv("OMPI_COMM_WORLD_SIZE", "7", 1);
  EXPECT_EQ(runtime::launched_processes(), 7);
}

}  // namespace
