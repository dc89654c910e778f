// Runs while the project is built: defines the kernels of the program. The tensors become parameters.
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main(int argc, char** argv) {
  // [kernels]
  const sn::Tensor<float> z = sn::zeros({100}), y = sn::zeros({100}), x = sn::zeros({10, 20});
  return sn::export_main(
      argc, argv,
      {sn::exported(
           sn::exp(z + 2) * y,
           {.name = "fused", .inputs = {"z", "y"}, .outputs = {"out"}, .sizes = {{"n"}}, .numbers = {"shift"}}),
       sn::exported(sn::softmax(x, -1),
                    {.name = "softmax", .inputs = {"x"}, .outputs = {"out"}, .sizes = {{"rows", "columns"}}})});
  // [/kernels]
}
