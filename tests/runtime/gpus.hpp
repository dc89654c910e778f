// Gives the tests of every device two virtual GPUs, or the real ones where SINTER_TEST_GPU is set.
#pragma once
#include <cstdlib>

namespace sinter::testing {

/// Before main, so that it is set before the first device is asked for.
inline const bool virtual_gpus = !std::getenv("SINTER_TEST_GPU") && setenv("SINTER_VIRTUAL_GPUS", "2", 0) == 0;

}  // namespace sinter::testing
