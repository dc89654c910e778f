#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace detail = sinter::detail;
using namespace sinter_tests;

namespace {

TEST(Parameter, IsTheSameOnEveryDevice) {
  for (const sn::DType dtype : {sn::DType::Float32, sn::DType::Float64, sn::DType::Float16}) {
    sn::AnyTensor first;
    for (const sn::Device d : devices()) {
      sn::manual_seed(5);
      const sn::AnyTensor p(detail::uniform_parameter({20, 3}, dtype, d, 0.5));
      EXPECT_EQ(p.dtype(), dtype);
      EXPECT_EQ(p.device(), d);
      if (!first.defined()) first = p.to(sn::cpu);
      EXPECT_TRUE(sn::equal(first, p.to("cpu")));
    }
  }
}

TEST(Parameter, BoundOfTheInputs) {
  EXPECT_EQ(detail::bound_for(4), 0.5);
  EXPECT_EQ(detail::bound_for(0), 0);
}

TEST(Parameter, NumbersAsPythonWritesThem) {
  EXPECT_EQ(detail::python_text(0.5), "0.5");
  EXPECT_EQ(detail::python_text(1.0), "1.0");
  EXPECT_EQ(detail::python_text(0.0), "0.0");
  EXPECT_EQ(detail::python_text(1e-5), "1e-05");
  EXPECT_EQ(detail::python_text(1e-12), "1e-12");
  EXPECT_EQ(detail::python_text(0.001), "0.001");
  EXPECT_STREQ(detail::python_text(true), "True");
}

TEST(Parameter, WhatFits) {
  const sn::Tensor weight = sn::ones({4, 3});
  const auto fits = [&](const sn::Shape& shape, sn::DType dtype = sn::DType::Float32, sn::Device d = {}) {
    return detail::fits_module({shape, dtype, d}, weight.impl(), {2, 3});
  };
  EXPECT_TRUE(fits({2, 3}) && fits({5, 2, 3}));
  EXPECT_FALSE(fits({3}) || fits({3, 2}) || fits({2, 3, 1}) || fits({}));
  EXPECT_FALSE(fits({2, 3}, sn::DType::Float64) || fits({2, 3}, sn::DType::Float32, sn::Device(0)));
}

TEST(Parameter, WhatFitsAtFirstSight) {
  const sn::Tensor weight = sn::ones({2, 5}), x = sn::ones({4, 5}), column = sn::ones({4, 1}),
                   square = sn::ones({5, 5});
  const auto fits = [&](const auto& e, std::int64_t width = 5) {
    return detail::plainly_fits(e, weight.impl(), sn::Shape(width));
  };
  EXPECT_TRUE(fits(x + 1) && fits(2 * column * x) && fits(sn::where(column > 0, column, x)));
  EXPECT_TRUE(fits(sn::relu(sn::matmul(column + x, square)) + 1));
  EXPECT_TRUE(fits(sn::matmul(sn::ones({4, 3}), sn::ones({3, 5}))));
  EXPECT_FALSE(fits(sn::matmul(x, weight.t())) || fits(x * 2, 4) || fits(column + 1));
  EXPECT_FALSE(fits(sn::sum(x, 0)) || fits(x) || fits(sn::AnyTensor(x) + 1) || fits(sn::Lazy(x + 1)));
  EXPECT_FALSE(fits(sn::ones({4, 5}, sn::cuda<0>) + 1));
}

}  // namespace
