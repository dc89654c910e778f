#include <sinter/dsl/state_dict.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

#include <sinter/dsl/factory.hpp>
#include <sinter/runtime/error.hpp>
#include "../runtime/gpus.hpp"

namespace sinter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

std::vector<std::string> names(const StateDict& state) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : state) all.push_back(name);
  return all;
}

StateDict model() {
  return {{"fc1.weight", ones<float>({4, 3})}, {"fc1.bias", zeros<float>({4})}, {"steps", zeros<std::int64_t>({})}};
}

TEST(StateDict, KeepsTheOrderInWhichTensorsCame) {
  StateDict state = model();
  EXPECT_THAT(names(state), ElementsAre("fc1.weight", "fc1.bias", "steps"));
  state["a"] = ones<double>({2});
  state["fc1.bias"] = ones<half>({5});
  EXPECT_THAT(names(state), ElementsAre("fc1.weight", "fc1.bias", "steps", "a"));
  EXPECT_EQ(state.at("fc1.bias").dtype(), DType::Float16);
  EXPECT_EQ(state.at("fc1.bias").shape(), (Shape{5}));
  EXPECT_EQ(state.size(), 4u);
}

TEST(StateDict, HoldsHandles) {
  const Tensor<float> weight = ones<float>({2, 2});
  StateDict state;
  EXPECT_TRUE(state.empty());
  state["weight"] = weight;
  const StateDict copy = state;
  EXPECT_TRUE(copy.at("weight").same_storage(weight));
  Tensor<float> back = copy.at("weight").as<float>();
  back += 1;
  EXPECT_EQ(weight.to_vector(), std::vector<float>(4, 2));
  EXPECT_THROW(copy.at("weight").as<double>(), DTypeError);
}

TEST(StateDict, TakesATensorThatItHolds) {
  StateDict state;
  state["0"] = tensor({7.f});
  for (int i = 1; i < 40; ++i) {
    state[std::to_string(i)] = state["0"];
    state["again" + std::to_string(i)] = state.at(std::to_string(i));
  }
  for (const auto& [name, tensor] : state) EXPECT_TRUE(tensor.defined() && tensor.same_storage(state.at("0"))) << name;
}

TEST(StateDict, FindsWhatAMapFinds) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  StateDict state;
  std::map<std::string, std::int64_t> expected;
  std::vector<std::string> order;
  for (std::int64_t i = 0; i < 600; ++i) {
    const std::string name = std::to_string(random() % 80);
    if (random() % 3 == 0) {
      EXPECT_EQ(state.erase(name), expected.erase(name) == 1);
      std::erase(order, name);
    } else {
      if (!expected.contains(name)) order.push_back(name);
      expected[name] = i;
      state[name] = full<std::int64_t>({}, i);
    }
    ASSERT_EQ(state.size(), expected.size());
  }
  EXPECT_EQ(names(state), order);
  for (int i = 0; i < 80; ++i) EXPECT_EQ(state.contains(std::to_string(i)), expected.contains(std::to_string(i)));
  for (const auto& [name, value] : expected) EXPECT_EQ(state.at(name).as<std::int64_t>().item(), value);
}

TEST(StateDict, RefusesANameTwice) {
  EXPECT_THAT(([] { StateDict{{"a", ones<float>({1})}, {"b", ones<float>({1})}, {"a", ones<float>({1})}}; }),
              ThrowsMessage<Error>(HasSubstr("called 'a'")));
}

TEST(StateDict, AMissingNameIsToldWithSimilarOnes) {
  const StateDict state = model();
  EXPECT_THAT([&] { state.at("fc1.weigth"); },
              ThrowsMessage<IndexError>(AllOf(HasSubstr("no tensor 'fc1.weigth' among the 3"),
                                              HasSubstr("similar names are 'fc1.weight'"), Not(HasSubstr("steps")))));
  EXPECT_THAT([&] { state.at("fc2.bias"); }, ThrowsMessage<IndexError>(HasSubstr("similar names are 'fc1.bias'")));
  EXPECT_THAT([&] { state.at("encoder"); },
              ThrowsMessage<IndexError>(HasSubstr("there are 'fc1.weight', 'fc1.bias', 'steps'")));
  EXPECT_THAT([&] { StateDict().at("a"); }, ThrowsMessage<IndexError>(HasSubstr("it is empty")));
  StateDict many;
  for (int i = 0; i < 9; ++i) many["parameter" + std::to_string(i)] = ones<float>({1});
  EXPECT_THAT([&] { many.at("x"); },
              ThrowsMessage<IndexError>(AllOf(HasSubstr("'parameter3', ..."), Not(HasSubstr("4'")))));
}

TEST(StateDict, WithoutThePrefixOfAWrappedModule) {
  const StateDict wrapped{
      {"module.a", ones<float>({1})}, {"module.module.b", ones<float>({2})}, {"decoder.c", ones<float>({3})}};
  EXPECT_THAT([&] { wrapped.at("a"); },
              ThrowsMessage<IndexError>(AllOf(HasSubstr("there is 'module.a'"), HasSubstr("without_prefix"))));
  const StateDict plain = wrapped.without_prefix();
  EXPECT_THAT(names(plain), ElementsAre("a", "module.b", "decoder.c"));
  EXPECT_TRUE(plain.at("a").same_storage(wrapped.at("module.a")));
  EXPECT_THAT(names(plain.without_prefix("mod")), ElementsAre("a", "ule.b", "decoder.c"));
  EXPECT_THAT(([] { StateDict{{"module.a", ones<float>({1})}, {"a", ones<float>({1})}}.without_prefix(); }),
              ThrowsMessage<Error>(HasSubstr("called 'a'")));
}

TEST(StateDict, Prints) {
  StateDict state{{"fc1.weight", ones<float>({400, 3})}, {"steps", zeros<std::int64_t>({}, Device(0))}};
  state["none"];
  std::ostringstream out;
  out << state;
  EXPECT_EQ(out.str(),
            "3 tensors, 4.70 KiB\n"
            "  fc1.weight  float32 (400, 3) on cpu\n"
            "  steps       int64 () on cuda:0\n"
            "  none        empty");
  EXPECT_EQ(to_string(StateDict()), "0 tensors, 0 B");
  const std::string longest(48, 'a'), longer(49, 'b');
  EXPECT_EQ(to_string(StateDict{{"c", ones<float>({1})}, {longer, ones<float>({1})}}),
            "2 tensors, 8 B\n  c  float32 (1,) on cpu\n  " + longer + "  float32 (1,) on cpu");
  EXPECT_EQ(
      to_string(StateDict{{"c", ones<float>({1})}, {longest, ones<float>({1})}}),
      "2 tensors, 8 B\n  c" + std::string(47, ' ') + "  float32 (1,) on cpu\n  " + longest + "  float32 (1,) on cpu");
}

}  // namespace
}  // namespace sinter
