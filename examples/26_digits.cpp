// Handwritten digits: an MLP and a small transformer, with a progress bar, a loss curve, checkpoints and resuming.
//
//     26_digits [--model mlp|transformer] [--data FOLDER] [--samples N] [--epochs N] [--batch N] [--device cpu|cuda:0]
//               [--checkpoint FILE [--resume]] [--curve FILE.svg]
//
// Digits are drawn by the program (26_digits_drawn.hpp) unless FOLDER has MNIST's files.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sinter/data.hpp>
#include <sinter/nn.hpp>
#include <sinter/optim.hpp>
#include <string>
#include <vector>

#include "26_digits_drawn.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;

using Value = sn::Lazy<float>;

// [mlp]
struct Mlp : nn::Module<Mlp> {
  nn::Sequential<nn::Flatten, nn::Linear, nn::GELU, nn::Linear> layers{nn::Flatten(), nn::Linear(784, 64), nn::GELU(),
                                                                       nn::Linear(64, 10)};
  nn::Members members() { return nn::members("layers", layers); }
  Value operator()(const Value& images) const { return layers(images); }
};
// [/mlp]

// [transformer]
struct Attention : nn::Module<Attention> {
  static constexpr int heads = 4, width = 32;
  nn::Linear qkv{width, 3 * width}, out{width, width};
  nn::Members members() { return nn::members("qkv", qkv, "out", out); }

  Value operator()(const Value& x) const {  // (batch, tokens, width)
    const std::int64_t batch = x.size(0), tokens = x.size(1);
    const Value parts = qkv(x);
    const auto part = [&](int i) {  // (batch, heads, tokens, width / heads)
      return parts.slice(2, i * width, (i + 1) * width).reshape({batch, tokens, heads, width / heads}).transpose(1, 2);
    };
    const Value weights = sn::softmax(sn::matmul(part(0), part(1).transpose(2, 3)) / std::sqrt(width / heads), -1);
    return out(sn::matmul(weights, part(2)).transpose(1, 2).reshape({batch, tokens, width}));
  }
};

struct Transformer : nn::Module<Transformer> {
  static constexpr int width = Attention::width;
  nn::Linear embed{49, width}, up{width, 2 * width}, down{2 * width, width}, head{width, 10};
  nn::LayerNorm norm1{width}, norm2{width};
  Attention attention;
  sn::Tensor<float> position = sn::Tensor(0.1f * sn::randn({16, width}));
  nn::Members members() {
    return nn::members("embed", embed, "position", position, "norm1", norm1, "attention", attention, "norm2", norm2,
                       "up", up, "down", down, "head", head);
  }

  Value operator()(const Value& images) const {
    const std::int64_t batch = images.size(0);
    const Value patches = images.reshape({batch, 4, 7, 4, 7}).transpose(2, 3).reshape({batch, 16, 49});
    Value x = embed(patches) + position;
    x = x + attention(norm1(x));
    x = x + down(sn::gelu(up(norm2(x))));
    return head(x.mean(1));
  }
};
// [/transformer]

struct Options {
  std::string model = "mlp", data, device = "cpu", checkpoint, curve;
  std::int64_t samples = 1500, batch = 50;
  int epochs = 3;
  bool resumes = false;
};

Options read(int count, char** words) {
  Options o;
  const std::map<std::string, std::function<void(std::string)>> flags{
      {"--model", [&](std::string v) { o.model = v; }},
      {"--data", [&](std::string v) { o.data = v; }},
      {"--device", [&](std::string v) { o.device = v; }},
      {"--checkpoint", [&](std::string v) { o.checkpoint = v; }},
      {"--curve", [&](std::string v) { o.curve = v; }},
      {"--samples", [&](std::string v) { o.samples = std::stoll(v); }},
      {"--batch", [&](std::string v) { o.batch = std::stoll(v); }},
      {"--epochs", [&](std::string v) { o.epochs = std::stoi(v); }},
  };
  for (int i = 1; i < count; ++i) {
    const std::string flag = words[i];
    if (flag == "--resume")
      o.resumes = true;
    else if (flags.contains(flag) && i + 1 < count)
      flags.at(flag)(words[++i]);
    else
      throw std::invalid_argument(flag + " is unknown, or its value is missing: see the first lines of 26_digits.cpp");
  }
  if (o.model != "mlp" && o.model != "transformer") throw std::invalid_argument("--model is mlp or transformer");
  if (o.resumes && o.checkpoint.empty()) throw std::invalid_argument("--resume needs --checkpoint FILE");
  return o;
}

/// tqdm's look on a terminal, nothing elsewhere.
class ProgressBar {
 public:
  ProgressBar(std::string title, std::int64_t total) : title_(std::move(title)), total_(total) {}
  ~ProgressBar() {
    if (shows_) std::fprintf(stderr, "\n");
  }
  void show(std::int64_t done, double loss) const {
    if (!shows_) return;
    constexpr int width = 20;
    const double part = static_cast<double>(done) / static_cast<double>(total_);
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < part * width ? "█" : " ";
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double rate = static_cast<double>(done) / seconds;
    std::fprintf(stderr, "\r%s: %3.0f%%|%s| %ld/%ld [%02.0f:%02.0f<%02.0f:%02.0f, %.1fit/s, loss=%.3f]", title_.c_str(),
                 100 * part, bar.c_str(), static_cast<long>(done), static_cast<long>(total_), std::floor(seconds / 60),
                 std::fmod(seconds, 60), std::floor((1 / part - 1) * seconds / 60),
                 std::fmod((1 / part - 1) * seconds, 60), rate, loss);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::int64_t total_;
  bool shows_ = isatty(STDERR_FILENO) == 1;
  Clock::time_point start_ = Clock::now();
};

/// A line chart of the losses, as SVG.
void draw_curve(const std::string& file, const std::vector<double>& losses) {
  constexpr double width = 640, height = 360, margin = 48;
  const double top = *std::ranges::max_element(losses);
  const auto x = [&](std::size_t i) { return margin + (width - 2 * margin) * double(i) / double(losses.size()); };
  const auto y = [&](double loss) { return height - margin - (height - 2 * margin) * loss / top; };
  std::ofstream svg(file);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 360' font-family='sans-serif' font-size='13'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n";
  for (int i = 0; i <= 4; ++i) {
    char label[16];
    std::snprintf(label, sizeof label, "%.2f", top * i / 4);
    svg << "<line x1='48' x2='592' y1='" << y(top * i / 4) << "' y2='" << y(top * i / 4) << "' stroke='#ddd'/>"
        << "<text x='40' y='" << y(top * i / 4) + 4 << "' text-anchor='end'>" << label << "</text>\n";
  }
  svg << "<polyline fill='none' stroke='#1f77b4' stroke-width='1.5' points='";
  for (std::size_t i = 0; i < losses.size(); ++i) svg << x(i) << "," << y(losses[i]) << " ";
  svg << "'/>\n<text x='320' y='346' text-anchor='middle'>step (" << losses.size() << ")</text>"
      << "<text x='320' y='24' text-anchor='middle'>training loss</text>\n</svg>\n";
}

// [checkpoint]
void save(const std::string& file, const sn::StateDict& net, const sn::optim::Optimizer& optimizer, int epoch) {
  std::vector<sn::StateDict::Entry> all;
  for (const auto& [name, tensor] : net) all.push_back({"net." + name, tensor});
  for (const auto& [name, tensor] : optimizer.state_dict()) all.push_back({"optimizer." + name, tensor});
  sn::save_safetensors(file, sn::StateDict(std::move(all)), {{"epoch", std::to_string(epoch)}});  // replaces atomically
}

/// Returns the number of epochs that are done.
template <class Net>
int resume(const std::string& file, Net& net, sn::optim::Optimizer& optimizer) {
  std::vector<sn::StateDict::Entry> of_net, of_optimizer;
  for (const auto& [name, tensor] : sn::load_safetensors(file)) {
    const std::size_t dot = name.find('.') + 1;
    (name.starts_with("net.") ? of_net : of_optimizer).push_back({name.substr(dot), tensor});
  }
  net.load_state_dict(sn::StateDict(std::move(of_net)));
  optimizer.load_state_dict(sn::StateDict(std::move(of_optimizer)));
  for (const auto& [key, value] : sn::load_safetensors_metadata(file))
    if (key == "epoch") return std::stoi(value);
  throw std::invalid_argument(file + " was not written by this program");
}
// [/checkpoint]

template <class Net>
double accuracy(const Net& net, const sn::ImageDataset& data, sn::Device device) {
  const auto& [images, labels] = data.tensors();
  const Value scores = net(Value(sn::cast<float>(images.to(device)) / 255));
  return sn::Tensor(sn::cast<float>(sn::argmax(scores, 1) == labels.to(device)).mean()).item();
}

// [train]
template <class Net>
double train(Net net, const Options& o, const sn::ImageDataset& data, const sn::ImageDataset& test) {
  const sn::Device device(o.device);
  net.to_(device);
  sn::optim::AdamW optimizer(net.parameters(), {.lr = 3e-3});
  optimizer.set_max_norm(1);
  sn::DataLoader loader(data, {.batch_size = o.batch, .shuffle = true, .drop_last = true, .seed = 1});
  const std::int64_t steps = o.epochs * loader.size(), warm_up = steps / 10;
  std::vector<double> losses;
  for (int epoch = o.resumes ? resume(o.checkpoint, net, optimizer) : 0; epoch < o.epochs; ++epoch) {
    loader.set_epoch(epoch);  // the order of batches is the same after a restart
    ProgressBar bar("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(o.epochs), loader.size());
    std::int64_t done = 0;
    for (const auto& [images, labels] : loader) {
      const std::int64_t step = optimizer.steps();
      optimizer.set_lr(step < warm_up ? sn::optim::warm_up(3e-3, step, warm_up)
                                      : sn::optim::cosine_decay(3e-3, step - warm_up, steps - warm_up));
      const Value inputs = sn::cast<float>(images.to(device)) / 255;
      losses.push_back(optimizer.step(sn::cross_entropy(net(inputs), labels.to(device))).item());
      bar.show(++done, losses.back());
    }
    std::fprintf(stderr, "%sepoch %d: loss %.3f, accuracy %.1f %%\n", isatty(STDERR_FILENO) == 1 ? "\n" : "", epoch + 1,
                 losses.back(), 100 * accuracy(net, test, device));
    if (!o.checkpoint.empty()) save(o.checkpoint, net.state_dict(), optimizer, epoch + 1);
  }
  if (!o.curve.empty() && !losses.empty()) draw_curve(o.curve, losses);
  return accuracy(net, test, device);
}
// [/train]

int main(int count, char** words) try {
  const Options o = read(count, words);
  sn::manual_seed(0);
  const sn::ImageDataset data = o.data.empty() ? drawn_digits(o.samples, 1) : sn::mnist(o.data);
  const sn::ImageDataset test = o.data.empty() ? drawn_digits(500, 2) : sn::mnist(o.data, false);
  const double found = o.model == "mlp" ? train(Mlp(), o, data, test) : train(Transformer(), o, data, test);
  std::cout << o.model << ": accuracy " << (found > 0.9 ? "above" : "below") << " 90 %\n";
} catch (const std::exception& error) {
  std::cerr << "26_digits: " << error.what() << "\n";
  return 1;
}
