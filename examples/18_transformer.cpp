// Networks that PyTorch wrote to safetensors files: an MLP and a transformer block, compared with its results.
#include <cmath>
#include <iostream>
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

// [attention]
struct Attention : nn::Module<Attention> {
  int heads = 4;
  nn::Linear query{16, 16}, key{16, 16}, value{16, 16}, out{16, 16};

  nn::Members members() { return nn::members("query", query, "key", key, "value", value, "out", out); }

  template <class X>
  auto operator()(const X& x) const {
    const auto q = split(query(x)), k = split(key(x)), v = split(value(x));
    auto weights = sn::softmax(sn::matmul(q, k.transpose(-2, -1)) / std::sqrt(q.size(-1)), -1);  // one kernel
    return out(sn::matmul(weights, v).transpose(1, 2).flatten(-2));
  }

  /// (batch, length, width) to (batch, heads, length, width / heads)
  template <class Y>
  auto split(const Y& y) const {
    const sn::Tensor whole = y;
    return whole.reshape({whole.size(0), whole.size(1), heads, whole.size(2) / heads}).transpose(1, 2);
  }
};
// [/attention]

// [block]
struct Block : nn::Module<Block> {
  nn::LayerNorm norm1{16}, norm2{16};
  Attention attention;
  nn::Sequential<nn::Linear, nn::GELU, nn::Linear> mlp{nn::Linear(16, 32), nn::GELU(), nn::Linear(32, 16)};

  nn::Members members() { return nn::members("norm1", norm1, "norm2", norm2, "attention", attention, "mlp", mlp); }

  template <class X>
  auto operator()(const X& x) const {
    const sn::Tensor normalized = norm1(x);  // read three times
    const sn::Tensor y = x + attention(normalized);
    return y + mlp(norm2(y));
  }
};
// [/block]

// [check]
/// The largest difference from what PyTorch computed, on this device.
template <class Net>
float difference(Net net, const char* file, const char* device) {
  sn::StateDict state = sn::load_safetensors(std::string(SINTER_EXAMPLE_DATA) + "/" + file, device);
  const auto input = state.at("input").as<float>(), expected = state.at("output").as<float>();
  state.erase("input"), state.erase("output");
  net.to_(device).eval();
  net.load_state_dict(state);
  return sn::Tensor(sn::amax(sn::abs(net(input) - expected))).item();
}

int main() {
  for (const char* device : {"cpu", "cuda:0"}) {
    std::cout << std::boolalpha
              << (difference(nn::Sequential(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 4)), "mlp.safetensors",
                             device) < 1e-6f)
              << " " << (difference(Block(), "transformer.safetensors", device) < 1e-5f) << "\n";
  }
  std::cout << Block() << "\n";
}
// [/check]
