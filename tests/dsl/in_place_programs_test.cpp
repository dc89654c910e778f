// Random programs whose results are written to views of the memory that they read: everything is read before it is
// overwritten, whatever kernels the plan has.
#include "devices.hpp"

#include <random>

#include <gtest/gtest.h>

namespace {

namespace sn = sinter;
namespace jit = sinter::jit;
using sinter::runtime::TensorRef;
using Matrix = sn::Lazy<float>;

constexpr std::int64_t rows = 4, columns = 6, elements = 80;

/// A program over views of one array, some of which overlap.
class InPlaceProgram {
 public:
  InPlaceProgram(unsigned seed, const sn::Tensor<float>& memory) : random_(seed), memory_(memory) {
    for (const std::int64_t first : {0, 12, 24, 49}) add_view({rows, columns}, {columns, 1}, first);
    add_view({columns}, {1}, 3);
    add_view({columns}, {2}, 50);
    add_view({rows, 1}, {columns, 1}, 24);
    add_view({columns, columns}, {columns, 1}, 40);
    for (int i = 3 + draw(8); i > 0; --i) add_operation();
    for (int i = 1 + draw(4); i > 0; --i) choose_result();
  }

  std::vector<jit::LazyRef> results;
  std::vector<TensorRef> targets;  // null for a new array

 private:
  int draw(int below) { return std::uniform_int_distribution(0, below - 1)(random_); }

  void add_view(const sn::Shape& shape, const sn::Shape& strides, std::int64_t first) {
    views_.push_back(sinter::runtime::view(memory_.impl(), shape, strides, first));
    values_.push_back(sn::Tensor<float>(views_.back()));
  }
  const Matrix& any() { return values_[static_cast<std::size_t>(draw(static_cast<int>(values_.size())))]; }

  void add_operation() {
    const Matrix a = any(), b = any();
    sn::Shape together = a.shape();
    switch (draw(8)) {
      case 0: return values_.push_back(-a * 0.5f);
      case 1: return values_.push_back(sin(a));
      case 2: return values_.push_back(sn::sum(a, -1, sn::keepdim));
      case 3:
        return a.shape().ndim() == 2 && a.shape() != sn::Shape{rows, 1} ? values_.push_back(sn::mean(a, 0)) : void();
      case 4: return values_.push_back(sn::softmax(a, -1));
      case 5:
        if (a.shape() == sn::Shape{rows, columns} && b.shape() == sn::Shape{columns, columns})
          values_.push_back(sn::matmul(a, b));
        return;
      default:
        if (broadcast(together, b.shape())) values_.push_back(draw(2) ? Matrix(a + b) : Matrix(a * b - a));
    }
  }

  void choose_result() {
    const Matrix& value = values_[values_.size() - 1 - static_cast<std::size_t>(draw(4))];
    results.push_back(value.node());
    targets.emplace_back();
    for (int i = 0; i < 6; ++i) {
      const TensorRef& view = views_[static_cast<std::size_t>(draw(static_cast<int>(views_.size())))];
      if (view->shape == value.shape()) targets.back() = view;
    }
  }

  std::mt19937 random_;
  const sn::Tensor<float> memory_;
  std::vector<TensorRef> views_;
  std::vector<Matrix> values_;
};

sn::Tensor<float> memory_on(const sn::Device& d) {
  return sn::Tensor<float>(sn::Tensor((sn::arange<float>(elements) * 0.7f).sin())).to(d);
}

void run_program(unsigned seed, const sn::Device& d, jit::Mode mode, int& written) {
  const sn::Tensor<float> untouched = memory_on(d), expected = memory_on(d), memory = memory_on(d);
  const InPlaceProgram apart(seed, untouched);
  std::vector<TensorRef> values(apart.results.size());
  jit::evaluate(apart.results, values.data(), mode);
  const InPlaceProgram places(seed, expected), program(seed, memory);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (places.targets[i]) jit::copy(*places.targets[i], *values[i]);
  std::vector<TensorRef> outputs = program.targets;
  try {
    jit::evaluate(program.results, outputs.data(), mode);
  } catch (const sn::Error& e) {
    ASSERT_NE(std::string(e.what()).find("two outputs of one evaluation share memory"), std::string::npos) << e.what();
    ASSERT_EQ(memory.to_vector(), untouched.to_vector());
    return;
  }
  ++written;
  ASSERT_EQ(memory.to_vector(), expected.to_vector());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (program.targets[i]) continue;
    ASSERT_EQ(sn::Tensor<float>(outputs[i]).to_vector(), sn::Tensor<float>(values[i]).to_vector()) << "output " << i;
  }
}

TEST(InPlacePrograms, EverythingIsReadBeforeItIsWritten) {
  for (const sn::Device& d : sinter_tests::devices())
    for (const jit::Mode mode : {jit::Mode::Fused, jit::Mode::Eager}) {
      int written = 0;
      for (unsigned seed = 0; seed < (d.is_cpu() ? 1000u : 40u); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " on " + to_string(d));
        ASSERT_NO_FATAL_FAILURE(run_program(seed, d, mode, written));
      }
      EXPECT_GT(written, d.is_cpu() ? 500 : 20);
    }
}

}  // namespace
