// Datasets and loaders of batches.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sinter/data.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;

// [own]
struct Sample {
  BOOST_HANA_DEFINE_STRUCT(Sample, (sn::Tensor<float, sn::Cpu>, input), (sn::Tensor<std::int64_t, sn::Cpu>, label));
};
struct Squares {
  std::int64_t size() const { return 5; }
  Sample operator[](std::int64_t i) const { return {sn::arange<float>(i, i + 3).square(), sn::full({}, i)}; }
};
// [/own]

int main() {
  // [tutorial]
  const sn::RandomDataset rows(5, 100);  // 100 samples of 5 random numbers
  sn::DataLoader loader(rows, {.batch_size = 30, .shuffle = true});
  for (const auto& x : loader) std::cout << x.shape() << " ";
  std::cout << "in " << loader.size() << " batches\n";
  // [/tutorial]

  // [tensors]
  auto x = sn::arange(12).to<float>().reshape({6, 2});
  auto y = sn::arange(6) % 3;
  sn::DataLoader pairs(sn::TensorDataset(x, y), {.batch_size = 4, .shuffle = true, .seed = 1});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& [input, label] : pairs) std::cout << epoch << ": " << input.shape() << " " << label << "\n";
  // [/tensors]

  // [workers]
  for (const auto& [input, label] : sn::DataLoader(Squares(), {.batch_size = 2, .drop_last = true, .workers = 2}))
    std::cout << input << "\n" << label << "\n";
  // [/workers]

  // A file of two images of 2 x 2, in the format of MNIST's.
  std::ofstream("images-idx3-ubyte", std::ios::binary)
      << std::string("\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\2\1\2\3\4\5\6\7\x8", 24);
  // [idx]
  sn::AnyTensor images = sn::load_idx("images-idx3-ubyte");  // the file determines the dtype; .gz files are unpacked
  std::cout << images << "\n";
  if (std::filesystem::exists("FashionMNIST/raw")) {
    sn::DataLoader train(sn::mnist("FashionMNIST/raw"), {.batch_size = 64, .shuffle = true, .workers = 2});
    for (const auto& [image, label] : train) std::cout << (image.to<float>() / 255).mean() << "\n";
  }
  // [/idx]
}
