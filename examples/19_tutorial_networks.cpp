// The PyTorch tutorials' section on GPUs, from networks on; the earlier steps are in 06_tutorial.
#include <iostream>
#include <sinter/data.hpp>
#include <sinter/nn.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sn::literals;

int main() {
  sn::manual_seed(1);
  std::cout << std::boolalpha;

  // 13. A network on a device. One row of three gives one number, two rows give two.
  nn::Sequential net(nn::Linear(3, 1));
  std::cout << net << "\n" << net[0_c].weight.device() << "\n";
  net.to_(sn::try_gpu());
  const auto x = sn::ones({2, 3}, sn::try_gpu());
  std::cout << net(x[0]).shape() << " " << net(x).shape() << " " << net(x).size(0) << "\n";

  // 14. Its parameters are on its device; input on another device is an error.
  std::cout << net[0_c].weight.device() << " " << net.parameters().size() << " " << net.num_parameters() << "\n";
  try {
    std::cout << net(sn::ones({2, 3}, sn::Device("cuda:1"))) << "\n";
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }

  // 15. A dataset of 100 random rows of 5, in batches of 30.
  const sn::RandomDataset rows(5, 100);
  nn::Linear model(5, 2);
  model.to_(sn::try_gpu());
  for (const auto& input : sn::DataLoader(rows, {.batch_size = 30, .shuffle = true})) {
    const sn::Tensor output = model(input.to(sn::try_gpu()));
    std::cout << "input size " << input.shape() << ", output size " << output.shape() << "\n";
  }

  // 17. Saved and loaded; a net that another library wrapped has "module." before each name.
  sn::save_safetensors("model.safetensors", model.state_dict());
  nn::Linear loaded(5, 2);
  loaded.load_state_dict(sn::load_safetensors("model.safetensors"));
  std::cout << sn::equal(loaded.weight, model.weight.cpu());
  sn::save_safetensors("wrapped.safetensors", {{"module.weight", model.weight}, {"module.bias", model.bias}});
  loaded.load_state_dict(sn::load_safetensors("wrapped.safetensors"));
  std::cout << " " << sn::equal(loaded.bias, model.bias.cpu()) << "\n";

  // 18. Parameters are read on the host and written on a GPU; the bits stay the same.
  const auto on_host = model.weight.cpu();
  const auto back = on_host.to(sn::try_gpu(1));
  std::cout << sn::equal(back.cpu(), on_host) << " " << back.device() << "\n";
  model.weight.copy_(on_host * 2);
  std::cout << sn::equal(model.weight.cpu(), sn::Tensor(on_host * 2)) << "\n";
}
