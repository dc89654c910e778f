// Where tensors are, and how devices are checked: by the compiler if the types show the device, else at run time.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [names]
  std::cout << sn::to_string(sn::Device("cpu")) << " " << sn::to_string(sn::Device("cuda")) << " "
            << sn::to_string(sn::Device("cuda:1")) << "\n";  // naming a device needs no GPU
  // [/names]

  // [asking]
  std::cout << std::boolalpha << sn::cuda_is_available() << " " << sn::device_count() << " " << sn::current_device()
            << "\n";
  for (const sn::Device& device : sn::try_all_gpus()) std::cout << sn::to_string(device) << "\n";
  std::cout << sn::to_string(sn::try_gpu(10)) << "\n";  // there is no such GPU: the CPU
  // [/asking]

  // [types]
  sn::Tensor<float, sn::Cpu> a = sn::ones({2});
  sn::Tensor<float, sn::Cuda<0>> b = a.to(sn::cuda<0>);  // a GPU named in the type
  sn::Tensor<float, sn::Cuda<>> c = a.cuda(1);           // a GPU that is known at run time
  sn::Tensor<float> d = a.to(sn::Device("cuda:1"));      // any device: what members and vectors hold
  std::cout << c + d << "\n";                            // checked at run time, and fine
  // a + b does not compile: "the operands are on different devices"
  // [/types]

  // [run time]
  try {
    std::cout << b + d << "\n";
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }
  // [/run time]

  // [sharing]
  std::cout << b.same_storage(b.cuda(0)) << " " << b.same_storage(b.cuda(1))
            << "\n";  // already there: nothing is copied
  // [/sharing]
}
