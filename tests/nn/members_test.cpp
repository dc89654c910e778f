#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;
using testing::ElementsAre;

namespace {

std::vector<std::string> names_of(const auto& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

struct Listed : nn::Module<Listed> {
  std::vector<nn::Linear> layers{{2, 2}, {2, 2}};
  sn::Tensor<float> scale = sn::ones({3}), mean = sn::zeros({2}), unused;
  nn::Linear fc{2, 1};

  nn::Members members() {
    return nn::members("layers", layers, "scale", scale, "mean", nn::buffer(mean), "unused", unused, "fc", fc);
  }
  std::string extra_repr() const { return "width=2"; }
};

TEST(Members, ParametersAndBuffers) {
  const Listed net;
  EXPECT_THAT(names_of(net.named_parameters()),
              ElementsAre("scale", "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "fc.weight",
                          "fc.bias"));
  EXPECT_THAT(names_of(net.state_dict()), ElementsAre("scale", "mean", "layers.0.weight", "layers.0.bias",
                                                      "layers.1.weight", "layers.1.bias", "fc.weight", "fc.bias"));
  EXPECT_EQ(net.num_parameters(), 3 + 6 + 6 + 3);
}

TEST(Members, PrintAsPyTorch) {
  EXPECT_EQ(printed(Listed()), R"(Listed(
  width=2
  (layers): ModuleList(
    (0): Linear(in_features=2, out_features=2, bias=True)
    (1): Linear(in_features=2, out_features=2, bias=True)
  )
  (fc): Linear(in_features=2, out_features=1, bias=True)
))");
}

struct Tied : nn::Module<Tied> {
  nn::Linear a{3, 3}, b = a;
  nn::Members members() { return nn::members("a", a, "b", b); }
};

TEST(Members, SharedParametersCountOnceAndStayShared) {
  Tied net;
  EXPECT_THAT(names_of(net.named_parameters()), ElementsAre("a.weight", "a.bias"));
  EXPECT_EQ(net.state_dict().size(), 4u);
  EXPECT_EQ(net.num_parameters(), 12);
  net.to_(sn::cuda<1>);
  EXPECT_EQ(net.b.weight.device(), sn::Device(1));
  EXPECT_TRUE(net.a.weight.same_storage(net.b.weight));
}

struct Lines : nn::Module<Lines> {
  nn::Members members() { return {}; }
  std::string extra_repr() const { return "a=1\nb=2"; }
};
template <class T, int n>
struct Generic : nn::Module<Generic<T, n>> {
  Lines lines;
  nn::Members members() { return nn::members("lines", lines); }
};

TEST(Members, NamesOfClasses) {
  EXPECT_EQ(printed(Lines()), "Lines(\n  a=1\n  b=2\n)");
  EXPECT_EQ(printed(Generic<std::vector<std::pair<int, float>>, 3>()),
            "Generic(\n  (lines): Lines(\n    a=1\n    b=2\n  )\n)");
  struct Local : nn::Module<Local> {
    nn::Members members() { return {}; }
  };
  EXPECT_EQ(printed(Local()), "Local()");
  EXPECT_EQ(sn::detail::class_name("auto f() [with M = {anonymous}::A<b::C>::Net<std::map<int, d::E> >]"), "Net");
  EXPECT_EQ(sn::detail::class_name("auto f() [M = (anonymous namespace)::Net]"), "Net");
  EXPECT_EQ(sn::detail::class_name("x f() [with M = Net; x = int]"), "Net");
}

}  // namespace
