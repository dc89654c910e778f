// Steps of training: for each case named on standard input, the time of a step in microseconds, the median of what a
// third of a second holds. bench/training.py starts it beside its peers.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <sinter/nn.hpp>
#include <sinter/optim.hpp>
#include <string>
#include <vector>

namespace sn = sinter;
namespace nn = sinter::nn;

namespace {

using Value = sn::Lazy<float>;
using Step = std::function<void()>;
using Make = std::function<Step(std::int64_t)>;

template <class F>
Step gradient_of(sn::Tensor<float> x, F loss) {
  return [=] { (void)sn::evaluate(sn::grad(loss(x), x)); };
}

/// The gradient of sum(w * f(x)) over 512 rows of this width.
template <class F>
Make rows(F f) {
  return [f](std::int64_t width) {
    const sn::Tensor<float> w = sn::randn({512, width});
    return gradient_of(sn::randn({512, width}), [=](const auto& x) { return sn::sum(f(x) * w); });
  };
}

Step cross_entropy(std::int64_t classes) {
  const sn::Tensor targets = sn::randint(0, classes, {512});
  return gradient_of(sn::randn({512, classes}), [=](const auto& x) { return sn::cross_entropy(x, targets); });
}

/// Forward, backward and AdamW of a network of three layers on 128 inputs.
Step network(std::int64_t width) {
  struct State {
    nn::Sequential<nn::Linear, nn::GELU, nn::Linear, nn::GELU, nn::Linear> net;
    sn::Tensor<float> x;
    sn::Tensor<std::int64_t> y;
    sn::optim::AdamW optimizer;
  };
  auto net =
      nn::Sequential(nn::Linear(width, width), nn::GELU(), nn::Linear(width, width), nn::GELU(), nn::Linear(width, 10));
  auto parameters = net.parameters();
  const auto state = std::shared_ptr<State>(
      new State{net, sn::randn({128, width}), sn::randint(0, 10, {128}), sn::optim::AdamW(parameters)});
  return [state] { (void)state->optimizer.step(sn::cross_entropy(state->net(state->x), state->y)); };
}

/// A transformer block of four heads.
class Block {
 public:
  explicit Block(std::int64_t width)
      : width_(width),
        qkv_(width, 3 * width),
        out_(width, width),
        up_(width, 4 * width),
        down_(4 * width, width),
        norm1_(width),
        norm2_(width) {}

  Value operator()(const Value& x) const {  // (batch, tokens, width)
    const Value y = x + attention(norm1_(x));
    return y + down_(sn::gelu(up_(norm2_(y))));
  }
  std::vector<sn::AnyTensor> parameters() const {
    std::vector<sn::AnyTensor> all;
    for (const nn::Linear* l : {&qkv_, &out_, &up_, &down_}) append(all, l->parameters());
    for (const nn::LayerNorm* n : {&norm1_, &norm2_}) append(all, n->parameters());
    return all;
  }

 private:
  static void append(std::vector<sn::AnyTensor>& all, const std::vector<sn::AnyTensor>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  Value attention(const Value& x) const {
    const std::int64_t batch = x.size(0), tokens = x.size(1), heads = 4;
    const Value parts = qkv_(x);
    const auto part = [&](std::int64_t i) {  // (batch, heads, tokens, width / heads)
      const Value own = parts.slice(2, i * width_, (i + 1) * width_);
      return own.reshape({batch, tokens, heads, width_ / heads}).transpose(1, 2);
    };
    const double scale = 1 / std::sqrt(static_cast<double>(width_ / heads));
    const Value weights = sn::softmax(sn::matmul(part(0), part(1).transpose(2, 3)) * scale, -1);
    return out_(sn::matmul(weights, part(2)).transpose(1, 2).reshape({batch, tokens, width_}));
  }

  std::int64_t width_;
  nn::Linear qkv_, out_, up_, down_;
  nn::LayerNorm norm1_, norm2_;
};

/// Forward, backward and AdamW of a block of this width on 8 sequences of 64 tokens.
Step transformer(std::int64_t width) {
  struct State {
    Block block;
    sn::Tensor<float> x, y;
    sn::optim::AdamW optimizer;
  };
  const Block block(width);
  const auto state = std::shared_ptr<State>(
      new State{block, sn::randn({8, 64, width}), sn::randn({8, 64, width}), sn::optim::AdamW(block.parameters())});
  return [state] { (void)state->optimizer.step(sn::mse_loss(state->block(state->x), state->y)); };
}

/// AdamW over this many parameters of 64 x 64.
Step optimizer(std::int64_t count) {
  std::vector<sn::AnyTensor> parameters;
  for (std::int64_t i = 0; i < count; ++i) parameters.emplace_back(sn::randn({64, 64}));
  const auto adam = std::make_shared<sn::optim::AdamW>(parameters);
  std::vector<sn::Tensor<float>> typed;
  for (const auto& p : parameters) typed.push_back(p.as<float>());
  return [=] {
    sn::Lazy<float> loss = typed[0].sum();
    for (std::size_t i = 1; i < typed.size(); ++i) loss = loss + typed[i].sum();
    (void)adam->step(loss);
  };
}

const std::map<std::string, Make>& cases() {
  static const std::map<std::string, Make> all{
      {"softmax", rows([](const auto& x) { return sn::softmax(x, 1); })},
      {"layer_norm", rows([](const auto& x) { return sn::layer_norm(x, {x.size(1)}); })},
      {"cross_entropy", cross_entropy},
      {"network", network},
      {"transformer", transformer},
      {"optimizer", optimizer},
  };
  return all;
}

double microseconds(const Step& step) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) step();
  std::vector<double> times;
  for (const auto end = Clock::now() + std::chrono::milliseconds(333); Clock::now() < end || times.size() < 5;) {
    const auto start = Clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

}  // namespace

int main() {
  std::map<std::string, Step> made;
  std::string name;
  for (std::int64_t size = 0; std::cin >> name >> size;) {
    Step& step = made[name + " " + std::to_string(size)];
    if (!step) step = cases().at(name)(size);
    std::cout << microseconds(step) << std::endl;
  }
}
