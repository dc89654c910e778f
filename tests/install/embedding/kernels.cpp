#include <sinter/sinter.hpp>

namespace sn = sinter;

int main(int argc, char** argv) {
  const sn::Tensor<float> x = sn::zeros({3});
  return sn::export_main(argc, argv, {sn::exported(x * 2, {.name = "fused"}), sn::exported(x + 1, {.name = "other"})});
}
