// A plugin that evaluates. Built so that dlclose really unmaps it.
#include <sinter/sinter.hpp>

namespace sn = sinter;

/// (x + 2).exp() * x, summed by the caller; the expression's type is the same in every plugin and in the test.
extern "C" __attribute__((visibility("default"))) int sinter_test_evaluate(float x, int on_gpu, float* result) {
  try {
    const sn::Tensor<float> t = sn::full({3, 5}, x, on_gpu ? sn::Device(0) : sn::Device());
    const sn::Tensor<float> r = (t + 2.0f).exp() * t;
    *result = r[0][0].item();
    return 0;
  } catch (const sn::Error&) {
    return 1;
  }
}
