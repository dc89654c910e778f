// The main function of every test program.
#include <gmock/gmock.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("SINTER_CACHE", "memory", 0);  // tests count compilations, and leave the user's folder alone
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
