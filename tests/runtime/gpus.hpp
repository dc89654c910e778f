// Included by tests that also run on real GPUs if SINTER_TEST_GPU is set; otherwise they run on virtual ones.
#pragma once
#include <cstdlib>

namespace sinter::test {

inline const bool virtual_gpus = !std::getenv("SINTER_TEST_GPU");

}  // namespace sinter::test
