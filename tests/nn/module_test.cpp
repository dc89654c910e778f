#include <gmock/gmock.h>

#include <map>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using namespace sn::literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Net : nn::Module<Net> {
  nn::Linear fc1{4, 8}, fc2{8, 2};
  nn::Dropout drop{0.5};

  nn::Members members() { return nn::members("fc1", fc1, "drop", drop, "fc2", fc2); }
  template <class X>
  auto operator()(const X& x) const {
    return fc2(drop(sn::relu(fc1(x))));
  }
};

sn::StateDict clones(const sn::StateDict& state, const std::string& prefix = "") {
  sn::StateDict copies;
  for (const auto& [name, tensor] : state) copies[prefix + name] = tensor.clone();
  return copies;
}

TEST(Module, OfAUser) {
  Net net;
  net.eval();
  for (const sn::Device d : devices()) {
    EXPECT_EQ(&net.to_(d), &net);
    EXPECT_EQ(net.fc1.weight.device(), d);
    const sn::Tensor x = numbers({3, 4}, d);
    expect_near(net(x), {3, 2}, linear(each(linear(doubles(x), net.fc1), relu), net.fc2));
  }
  EXPECT_FALSE(net.drop.is_training());
  EXPECT_TRUE(net.train().drop.is_training());
  EXPECT_EQ(net.num_parameters(), 58);
  EXPECT_EQ(printed(net),
            "Net(\n  (fc1): Linear(in_features=4, out_features=8, bias=True)\n"
            "  (drop): Dropout(p=0.5, inplace=False)\n"
            "  (fc2): Linear(in_features=8, out_features=2, bias=True)\n)");
}

TEST(Module, InASequential) {
  nn::Sequential net(Net(), nn::Softmax(-1));
  net.eval();
  EXPECT_EQ(net.named_parameters()[0].first, "0.fc1.weight");
  auto moved = net.to(sn::cuda<0>);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(moved[0_c])>, Net>);
  EXPECT_EQ(moved[0_c].fc2.bias.device(), sn::Device(0));
  EXPECT_EQ(net[0_c].fc2.bias.device(), sn::Device());
  const sn::Tensor x = numbers({3, 4});
  EXPECT_TRUE(sn::allclose(sn::Tensor(moved(x.to(sn::cuda<0>))).cpu(), net(x)));
}

TEST(Module, MovingSharesWhatIsThere) {
  nn::Linear layer(3, 2);
  const auto same = layer.to(sn::cpu);
  static_assert(std::is_same_v<decltype(same), const nn::LinearOf<float, sn::Cpu>>);
  EXPECT_TRUE(same.weight.same_storage(layer.weight));
  const auto named = layer.to("cuda:1");
  static_assert(std::is_same_v<decltype(named), const nn::Linear>);
  static_assert(std::is_same_v<decltype(layer.to(1)), nn::LinearOf<float, sn::Cuda<>>>);
  EXPECT_EQ(named.bias.device(), sn::Device(1));
  EXPECT_TRUE(sn::equal(named.weight.cpu(), layer.weight.cpu()));
  const nn::Linear widened = layer.to(sn::cuda<1>);
  EXPECT_EQ(widened.weight.device(), sn::Device(1));
}

TEST(Module, AnErrorMovesNothing) {
  nn::Sequential net(nn::Linear(3, 2), nn::Linear(2, 1).to(sn::cuda<0>));
  EXPECT_THROW(net.to_("cpu"), sn::DeviceError);
  EXPECT_THROW(net.to_(99), sn::Error);
  EXPECT_EQ(net[0_c].weight.device(), sn::Device());
  EXPECT_EQ(net[1_c].weight.device(), sn::Device(0));
  net.to_("cuda:0");
  EXPECT_EQ(net[0_c].weight.device(), sn::Device(0));
}

TEST(Module, StateIsSharedAndLoaded) {
  Net a, b;
  a.parameters()[0].assign(3);
  EXPECT_TRUE(sn::equal(a.fc1.weight, sn::full({8, 4}, 3.f)));
  b.to_("cuda:1");
  const auto weight = b.fc1.weight;
  const nn::IncompatibleKeys keys = b.load_state_dict(a.state_dict());
  EXPECT_TRUE(keys.missing.empty() && keys.unexpected.empty());
  EXPECT_TRUE(b.fc1.weight.same_storage(weight));
  EXPECT_EQ(weight.device(), sn::Device(1));
  const sn::StateDict from = a.state_dict(), to = b.state_dict();
  for (const auto& [name, tensor] : from) EXPECT_TRUE(sn::equal(tensor, to.at(name).to("cpu"))) << name;
}

TEST(Module, LoadsFromAnyRangeOfPairsAndAnyDtype) {
  nn::Linear layer(2, 1);
  layer.load_state_dict(std::map<std::string, sn::Tensor<double>>{{"weight", sn::tensor({{1.5, 2.5}}).to<double>()},
                                                                  {"bias", sn::tensor({-1.0}).to<double>()}});
  EXPECT_TRUE(sn::equal(layer.weight, sn::tensor({{1.5f, 2.5f}})) && sn::equal(layer.bias, sn::tensor({-1.f})));
}

TEST(Module, AcceptsTheNamesOfAWrappedNet) {
  Net a, b;
  b.load_state_dict(clones(a.state_dict(), "module."));
  EXPECT_TRUE(sn::equal(a.fc2.weight, b.fc2.weight));
  struct Wrapper : nn::Module<Wrapper> {
    nn::Linear module{2, 1};
    nn::Members members() { return nn::members("module", module); }
  } own;
  own.load_state_dict(clones(own.state_dict()));
  EXPECT_THROW(own.load_state_dict(clones(own.state_dict(), "module.")), sn::Error);
}

TEST(Module, TellsAllThatDoesNotFit) {
  nn::Sequential net(nn::Linear(3, 1), nn::Linear(1, 2));
  const auto before = clones(net.state_dict());
  const nn::NamedTensors state{{"0.weight", sn::ones({2, 3})},
                               {"x", sn::ones({1})},
                               {"y.z", sn::ones({1})},
                               {"0.bias", sn::ones({1, 1})},
                               {"1.bias", sn::ones({2})}};
  EXPECT_EQ(message_of<sn::Error>([&] { net.load_state_dict(state); }),
            "Error(s) in loading state_dict for Sequential:\n"
            "\tMissing key(s) in state_dict: \"1.weight\". \n"
            "\tUnexpected key(s) in state_dict: \"x\", \"y.z\". \n"
            "\tsize mismatch for 0.weight: copying a param with shape torch.Size([2, 3]) from checkpoint, the shape in "
            "current model is torch.Size([1, 3]).\n"
            "\tsize mismatch for 0.bias: copying a param with shape torch.Size([1, 1]) from checkpoint, the shape in "
            "current model is torch.Size([1]).");
  EXPECT_THAT(
      message_of<sn::Error>([&] { net.load_state_dict(nn::NamedTensors{{"0.weight", sn::tensor(1.f)}}, false); }),
      HasSubstr("Sequential:\n\tsize mismatch for 0.weight: copying a param with shape torch.Size([])"));
  for (const auto& [name, tensor] : net.state_dict()) EXPECT_TRUE(sn::equal(before.at(name), tensor)) << name;
}

TEST(Module, WritesNothingWhereATensorCannotBeWritten) {
  nn::Linear layer(2, 2), from(2, 2);
  layer.bias = sn::Tensor<float, sn::AnyDevice>(sn::ones({1})).expand({2});
  const auto before = layer.weight.clone();
  EXPECT_THAT(message_of<sn::Error>([&] { layer.load_state_dict(from.state_dict()); }), HasSubstr("bias is expanded"));
  EXPECT_TRUE(sn::equal(layer.weight, before));
  sn::StateDict empty;
  empty["weight"];
  EXPECT_THAT(message_of<sn::Error>([&] { from.load_state_dict(empty); }),
              HasSubstr("for Linear:\n\tweight is an undefined tensor"));
}

TEST(Module, SwapsLayersThatShareStorage) {
  for (const sn::Device d : devices()) {
    nn::Sequential net(nn::Linear(3, 3), nn::Linear(3, 3), nn::Linear(3, 3));
    net.to_(d);
    const sn::StateDict before = clones(net.state_dict()), own = net.state_dict();
    sn::StateDict turned;
    for (const char* name : {"weight", "bias"}) {
      for (int i = 0; i < 3; ++i)
        turned[std::to_string(i) + "." + name] = own.at(std::to_string((i + 1) % 3) + "." + name);
    }
    net.load_state_dict(turned);
    for (const char* name : {"weight", "bias"})
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(sn::equal(net.state_dict().at(std::to_string(i) + "." + name).cpu(),
                              before.at(std::to_string((i + 1) % 3) + "." + name).cpu()))
            << i << name;
    // Its own weight, transposed; and values that it already has, for which nothing is written.
    const auto first = net[0_c].weight.clone();
    turned["0.weight"] = net[0_c].weight.t();
    net.load_state_dict(turned, false);
    EXPECT_TRUE(sn::equal(net[0_c].weight.cpu(), sn::Tensor(first.t()).cpu()));
    const auto launches = sn::jit_stats().launches;
    net.load_state_dict(net.state_dict());
    EXPECT_EQ(sn::jit_stats().launches, launches);
  }
}

TEST(Module, LoadsWhatFitsWhereAsked) {
  nn::Linear layer(2, 1);
  const auto weight = layer.weight.clone();
  const nn::IncompatibleKeys keys =
      layer.load_state_dict(nn::NamedTensors{{"bias", sn::tensor({7.f})}, {"other", sn::tensor({1.f})}}, false);
  EXPECT_THAT(keys.missing, ElementsAre("weight"));
  EXPECT_THAT(keys.unexpected, ElementsAre("other"));
  EXPECT_EQ(layer.bias.item(), 7);
  EXPECT_TRUE(sn::equal(layer.weight, weight));
  EXPECT_THAT(message_of<sn::Error>([&] {
                layer.load_state_dict(nn::NamedTensors{{"bias", sn::tensor({std::complex<float>(1, 2)})}}, false);
              }),
              HasSubstr("dtype mismatch for bias: copying a param of complex64"));
}

}  // namespace
