// Several devices: a net on each of them, and sharded tensors.
#include <iostream>
#include <sinter/data.hpp>
#include <sinter/nn.hpp>
#include <sinter/optim.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

// [model]
struct Model : nn::Module<Model> {
  nn::Linear fc;
  Model(int in, int out) : fc(in, out) {}

  nn::Members members() { return nn::members("fc", fc); }

  template <class X>
  auto operator()(const X& input) const {
    auto output = fc(input);
    std::cout << "\tIn Model: input size " << input.shape() << " output size " << sn::shape_of(output) << "\n";
    return output;
  }
};
// [/model]

void run(const sn::Mesh& mesh) {
  // [parallel]
  std::cout << "Let's use " << mesh.size() << " GPUs!\n";
  nn::DataParallel model(Model(5, 2), mesh);
  sn::DataLoader loader(sn::RandomDataset(5, 100), {.batch_size = 30, .shuffle = true});
  for (const auto& data : loader) {
    const sn::Tensor input = data.to(mesh.device(0));
    const sn::Tensor output = model(input);
    std::cout << "Outside: input size " << input.shape() << " output_size " << output.shape() << "\n";
  }
  // [/parallel]
}

void train(const sn::Mesh& mesh) {
  sn::manual_seed(0);
  // [training]
  const sn::Tensor features = sn::randn({1000, 2});
  const sn::Tensor labels = sn::matmul(features, sn::tensor({{2.f}, {-3.4f}})) + 4.2;
  nn::DataParallel model(nn::Linear(2, 1), mesh);
  sn::optim::SGD optimizer(model.parameters(), {.lr = 0.3});
  for (int epoch = 0; epoch < 20; ++epoch)
    (void)optimizer.step(sn::mse_loss(model(features), labels.to(mesh.device(0))));
  std::cout << model.net().weight << " " << model.net().bias << "\n";
  // [/training]
}

int main() {
  const sn::Device first(0), second(1);
  run(sn::Mesh({first, second, first}));  // three ranks; with two GPUs, one has two ranks
  run(sn::Mesh({first}));

  // [sharded]
  const sn::Mesh mesh;  // every GPU, or the CPU
  const sn::Tensor x = sn::arange(10).to<float>().reshape({5, 2});
  const sn::Tensor s = sn::shard(x, mesh);  // rows 0 to 2 on cuda:0, 3 and 4 on cuda:1
  const sn::Tensor e = (s + 2).sqrt() * s;  // each device computes its rows
  std::cout << e << "\n" << e.shard(1) << "\n";
  std::cout << s.sum(0) << "\n";  // partial sums are added; every device has the result
  const sn::Tensor w = sn::replicate(sn::ones({2, 3}), mesh);
  std::cout << sn::gather(sn::matmul(s, w)) << "\n";
  // [/sharded]

  // [mixed]
  try {
    const sn::Tensor<float> here = x;
    std::cout << s + here << "\n";
  } catch (const sn::DeviceError& error) {
    std::cout << error.what() << "\n";
  }
  // [/mixed]
  train(mesh);
}
