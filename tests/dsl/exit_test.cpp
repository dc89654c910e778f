// Tensors and evaluations in destructors that run after a thread's own, or after main.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sinter/sinter.hpp>
#include <thread>

namespace sn = sinter;

namespace {

float two() { return sn::Tensor(sn::ones({100'000}) + 1)[0].item(); }

TEST(AfterTheThread, ThreadLocalsMayEvaluate) {
  static float seen = 0;
  std::thread([] {
    struct Late {
      ~Late() { seen = two(); }
    };
    thread_local Late late;  // constructed before the library's objects, so destroyed after them
    (void)&late;
    EXPECT_EQ(two(), 2.f);
  }).join();
  EXPECT_EQ(seen, 2.f);
}

TEST(AfterMainDeathTest, StaticsMayEvaluate) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::fprintf(stderr, "late %g\n", static_cast<double>(two())); });
        std::exit(two() == 2.f ? 0 : 1);
      },
      testing::ExitedWithCode(0), "late 2");
}

}  // namespace
