// The PyTorch tutorials' section on GPUs, step by step.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // 1. Devices have names; naming one needs no GPU.
  std::cout << sn::to_string(sn::Device("cpu")) << " " << sn::to_string(sn::Device("cuda")) << " "
            << sn::to_string(sn::Device("cuda:1")) << "\n";

  // 2. Is there a GPU, how many, which one, what is it called?
  std::cout << std::boolalpha << sn::cuda_is_available() << " " << sn::device_count() << " " << sn::current_device()
            << " " << sn::device_name(0) << "\n";

  // 3. A GPU if there is one, else the CPU.
  std::cout << sn::to_string(sn::try_gpu()) << " " << sn::to_string(sn::try_gpu(10)) << " " << sn::try_all_gpus().size()
            << "\n";

  // 4. Tensors are made on the CPU by default.
  const auto x = sn::tensor({1.f, 2.f, 3.f});
  std::cout << x << " " << sn::to_string(x.device()) << "\n";

  // 5. Made on a device.
  const auto X = sn::ones({2, 3}, sn::try_gpu());
  std::cout << X << "\n" << sn::tensor({1, 2, 3}, sn::Device("cuda:1")) << "\n";
  std::cout << sn::rand({2, 3}, sn::Device("cuda:1")).device().index() << "\n";
  try {
    sn::ones({2, 3}, sn::Device("cuda:7"));
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }

  // 6. Moved, and converted at the same time.
  std::cout << x.cuda() << " " << x.cuda(1) << " " << x.to(sn::try_gpu()).cpu() << "\n";
  std::cout << x.to<double>(sn::try_gpu(1)) << "\n";

  // 7. Moving to where it already is costs nothing.
  auto y = x.cuda();
  std::cout << y.same_storage(y.cuda()) << " " << y.same_storage(y.copy_(y)) << "\n";

  // 8. Like another one, and uninitialized.
  std::cout << sn::ones_like(x, sn::Device("cuda:1")) << " " << sn::empty<float>({2, 3}).numel() << "\n";

  // 9. Computed on the GPU, in one kernel.
  const auto z = x.cuda();
  std::cout << (z + 2).exp() * y << "\n";

  // 10. Integers stay integers.
  std::cout << sn::tensor({1, 2, 3}).cuda().pow(2) << "\n";

  // 11. Operands on one device.
  const auto Y = sn::full({2, 3}, 0.5, sn::Device("cuda:1"));
  const auto Z = Y.cuda(0);
  std::cout << X + Z << "\n";

  // 12. Operands on two: an error that names both. If the types show it, as in x + z, it is a compile-time error.
  try {
    std::cout << X + Y << "\n";
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }
}
