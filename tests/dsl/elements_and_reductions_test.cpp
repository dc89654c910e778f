// Elements and reductions of one evaluation, where elements may be written to what the reductions read.
#include "devices.hpp"

#include <gtest/gtest.h>

namespace sn = sinter;
using sinter_tests::devices;

namespace {

using Floats = sn::Tensor<float, sn::AnyDevice>;

/// An evaluation into x, y and a value for each row or column, and the same from copies.
class Case {
 public:
  Case(std::int64_t rows, std::int64_t columns, int dim, const sn::Device& device)
      : dim_(dim),
        first_(sn::randn({rows, columns}).to(device)),
        x_(first_.clone()),
        y_(sn::empty({rows, columns}).to(device)) {
    const std::int64_t results = dim == 0 ? columns : rows;
    for (Floats& r : r_) r = sn::empty({results}).to(device);
  }

  template <class E, class F>
  void elements_with_one(const char* what, E of_elements, F of_reduction) {
    SCOPED_TRACE(what);
    x_ = first_.clone();
    sn::evaluate(sn::into(x_, of_elements(x_)), sn::into(r_[0], of_reduction(x_, dim_)));
    expect(x_, of_elements(first_));
    expect(r_[0], of_reduction(first_, dim_));
  }
  template <class E, class G, class F, class H>
  void elements_with_two(const char* what, E of_elements, G of_others, F of_reduction, H of_another) {
    SCOPED_TRACE(what);
    x_ = first_.clone();
    sn::evaluate(sn::into(y_, of_others(x_)), sn::into(r_[0], of_reduction(x_, dim_)), sn::into(x_, of_elements(x_)),
                 sn::into(r_[1], of_another(x_, dim_)));
    expect(x_, of_elements(first_));
    expect(y_, of_others(first_));
    expect(r_[0], of_reduction(first_, dim_));
    expect(r_[1], of_another(first_, dim_));
  }

 private:
  template <class E>
  static void expect(const Floats& got, const E& right) {
    EXPECT_TRUE(sn::allclose(got, Floats(sn::eager(right)), 1e-4, 1e-3));
  }

  int dim_;
  Floats first_, x_, y_, r_[2];
};

class ElementsAndReductions : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(ElementsAndReductions, InPlace) {
  const auto [rows, columns] = GetParam();
  const auto twice = [](const auto& x) { return x * 2 + 1; };
  const auto sine = [](const auto& x) { return sn::sin(x) * x; };
  const auto sum = [](const auto& x, int dim) { return x.sum(dim); };
  const auto sum_of_sines = [=](const auto& x, int dim) { return sine(x).sum(dim); };
  const auto most = [](const auto& x, int dim) { return (x * x).amax(dim); };
  const auto variance = [](const auto& x, int dim) { return x.var(dim); };
  const auto softened = [](const auto& x, int dim) { return x.logsumexp(dim); };
  const auto normal = [](const auto& x) { return sn::softmax(x, -1); };
  for (const sn::Device& device : devices())
    for (const int dim : {0, 1}) {
      SCOPED_TRACE("along " + std::to_string(dim) + " on " + to_string(device));
      Case c(rows, columns, dim, device);
      c.elements_with_one("sum", twice, sum);
      c.elements_with_one("sum of the elements", sine, sum_of_sines);
      c.elements_with_one("variance", twice, variance);
      c.elements_with_one("logsumexp", sine, softened);
      c.elements_with_two("two and two", sine, twice, sum_of_sines, most);
      c.elements_with_two("two and two in two passes", twice, sine, variance, most);
      c.elements_with_two("what needs a result", twice, normal, sum, sum_of_sines);
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ElementsAndReductions,
                         testing::Values(std::pair(2, 3), std::pair(7, 33), std::pair(64, 40), std::pair(300, 1000),
                                         std::pair(3, 5000), std::pair(5000, 3), std::pair(2, 140'001),
                                         std::pair(140'001, 2)));

}  // namespace
