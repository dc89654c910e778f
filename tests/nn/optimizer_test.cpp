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
  const sn::Lazy of_unused = unused * 2;
  (void)optimizer.step((used * 2).sum());
  EXPECT_EQ(sn::Tensor(of_unused).item(), 6);  // it was not written to
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
  EXPECT_THAT(message_of([] { optim::SGD sgd({sn::tensor({1, 2})}); }), HasSubstr("only floats can be optimized"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p, p}); }),
              HasSubstr("parameter 1, float32 (1,) on cpu, shares memory with parameter 0"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p, p[0]}); }), HasSubstr("shares memory"));
  const auto four = sn::tensor({1.f, 2.f, 3.f, 4.f});
  EXPECT_THAT(message_of([&] { optim::SGD sgd({four.narrow(0, 0, 3), four.narrow(0, 1, 3)}); }),
              HasSubstr("shares memory"));
  EXPECT_EQ(message_of([&] { optim::SGD sgd({four.narrow(0, 0, 0), four, four.narrow(0, 0, 0)}); }), "no error");
  EXPECT_EQ(message_of([&] { optim::SGD sgd({four.narrow(0, 0, 2), four.narrow(0, 2, 2)}); }), "no error");
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p.expand({3})}); }),
              HasSubstr("parameter 0, float32 (3,) on cpu, is an expanded view"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p, sn::Tensor<float>()}); }), HasSubstr("parameter 1 is undefined"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p}, {.lr = -1}); }), HasSubstr("lr is -1, but must be in [0, inf)"));
  EXPECT_THAT(message_of([&] { optim::SGD sgd({p}, {.nesterov = true}); }), HasSubstr("needs a momentum"));
  EXPECT_THAT(message_of([&] { optim::Adam adam({p}, {.beta1 = 1}); }), HasSubstr("beta1 is 1"));
  optim::Adam adam({p});
  EXPECT_THAT(message_of([&] { (void)adam.step(p * 2 + sn::tensor({1.f, 2.f})); }), HasSubstr("must be one float"));
  EXPECT_EQ(adam.steps(), 0);
  EXPECT_EQ(p.item(), 1);
  optim::SGD sgd({p}, {.momentum = 0.9});
  EXPECT_THAT(message_of([&] { sgd.load_state_dict(adam.state_dict()); }),
              AllOf(HasSubstr("momentum.0 is missing"), HasSubstr("mean.0 is extra")));
}

TEST(Optimizers, AddGradientsUntilTheStep) {
  const auto p = sn::tensor({1.f, 2.f}), q = sn::tensor({1.f, 2.f});
  optim::SGD parts({p}, {.lr = 0.5}), whole({q}, {.lr = 0.5});
  EXPECT_EQ(parts.backward((p * p).sum()).item(), 5);
  (void)parts.backward((3 * p).sum());
  EXPECT_TRUE(sn::equal(sn::Tensor<float>(parts.gradient(0)), sn::tensor({5.f, 7.f})));
  EXPECT_TRUE(parts.step());
  EXPECT_FALSE(parts.gradient(0).defined());
  (void)whole.step((q * q).sum() + (3 * q).sum());
  EXPECT_TRUE(sn::equal(p, q));
  (void)parts.backward((p * p).sum());
  parts.zero_grad();
  EXPECT_THAT(message_of([&] { parts.step(); }), HasSubstr("no parameter has a gradient"));
  EXPECT_THAT(message_of([&] { (void)parts.step((q * q).sum()); }), HasSubstr("no parameter has a gradient"));
  EXPECT_THROW((void)parts.gradient(1), sn::IndexError);
  EXPECT_EQ(parts.steps(), 1);
}

/// A loss that reaches only some parameters at each step.
template <class Parameters>
auto loss_at(int step, const Parameters& p) {
  const auto all = (p[0] * p[1].sum()).square().sum() + (p[2] - 1).square().sum();
  return step % 3 == 1 ? sn::Lazy(p[2].square().sum()) : sn::Lazy(all);
}

/// Equal parameters that stay apart, since their addresses are known, and that are packed.
struct Twins {
  std::vector<sn::Tensor<float>> apart, packed;
  Twins() {
    sn::manual_seed(4);
    for (const std::int64_t n : {3, 17, 1}) {
      apart.emplace_back(sn::randn({n}));
      packed.emplace_back(apart.back().clone());
      EXPECT_NE(apart.back().data(), nullptr);
    }
  }
  static Parameters of(const std::vector<sn::Tensor<float>>& tensors) { return {tensors.begin(), tensors.end()}; }
  void expect_equal() const {
    for (std::size_t i = 0; i < apart.size(); ++i) EXPECT_TRUE(sn::equal(apart[i], packed[i])) << i;
  }
};

TEST(PackedParameters, AreUpdatedAsApartOnes) {
  for (const std::string kind : {"SGD", "RMSprop", "Adam", "AdamW"}) {
    SCOPED_TRACE(kind);
    const Twins twins;
    const Options options{{"lr", 0.1}, {"weight_decay", 0.1}, {"momentum", 0.5}};
    const Optimizer one = made(kind, Twins::of(twins.apart), options),
                    two = made(kind, Twins::of(twins.packed), options);
    for (int step = 0; step < 6; ++step) {
      EXPECT_EQ(one->step(loss_at(step, twins.apart)).item(), two->step(loss_at(step, twins.packed)).item());
      twins.expect_equal();
    }
    for (const auto& [name, tensor] : one->state_dict())
      EXPECT_TRUE(sn::equal(tensor, two->state_dict().at(name))) << name;
  }
}

TEST(PackedParameters, KeepHandlesViewsAndExpressions) {
  const auto a = sn::tensor({1.f, 2.f}), b = sn::tensor({3.f, 4.f, 5.f}), c = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  const auto row = c[1];  // a view: c stays where it is
  const auto copy = a;
  const sn::Lazy before = a * 2 + 1, late = a * 3;
  optim::SGD optimizer({a, b, c}, {.lr = 1});
  EXPECT_TRUE(sn::equal(sn::Tensor(before), sn::tensor({3.f, 5.f})));
  (void)optimizer.step(a.sum() + b.sum() + c.sum());
  EXPECT_TRUE(sn::equal(copy, sn::tensor({0.f, 1.f})));
  EXPECT_TRUE(sn::equal(b, sn::tensor({2.f, 3.f, 4.f})));
  EXPECT_TRUE(sn::equal(row, sn::tensor({2.f, 3.f})));
  EXPECT_THROW((void)sn::Tensor(late), sn::Error);  // a was written to
  auto written = b;
  written += 1;
  EXPECT_TRUE(sn::equal(b, sn::tensor({3.f, 4.f, 5.f})));
  const sn::Lazy of_b = b * 2;
  auto other = a;
  other += 1;
  EXPECT_TRUE(sn::equal(sn::Tensor(of_b), sn::tensor({6.f, 8.f, 10.f})));  // a's version is its own
}

TEST(PackedParameters, MayBelongToSeveralOptimizers) {
  const Twins twins;
  optim::SGD first(Twins::of(twins.packed), {.lr = 0.1}), apart(Twins::of(twins.apart), {.lr = 0.1});
  optim::SGD same(Twins::of(twins.packed), {.lr = 0.1});                                // takes the same array
  optim::SGD some({twins.packed[1], twins.packed[0], sn::tensor({1.f})}, {.lr = 0.1});  // moves two of them
  for (optim::SGD* o : {&first, &same, &first}) {
    (void)o->step(loss_at(0, twins.packed));
    (void)apart.step(loss_at(0, twins.apart));
    twins.expect_equal();
  }
}

TEST(Optimizers, TrainOnAMesh) {
  sn::manual_seed(3);
  const sn::Mesh mesh({"cpu", "cpu", "cpu"});
  const auto w = sn::randn({4}), b = sn::randn({1}), x = sn::randn({9, 4});
  const auto shared_w = sn::replicate(w.clone(), mesh), shared_b = sn::replicate(b.clone(), mesh);
  const auto shared_x = sn::shard(x, mesh);
  optim::AdamW here({w, b}, {.lr = 0.1}), there({sn::AnyTensor(shared_w), sn::AnyTensor(shared_b)}, {.lr = 0.1});
  here.set_max_norm(0.5);
  there.set_max_norm(0.5);
  for (int step = 0; step < 5; ++step)
    EXPECT_NEAR(here.step((sn::sum(x * w, -1) + b).square().mean()).item(),
                there.step((sn::sum(shared_x * shared_w, -1) + shared_b).square().mean()).item(), 1e-5);
  EXPECT_TRUE(sn::allclose(w, sn::gather(shared_w)));
}

TEST(Optimizers, TrainParametersOnSeveralDevices) {
  const auto a = sn::tensor({1.f, 2.f}), b = sn::tensor({3.f, 4.f}), c = a.clone(), d = b.clone();
  const sn::Tensor<float, sn::Cuda<0>> moved = b.to(sn::cuda<0>);
  optim::SGD one({c, d}, {.lr = 1, .momentum = 0.5}), two({a, moved}, {.lr = 1, .momentum = 0.5});
  one.set_max_norm(0.1);
  two.set_max_norm(0.1);
  for (int step = 0; step < 3; ++step) {
    (void)one.step((c * d).square().sum());
    (void)two.step(((a * 1).to(sn::cuda<0>) * moved).square().sum());
    EXPECT_TRUE(sn::allclose(a, c));
    EXPECT_TRUE(sn::allclose(moved.cpu(), d));
  }
}

TEST(MasterWeights, KeepSmallSteps) {
  const sn::Tensor p = sn::full({4}, 1.0).to<sn::bfloat16>(), q = sn::full({4}, 1.0).to<sn::bfloat16>();
  optim::SGD rounds({p}, {.lr = 1e-4}), keeps({q}, {.lr = 1e-4});
  keeps.use_master_weights();
  for (int i = 0; i < 100; ++i) {
    (void)rounds.step(sn::cast<float>(p).sum());
    (void)keeps.step(sn::cast<float>(q).sum());
  }
  EXPECT_EQ(sn::Tensor(sn::cast<float>(p).sum()).item(), 4);
  EXPECT_NEAR(sn::Tensor(sn::cast<float>(q).sum()).item(), 4 * 0.99, 4 * 0.003);
  EXPECT_NEAR(sn::Tensor<float>(keeps.state_dict().at("master.0"))[0].item(), 0.99, 1e-5);
  EXPECT_THROW(keeps.use_master_weights(), sn::Error);
}

TEST(MasterWeights, TakeWhatIsWrittenToParameters) {
  const sn::Tensor p = sn::tensor({1.f, 2.f, 3.f}).to<sn::half>();
  optim::SGD sgd({p}, {.lr = 1.0 / 4096});
  sgd.use_master_weights();
  const auto step = [&] { (void)sgd.step(sn::cast<float>(p).sum()); };
  const auto master = [&] { return sn::Tensor<float>(sgd.state_dict().at("master.0")); };
  step();
  p[0] = sn::half(8);
  step();
  EXPECT_TRUE(sn::equal(master(), sn::tensor({8.f - 1.f / 4096, 2 - 2.f / 4096, 3 - 2.f / 4096})));
  p.data()[1] = sn::half(0.5f);
  step();
  EXPECT_EQ(master()[1].item(), 0.5f - 1.f / 4096);
  EXPECT_EQ(master()[2].item(), 3 - 3.f / 4096);
}

TEST(LossScale, IsNotChangedBetweenALossAndItsStep) {
  const auto p = sn::tensor({1.f, 2.f});
  optim::SGD sgd({p}, {.lr = 0.25});
  (void)sgd.backward(p.sum());
  EXPECT_THAT(message_of([&] { sgd.set_loss_scale(); }), HasSubstr("there are gradients of losses with another scale"));
  sgd.step();
  sgd.set_loss_scale();
  optim::SGD other({sn::tensor({1.f, 2.f})}, {.lr = 0.25});
  other.set_loss_scale({.scale = 4});
  (void)sgd.backward(p.sum());
  EXPECT_THAT(message_of([&] { sgd.load_state_dict(other.state_dict()); }),
              HasSubstr("load_state_dict: there are gradients of losses with another scale"));
  EXPECT_EQ(sgd.loss_scale(), 65536);
  sgd.zero_grad();
  sgd.load_state_dict(other.state_dict());
  EXPECT_EQ(sgd.loss_scale(), 4);
  (void)sgd.step(p.sum());
  EXPECT_TRUE(sn::equal(p, sn::tensor({0.5f, 1.5f})));
}

TEST(LossScale, LeavesOutStepsThatAreNotFinite) {
  const auto p = sn::tensor({1.f, 2.f}), q = sn::tensor({1.f, 2.f});
  auto x = sn::tensor({1.f, 1.f});
  optim::SGD optimizer({p}, {.lr = 0.25}), plain({q}, {.lr = 0.25});
  optimizer.set_loss_scale({.scale = 8, .growth = 4, .interval = 2});
  const auto step = [&](float with) {
    x.assign(sn::tensor({with, 1.f}));
    const float loss = optimizer.backward((p * x).sum()).item();
    return std::pair(loss, optimizer.step());
  };
  EXPECT_EQ(step(1), std::pair(3.f, true));
  (void)plain.step((q * x).sum());
  EXPECT_TRUE(sn::equal(p, q));
  EXPECT_FALSE(step(INFINITY).second);
  EXPECT_TRUE(sn::equal(p, q));
  EXPECT_EQ(optimizer.loss_scale(), 4);
  EXPECT_EQ(optimizer.steps(), 1);
  EXPECT_TRUE(step(1).second);
  EXPECT_EQ(optimizer.loss_scale(), 4);
  EXPECT_TRUE(step(1).second);
  EXPECT_EQ(optimizer.loss_scale(), 16);
  EXPECT_FALSE(step(NAN).second);
  EXPECT_EQ(optimizer.loss_scale(), 8);
  EXPECT_EQ(sn::Tensor<double>(optimizer.state_dict().at("loss_scale")).item(), 8);
  EXPECT_THAT(message_of([&] { optimizer.set_loss_scale({.backoff = 1}); }), HasSubstr("backoff is 1"));
}

TEST(Averages, FollowTheParametersAndSwap) {
  auto p = sn::tensor({1.f, 2.f});
  optim::EMA ema({p}, 0.5);
  p += 1;
  ema.update();
  EXPECT_TRUE(sn::equal(sn::Tensor<float>(ema.averages()[0]), sn::tensor({1.5f, 2.5f})));
  ema.swap();
  EXPECT_TRUE(sn::equal(p, sn::tensor({1.5f, 2.5f})));
  EXPECT_TRUE(sn::equal(sn::Tensor<float>(ema.averages()[0]), sn::tensor({2.f, 3.f})));
  optim::EMA other({p}, 0.5);
  other.load_state_dict(ema.state_dict());
  EXPECT_TRUE(sn::equal(sn::Tensor<float>(other.averages()[0]), sn::tensor({2.f, 3.f})));
  EXPECT_THAT(message_of([&] { optim::EMA bad({p}, 1); }), HasSubstr("decay is 1, but must be in [0, 1)"));
  EXPECT_THAT(message_of([&] { optim::EMA bad({sn::tensor({1})}); }), HasSubstr("averages are of floats"));
  EXPECT_THAT(message_of([&] { other.load_state_dict({}); }), HasSubstr("average.0 of shape (2,) is missing"));
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
