// Bools in memory from other sources, in which any byte except 0 is true: every operation gives the same as for 0 and 1
// (runtime/bools.hpp).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <sinter/jit/lazy.hpp>

#include "devices.hpp"

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;

namespace {

using Mask = sn::Tensor<bool>;
using Values = std::vector<double>;

/// Two masks of 1 and 0, and the same masks with other bytes.
struct Masks {
  Mask a, b;
};

Mask mask_of(const sn::Shape& shape, std::size_t seed, bool is_odd, sn::Device device) {
  constexpr unsigned char bytes[] = {0, 255, 2, 0, 128, 0, 3, 254, 0, 0, 1};
  const auto memory = std::make_shared<std::vector<unsigned char>>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.numel()); ++i) {
    const unsigned char byte = bytes[(i * (i + seed) / 3 + seed * i) % std::size(bytes)];
    memory->push_back(is_odd ? byte : byte != 0);
  }
  return Mask(sn::from_blob(reinterpret_cast<bool*>(memory->data()), shape, memory).to(device));
}

Masks masks_of(const sn::Shape& shape, bool is_odd, sn::Device device) {
  return {mask_of(shape, 1, is_odd, device), mask_of(shape, 4, is_odd, device)};
}

Values values(const AnyTensor& x) { return sn::Tensor<double>(sn::cast<double>(sn::real(x))).to_vector(); }

template <class R>
Values both(const R& r) {
  Values all = values(r.values);
  const Values more = values(r.indices);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct Case {
  const char* name;
  std::function<Values(const Mask& a, const Mask& b)> result;
};

sn::Tensor<float> numbers_like(const Mask& a) {
  return sn::Tensor<float>(sn::arange<float>(0, static_cast<float>(a.numel())).reshape(a.shape()).to(a.device()));
}

const Case cases[] = {
    {"to_vector",
     [](auto& a, auto&) {
       const auto v = a.to_vector();
       return Values(v.begin(), v.end());
     }},
    {"item",
     [](auto& a, auto&) {
       Values all;
       for (int i = 0; i < 4; ++i) all.push_back(a.reshape({-1})(i).item() == true);
       return all;
     }},
    {"printed",
     [](auto& a, auto&) {
       const std::string s = printed(a);
       return Values(s.begin(), s.end());
     }},
    {"uint8", [](auto& a, auto&) { return values(AnyTensor(a.template to<std::uint8_t>())); }},
    {"int64", [](auto& a, auto&) { return values(AnyTensor(a.template to<std::int64_t>())); }},
    {"half", [](auto& a, auto&) { return values(AnyTensor(a.template to<sn::half>())); }},
    {"float", [](auto& a, auto&) { return values(AnyTensor(a.template to<float>())); }},
    {"double", [](auto& a, auto&) { return values(AnyTensor(a.template to<double>())); }},
    {"a * 3", [](auto& a, auto&) { return values(AnyTensor(a * 3)); }},
    {"1 - a", [](auto& a, auto&) { return values(AnyTensor(1 - a)); }},
    {"~transposed", [](auto& a, auto&) { return values(AnyTensor(~a.transpose(0, -1))); }},
    {"a == true", [](auto& a, auto&) { return values(AnyTensor(a == true)); }},
    {"broadcast", [](auto& a, auto& b) { return values(AnyTensor(a ^ b.reshape({-1})(1))); }},
    {"where", [](auto& a, auto& b) { return values(AnyTensor(sn::where(a, numbers_like(b), -1.f))); }},
    {"where of bools", [](auto& a, auto& b) { return values(AnyTensor(sn::where(a, b, ~b).template to<int>() + 1)); }},
    {"sum", [](auto& a, auto&) { return values(AnyTensor(a.sum())); }},
    {"sum of rows", [](auto& a, auto&) { return values(AnyTensor(a.sum(-1))); }},
    {"sum of columns", [](auto& a, auto&) { return values(AnyTensor(a.sum(0))); }},
    {"prod", [](auto& a, auto&) { return values(AnyTensor((a | true).prod(-1))); }},
    {"mean", [](auto& a, auto&) { return values(AnyTensor(a.template to<float>().mean(-1))); }},
    {"count_nonzero", [](auto& a, auto&) { return values(AnyTensor(a.count_nonzero(-1))); }},
    {"all", [](auto& a, auto& b) { return values(AnyTensor((a | b).all(-1))); }},
    {"all of columns", [](auto& a, auto&) { return values(AnyTensor(a.all(0))); }},
    {"any", [](auto& a, auto&) { return values(AnyTensor(a.any(-1))); }},
    {"any of columns", [](auto& a, auto&) { return values(AnyTensor(a.any(0))); }},
    {"any().item()",
     [](auto& a, auto&) { return Values{static_cast<double>(sn::Tensor<bool>(a.any()).item() == true)}; }},
    {"amax", [](auto& a, auto&) { return values(AnyTensor(a.amax(-1))); }},
    {"amin", [](auto& a, auto&) { return values(AnyTensor(a.amin(-1))); }},
    {"amin of columns", [](auto& a, auto&) { return values(AnyTensor(a.amin(0))); }},
    {"argmax", [](auto& a, auto&) { return values(AnyTensor(a.template to<int>().argmax(-1))); }},
    {"cumsum", [](auto& a, auto&) { return values(AnyTensor(a.cumsum(-1))); }},
    {"cumprod", [](auto& a, auto&) { return values(AnyTensor(a.cumprod(0))); }},
    {"cummax", [](auto& a, auto&) { return both(a.cummax(-1)); }},
    {"cummin", [](auto& a, auto&) { return both(a.cummin(0)); }},
    {"sort", [](auto& a, auto&) { return both(a.sort(-1)); }},
    {"sort down", [](auto& a, auto&) { return both(a.sort(0, true)); }},
    {"sort all", [](auto& a, auto&) { return both(a.reshape({-1}).sort(0)); }},
    {"topk", [](auto& a, auto&) { return both(a.topk(2, -1)); }},
    {"kthvalue", [](auto& a, auto&) { return values(a.kthvalue(2, -1).values); }},
    {"median", [](auto& a, auto&) { return values(a.median(-1).values); }},
    {"nonzero", [](auto& a, auto&) { return values(AnyTensor(sn::nonzero(a))); }},
    {"masked_select", [](auto& a, auto& b) { return values(AnyTensor(sn::masked_select(numbers_like(b), a))); }},
    {"masked_select of bools", [](auto& a, auto& b) { return values(AnyTensor(sn::masked_select(a, b) == true)); }},
    {"masked_fill", [](auto& a, auto& b) { return values(AnyTensor(sn::masked_fill(numbers_like(b), a, -1.f))); }},
    {"masked_fill_",
     [](auto& a, auto& b) {
       auto x = numbers_like(b);
       x.masked_fill_(a, -1.f);
       return values(AnyTensor(x));
     }},
    {"x[mask]", [](auto& a, auto& b) { return values(AnyTensor(numbers_like(b)[a])); }},
    {"index_select",
     [](auto& a, auto&) {
       const auto index = sn::tensor<std::int64_t>({1, 0, 1}).to(a.device());
       return values(AnyTensor(a.index_select(0, index) == true));
     }},
    {"index_add_",
     [](auto& a, auto& b) {
       auto x = a.clone();
       x.index_add_(0, sn::tensor<std::int64_t>({1, 0}).to(a.device()), b(sn::range(0, 2)));
       return values(AnyTensor(x == true));
     }},
    {"cat", [](auto& a, auto& b) { return values(AnyTensor(sn::cat({a, b}, 0) == true)); }},
    {"flip", [](auto& a, auto&) { return values(AnyTensor(a.flip(0).contiguous() == true)); }},
    {"copies",
     [](auto& a, auto&) {
       auto x = a.clone(), y = sn::empty_like(a);
       y.copy_(x);
       return values(AnyTensor(y ^ true));
     }},
    {"in place",
     [](auto& a, auto& b) {
       auto x = a.clone(), y = a.clone();
       x &= b, y ^= b;
       return values(AnyTensor(x.template to<int>() + y.template to<int>() * 2));
     }},
    {"matmul",
     [](auto& a, auto& b) {
       return values(AnyTensor(sn::matmul(a.template to<float>(), b.transpose(0, 1).template to<float>())));
     }},
    {"softmax under a mask",
     [](auto& a, auto& b) { return values(AnyTensor(sn::softmax(sn::masked_fill(numbers_like(b), a, -1e9f), -1))); }},
};

// Rows of few elements, of some vectors with a remainder, and longer than the part of one thread.
const sn::Shape shapes[] = {{4, 3}, {3, 211}, {2, 70000}};

class Bools : public ::testing::TestWithParam<sn::Device> {};

TEST_P(Bools, AnyByteButZeroIsTrue) {
  for (const sn::Shape& shape : shapes) {
    const Masks odd = masks_of(shape, true, GetParam()), plain = masks_of(shape, false, GetParam());
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(c.name) + " of " + to_string(shape));
      EXPECT_EQ(c.result(odd.a, odd.b) == c.result(plain.a, plain.b), true);
    }
  }
}

std::vector<sn::jit::LazyRef> operands(const Masks& masks, std::size_t arity) {
  std::vector<sn::jit::LazyRef> all;
  for (std::size_t i = 0; i < arity; ++i) all.push_back(sn::jit::lazy((i % 2 ? masks.b : masks.a).impl()));
  return all;
}

Values result(sn::Op op, const Masks& masks) {
  const auto value = sn::jit::lazy(op, operands(masks, sn::info(op).arity));
  sn::runtime::TensorRef to;
  sn::jit::evaluate({&value, 1}, &to);
  return values(AnyTensor(to));
}

TEST_P(Bools, OfEveryOperation) {
  int tried = 0;
  for (const sn::Shape& shape : {sn::Shape{5}, sn::Shape{3, 211}}) {
    const Masks odd = masks_of(shape, true, GetParam()), plain = masks_of(shape, false, GetParam());
    for (int i = 0; i < sn::op_count; ++i) {
      const auto op = static_cast<sn::Op>(i);
      const std::vector<sn::OperandType> bools(sn::info(op).arity, {sn::DType::Bool});
      if (!sn::op_types(op, bools).ok) continue;
      SCOPED_TRACE(std::string(name(op)) + " of " + to_string(shape));
      const Values got = result(op, odd), right = result(op, plain);
      ASSERT_EQ(got.size(), right.size());
      for (std::size_t k = 0; k < got.size(); ++k)
        ASSERT_TRUE(got[k] == right[k] || (std::isnan(got[k]) && std::isnan(right[k]))) << k;
      ++tried;
    }
  }
  EXPECT_GT(tried, 100);
}

INSTANTIATE_TEST_SUITE_P(Devices, Bools, ::testing::ValuesIn(devices()), [](const auto& info) {
  return info.param.is_cpu() ? std::string("cpu") : "gpu" + std::to_string(info.param.index());
});

}  // namespace
