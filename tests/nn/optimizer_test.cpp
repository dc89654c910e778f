// Optimizers against PyTorch's (tests/data/gradients.tsv), their state, and training to the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include <sinter/nn.hpp>
#include <sinter/optim.hpp>

#include "../dsl/table.hpp"

namespace optimizer_test {
namespace {

namespace sn = sinter;
namespace nn = sinter::nn;
namespace optim = sinter::optim;
using sinter::testing::Row;
using sinter::testing::split;
using testing::HasSubstr;
using Parameters = std::vector<sn::AnyTensor>;
using Optimizer = std::unique_ptr<optim::Optimizer>;

using Options = std::map<std::string, double>;
Options options_of(const std::string& text) {
  Options options;
  for (const std::string& option : split(text, ',')) {
    const Row parts = split(option, '=');
    options[parts[0]] = std::stod(parts[1]);
  }
  return options;
}

Optimizer made(const std::string& kind, const Parameters& parameters, const Options& given) {
  const auto option = [&](const char* name, double otherwise) {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : found->second;
  };
  const double lr = given.at("lr"), decay = option("weight_decay", 0), momentum = option("momentum", 0);
  if (kind == "SGD")
    return std::make_unique<optim::SGD>(
        parameters, optim::SGDOptions{lr, momentum, option("dampening", 0), decay, option("nesterov", 0) != 0});
  if (kind == "RMSprop")
    return std::make_unique<optim::RMSprop>(parameters,
                                            optim::RMSpropOptions{lr, option("alpha", 0.99), 1e-8, decay, momentum});
  const optim::AdamOptions adam{lr, option("beta1", 0.9), option("beta2", 0.999), option("eps", 1e-8), decay};
  if (kind == "Adam") return std::make_unique<optim::Adam>(parameters, adam);
  return std::make_unique<optim::AdamW>(parameters, adam);
}

TEST(Optimizers, MoveAsPyTorchs) {
  for (const Row& row : sinter::testing::read_table("gradients.tsv")) {
    if (row[0] != "optimizer") continue;
    SCOPED_TRACE(row[1] + " " + row[2]);
    const auto a = sn::tensor({1., -2.}).to<double>(), b = sn::tensor({0.5, 3., -1.}).to<double>();
    const sn::Tensor target_a = sn::tensor({1., 2.}).to<double>() / 10;
    const sn::Tensor target_b = sn::tensor({3., 4., 5.}).to<double>() / 10;
    const Options options = options_of(row[2]);
    const Optimizer optimizer = made(row[1], {a, b}, options);
    if (options.contains("max_norm")) optimizer->set_max_norm(options.at("max_norm"));
    const Row bits = split(row[3], ' ');
    for (std::size_t step = 0, i = 0; step < 5; ++step) {
      (void)optimizer->step((a - target_a).square().square().sum() + (b - target_b).square().square().sum());
      for (const auto& parameter : {a, b})
        for (std::int64_t k = 0; k < parameter.size(0); ++k, ++i)
          EXPECT_NEAR(parameter[k].item(), std::bit_cast<double>(std::stoull(bits[i], nullptr, 16)), 1e-9)
              << "after step " << step << ", element " << i % 5;
    }
  }
}

auto network() { return nn::Sequential(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 3)); }

TEST(Optimizers, TrainANetwork) {
  sn::manual_seed(1);
  auto net = network();
  const sn::Tensor x = sn::randn({64, 4});
  const sn::Tensor classes = sn::argmax(x.slice(1, 0, 3), 1);
  optim::AdamW optimizer(net.parameters(), {.lr = 0.05});
  const float before = optimizer.step(sn::cross_entropy(net(x), classes)).item();
  float after = before;
  for (int i = 0; i < 100; ++i) after = optimizer.step(sn::cross_entropy(net(x), classes)).item();
  EXPECT_GT(before, 0.8F);
  EXPECT_LT(after, 0.1F);
  EXPECT_EQ(optimizer.steps(), 101);
}

TEST(Optimizers, GoOnWithTheSameBitsFromSavedState) {
  sn::manual_seed(2);
  auto net = network(), other = network();
  const sn::Tensor x = sn::randn({16, 4});
  const auto loss = [&](auto& of) { return of(x).square().mean(); };
  optim::Adam one(net.parameters(), {.lr = 0.01});
  for (int i = 0; i < 3; ++i) (void)one.step(loss(net));
  optim::Adam two(other.parameters(), {.lr = 0.01});
  other.load_state_dict(net.state_dict());
  two.load_state_dict(one.state_dict());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.step(loss(net)).item(), two.step(loss(other)).item());
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    EXPECT_TRUE(sn::equal(net.parameters()[i], other.parameters()[i]));
}

TEST(Optimizers, LeaveParametersThatTheLossDoesNotReach) {
  const auto used = sn::tensor({1.f, 2.f}), unused = sn::tensor({3.f});
  optim::SGD optimizer({used, unused}, {.lr = 0.5, .weight_decay = 0.1});
  (void)optimizer.step((used * 2).sum());
  EXPECT_TRUE(sn::allclose(used, sn::tensor({-0.05f, 0.9f})));
  EXPECT_TRUE(sn::equal(unused, sn::tensor({3.f})));
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const sn::Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Optimizers, RefuseWhatTheyCannotMove) {
  const auto p = sn::tensor({1.f});
  EXPECT_THAT(message_of([] { optim::SGD sgd({sn::tensor({1, 2})}); }), HasSubstr("optimizers move floats"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p, p}); }), HasSubstr("is given twice"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p}, {.lr = -1}); }), HasSubstr("lr is -1, but must be in [0, inf)"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p}, {.nesterov = true}); }), HasSubstr("needs a momentum"));
  EXPECT_THAT(message_of([&] { optim::Adam adam({p}, {.beta1 = 1}); }), HasSubstr("beta1 is 1"));
  optim::Adam adam({p});
  EXPECT_THAT(message_of([&] { (void)adam.step(p * 2 + sn::tensor({1.f, 2.f})); }), HasSubstr("must be one float"));
  EXPECT_EQ(adam.steps(), 0);
  EXPECT_EQ(p.item(), 1);
  optim::SGD sgd({p}, {.momentum = 0.9});
  EXPECT_THAT(message_of([&] { sgd.load_state_dict(adam.state_dict()); }), HasSubstr("momentum.0 is missing"));
}

TEST(Schedules, GiveTheRatesOfTheirFormulas) {
  EXPECT_DOUBLE_EQ(optim::step_decay(1, 29, 10), 0.01);
  EXPECT_DOUBLE_EQ(optim::step_decay(1, 30, 10, 0.5), 0.125);
  EXPECT_DOUBLE_EQ(optim::cosine_decay(2, 0, 10), 2);
  EXPECT_DOUBLE_EQ(optim::cosine_decay(2, 5, 10, 1), 1.5);
  EXPECT_DOUBLE_EQ(optim::cosine_decay(2, 11, 10, 1), 1);
  EXPECT_DOUBLE_EQ(optim::warm_up(1, 0, 4), 0.25);
  EXPECT_DOUBLE_EQ(optim::warm_up(1, 7, 4), 1);
}

}  // namespace
}  // namespace optimizer_test
