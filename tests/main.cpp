// The main function of every test program.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

/// Where every access to memory is checked, which takes long, a part of the tests may do: SINTER_TEST_SAMPLE=2/3 runs
/// the second of three parts. Processes that tests start are not to choose once more.
class Sample : public testing::Environment {
 public:
  Sample() {
    const char* sample = std::getenv("SINTER_TEST_SAMPLE");
    if (!sample || !std::getenv("SINTER_VIRTUAL_STRICT")) return;
    int part = 0, parts = 0;
    if (std::sscanf(sample, "%d/%d", &part, &parts) != 2 || part < 1 || part > parts) {
      std::fprintf(stderr, "SINTER_TEST_SAMPLE=%s is no part of several, as 2/3 is\n", sample);
      std::exit(2);
    }
    setenv("GTEST_SHARD_INDEX", std::to_string(part - 1).c_str(), 1);
    setenv("GTEST_TOTAL_SHARDS", std::to_string(parts).c_str(), 1);
  }
  void SetUp() override {
    for (const char* name : {"SINTER_TEST_SAMPLE", "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"}) unsetenv(name);
  }
};

}  // namespace

int main(int argc, char** argv) {
  setenv("SINTER_CACHE", "memory", 0);  // tests count compilations, and leave the user's folder alone
  testing::InitGoogleMock(&argc, argv);
  testing::AddGlobalTestEnvironment(new Sample);
  return RUN_ALL_TESTS();
}
