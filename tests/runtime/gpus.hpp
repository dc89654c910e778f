// Included by tests that real GPUs run as well, where SINTER_TEST_GPU is set; virtual ones do otherwise.
#pragma once
#include <cstdlib>

namespace sinter::test {

inline const bool virtual_gpus = !std::getenv("SINTER_TEST_GPU");

}  // namespace sinter::test
