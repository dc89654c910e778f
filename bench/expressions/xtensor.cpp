// xtensor's containers, compiled for this processor. As packaged, xtensor uses one thread.
#include "formulas.hpp"
#include "inputs.hpp"
#include "suite.hpp"
// xtensor uses std::numeric_limits and std::exchange without including them.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

namespace {

using bench::Operand;
using Array = xt::xtensor<float, 1>;
using Matrix = xt::xtensor<float, 2>;

class XtensorLibrary {
 public:
  XtensorLibrary(std::size_t n, void (*formula)(XtensorLibrary&))
      : n_(n), extent_(bench::extent(n)), formula_(formula), result_(Array::from_shape({n})) {}
  void run() {
    formula_(*this);
    benchmark::DoNotOptimize(result_.data());
    benchmark::DoNotOptimize(matrix_.data());
  }
  void wait() {}
  void poison() {
    result_.fill(NAN);
    if (is_matrix_) matrix_.fill(NAN);
  }
  std::span<const float> read() { return {is_matrix_ ? matrix_.data() : result_.data(), n_}; }

  void store(const auto& e) { xt::noalias(result_) = e; }
  void store_matrix(const auto& e) {
    if (!is_matrix_) matrix_ = Matrix::from_shape({extent_.rows, extent_.columns});
    is_matrix_ = true;
    xt::noalias(matrix_) = e;
  }
  static auto exp(auto&& a) { return xt::exp(std::forward<decltype(a)>(a)); }
  static auto log(auto&& a) { return xt::log(std::forward<decltype(a)>(a)); }
  static auto sqrt(auto&& a) { return xt::sqrt(std::forward<decltype(a)>(a)); }
  static auto tanh(auto&& a) { return xt::tanh(std::forward<decltype(a)>(a)); }
  static auto erf(auto&& a) { return xt::erf(std::forward<decltype(a)>(a)); }
  /// xtensor computes an expression again at each use: an array pays off if that takes longer than a store and two
  /// loads.
  static auto again(auto&& a) { return std::forward<decltype(a)>(a); }
  const Array& keep(std::size_t place, const auto& a) {
    if (kept_[place].size() != n_) kept_[place] = Array::from_shape({n_});
    xt::noalias(kept_[place]) = a;
    return kept_[place];
  }
  const Matrix& for_rows(const auto& a) {
    if (of_rows_.size() != extent_.rows) of_rows_ = Matrix::from_shape({extent_.rows, 1});
    xt::noalias(of_rows_) = a;
    return of_rows_;
  }

  const Array& x() { return in(x_, Operand::X); }
  const Array& y() { return in(y_, Operand::Y); }
  const Array& spot() { return in(spot_, Operand::Spot); }
  const Array& strike() { return in(strike_, Operand::Strike); }
  const Array& time() { return in(time_, Operand::Time); }
  const Matrix& matrix_x() { return in(matrix_x_, Operand::X, extent_.rows, extent_.columns); }
  const Matrix& matrix_y() { return in(matrix_y_, Operand::Y, extent_.rows, extent_.columns); }
  auto transposed() { return xt::transpose(in(matrix_x_, Operand::X, extent_.columns, extent_.rows)); }
  auto every_second() {
    return xt::view(in(x_, Operand::Wide), xt::range(xt::placeholders::_, xt::placeholders::_, 2));
  }
  const Array& row() { return in(row_, Operand::Row); }
  const Array& gain() { return in(gain_, Operand::Gain); }
  const Array& shift() { return in(shift_, Operand::Shift); }
  const Matrix& column() { return in(column_, Operand::Column, extent_.rows, 1); }
  const Matrix& mean() { return in(mean_, Operand::Mean, extent_.rows, 1); }
  const Matrix& variance() { return in(variance_, Operand::Variance, extent_.rows, 1); }

 private:
  // Containers are shared by all expressions of a size.
  const Array& in(const Array*& held, Operand operand) {
    if (held) return *held;
    static std::map<std::pair<Operand, std::size_t>, Array> made;
    auto [at, fresh] = made.try_emplace({operand, n_});
    if (fresh) at->second = xt::adapt(bench::input(operand, n_), {bench::length(operand, n_)});
    return *(held = &at->second);
  }
  const Matrix& in(const Matrix*& held, Operand operand, std::size_t height, std::size_t width) {
    if (held) return *held;
    static std::map<std::tuple<Operand, std::size_t, std::size_t>, Matrix> made;
    auto [at, fresh] = made.try_emplace({operand, height, width});
    if (fresh) at->second = xt::adapt(bench::input(operand, n_), {height, width});
    return *(held = &at->second);
  }

  std::size_t n_;
  bench::Extent extent_;
  void (*formula_)(XtensorLibrary&);
  bool is_matrix_ = false;
  Array result_;
  Matrix matrix_, of_rows_;
  std::array<Array, 2> kept_;
  const Array *x_ = nullptr, *y_ = nullptr, *spot_ = nullptr, *strike_ = nullptr, *time_ = nullptr;
  const Array *row_ = nullptr, *gain_ = nullptr, *shift_ = nullptr;
  const Matrix *matrix_x_ = nullptr, *matrix_y_ = nullptr;
  const Matrix *column_ = nullptr, *mean_ = nullptr, *variance_ = nullptr;
};

const bench::Register registered([] {
  if (bench::options().on_gpu()) return;
  benchmark::AddCustomContext("xtensor", BENCH_TEXT(XTENSOR_VERSION_MAJOR) "." BENCH_TEXT(
                                             XTENSOR_VERSION_MINOR) "." BENCH_TEXT(XTENSOR_VERSION_PATCH));
  bench::for_each_formula<XtensorLibrary>([](const char* name, void (*formula)(XtensorLibrary&)) {
    bench::add(name, "xtensor", [formula](std::size_t n) { return std::make_shared<XtensorLibrary>(n, formula); });
  });
});

}  // namespace
