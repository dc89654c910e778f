// A program linked with Sinter. "evaluate" uses it on the CPU, "memory" also reports how much memory that took;
// "device" opens a GPU, and "gpu" evaluates on it.
#include <cstring>
#include <sinter/sinter.hpp>

#include "memory.hpp"

int main(int argc, char** argv) {
  if (argc == 1) return 0;
  const bool opens = std::strcmp(argv[1], "device") == 0, on_gpu = opens || std::strcmp(argv[1], "gpu") == 0;
  const sinter::Tensor<float> x = sinter::tensor({1.f, 2.f, 3.f}).to(on_gpu ? sinter::Device(0) : sinter::Device());
  if (opens) return 0;
  const sinter::Tensor r = (x + 2).exp() * x;
  if (std::strcmp(argv[1], "memory") == 0) std::printf("%ld\n", resident_kib());
  return r.numel() == 3 ? 0 : 1;
}
