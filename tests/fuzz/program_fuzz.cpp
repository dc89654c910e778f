// Any bytes as a program of tensors: all ways of evaluating it agree (program/program.hpp). One program in
// SINTER_FUZZ_GPU_SHARE, 512 where nothing is said, runs on a virtual GPU of the strict tier, too: kernels are compiled
// for that. 1 lets an input that was found do so for certain, 0 none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "program/program.hpp"

using namespace sinter;

namespace {

/// Before anything asks for devices.
const unsigned gpu_share = [] {
  setenv("SINTER_VIRTUAL_GPUS", "1", 0);
  setenv("SINTER_VIRTUAL_STRICT", "1", 0);
  const char* const share = std::getenv("SINTER_FUZZ_GPU_SHARE");
  return share ? static_cast<unsigned>(std::atoi(share)) : 512u;
}();

unsigned hash(const std::uint8_t* data, std::size_t size) {
  unsigned h = 2166136261u;
  for (std::size_t i = 0; i < size; ++i) h = (h ^ data[i]) * 16777619u;
  return h >> 8;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Most inputs are new: what is learned from a program's coverage is little beside what a program of its own finds.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() / 16 % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t length = std::min<std::size_t>(max_size, 32 + random() / 16 % 160);
  for (std::size_t i = 0; i < length; ++i) data[i] = static_cast<std::uint8_t>(random() / 256);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool on_gpu = gpu_share > 0 && hash(data, size) % gpu_share == 0;
  try {
    fuzz::Program({data, size}, on_gpu ? std::optional(Device("cuda:0")) : std::nullopt).run();
  } catch (const fuzz::Disagreement& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  return 0;
}
