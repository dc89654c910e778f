// Networks: Sequential, a user-defined module, moving, saving.
#include <iostream>
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sn::literals;

// [module]
struct Net : nn::Module<Net> {
  nn::Linear hidden{3, 8}, out{8, 2};
  nn::Dropout drop{0.1};

  nn::Members members() { return nn::members("hidden", hidden, "drop", drop, "out", out); }

  template <class X>
  auto operator()(const X& x) const {
    return out(drop(sn::relu(hidden(x))));
  }
};
// [/module]

int main() {
  // [sequential]
  nn::Sequential net(nn::Linear(3, 1));
  std::cout << net << "\n";
  net[0_c].weight.assign(sn::tensor({{0.5f, -1.f, 2.f}}));
  net[0_c].bias.assign(0.25);
  std::cout << net(sn::tensor({1.f, 2.f, 3.f})) << " " << net(sn::ones({2, 3})) << "\n";
  // [/sequential]

  // [moving]
  std::cout << net[0_c].weight.device() << " ";
  net.to_(sn::try_gpu());  // in place
  std::cout << net[0_c].weight.device() << " " << net(sn::ones({3}, sn::try_gpu())) << "\n";
  auto typed = net.to(sn::cuda<1>);  // another net, whose type contains the device
  std::cout << typed[0_c].weight << "\n";
  try {
    sn::Tensor y = net(sn::ones({2, 3}));
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }
  // [/moving]

  // [deep]
  nn::Sequential block(nn::Linear(3, 4), nn::GELU());
  nn::Sequential deep(block, nn::Sequential(nn::LayerNorm(4), nn::Dropout(0.2)), nn::Linear(4, 2));
  std::cout << deep << "\n";
  for (const auto& [name, parameter] : deep.named_parameters()) std::cout << name << " " << parameter.shape() << "\n";
  // [/deep]

  // [own]
  Net own;
  own.to_("cuda:1").eval();  // Dropout does nothing now
  std::cout << own << "\n" << own.num_parameters() << " " << own(sn::ones({5, 3}, sn::cuda<1>)).shape() << "\n";
  // [/own]

  // [saving]
  Net other;
  other.load_state_dict(own.state_dict());  // any range of names and tensors
  std::cout << sn::equal(other.out.weight, own.out.weight.cpu()) << "\n";
  try {
    net.load_state_dict(own.state_dict());
  } catch (const sn::Error& error) {
    std::cout << error.what() << "\n";
  }
  // [/saving]
}
