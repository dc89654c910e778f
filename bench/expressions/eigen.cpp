// Eigen's arrays, for the processor at hand. Elementwise, Eigen uses one thread.
#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>

#include "formulas.hpp"
#include "inputs.hpp"
#include "suite.hpp"

namespace {

using bench::Operand;
using Array = Eigen::ArrayXf;
using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::Array<float, Eigen::Dynamic, 1>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

class EigenLibrary {
 public:
  EigenLibrary(std::size_t n, void (*formula)(EigenLibrary&)) 
      : n_(n), extent_(bench::extent(n)), formula_(formula), result_(static_cast<Eigen::Index>(n)) {}
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

  void store(const auto& e) { result_ = e; }
  void store_matrix(const auto& e) {
    is_matrix_ = true;
    matrix_ = e;
  }
  static auto exp(const auto& a) { return a.exp(); }
  static auto log(const auto& a) { return a.log(); }
  static auto sqrt(const auto& a) { return a.sqrt(); }
  static auto tanh(const auto& a) { return a.tanh(); }
  static auto erf(const auto& a) { return a.erf(); }
  /// Eigen computes an expression again at each use.
  static Array keep(const auto& a) { return a; }

  const Array& x() { return in(x_, Operand::X); }
  const Array& y() { return in(y_, Operand::Y); }
  const Array& spot() { return in(spot_, Operand::Spot); }
  const Array& strike() { return in(strike_, Operand::Strike); }
  const Array& time() { return in(time_, Operand::Time); }
  const Matrix& matrix_x() { return in(matrix_x_, Operand::X, rows(), columns()); }
  const Matrix& matrix_y() { return in(matrix_y_, Operand::Y, rows(), columns()); }
  auto transposed() { return in(matrix_x_, Operand::X, columns(), rows()).transpose(); }
  auto every_second() {
    in(x_, Operand::Wide);
    return Eigen::Map<const Array, 0, Eigen::InnerStride<2>>(x_.data(), static_cast<Eigen::Index>(n_));
  }
  auto row() { return in(row_, Operand::Row).replicate(rows(), 1); }
  auto gain() { return in(gain_, Operand::Gain).replicate(rows(), 1); }
  auto shift() { return in(shift_, Operand::Shift).replicate(rows(), 1); }
  auto column() { return in(column_, Operand::Column).replicate(1, columns()); }
  auto mean() { return in(mean_, Operand::Mean).replicate(1, columns()); }
  auto variance() { return in(variance_, Operand::Variance).replicate(1, columns()); }

 private:
  Eigen::Index rows() const { return static_cast<Eigen::Index>(extent_.rows); }
  Eigen::Index columns() const { return static_cast<Eigen::Index>(extent_.columns); }
  template <class A>
  const A& in(A& held, Operand operand) {
    if (held.size() == 0) {
      const auto& values = bench::input(operand, n_);
      held = Eigen::Map<const A>(values.data(), static_cast<Eigen::Index>(values.size()));
    }
    return held;
  }
  const Matrix& in(Matrix& held, Operand operand, Eigen::Index height, Eigen::Index width) {
    if (held.size() == 0) held = Eigen::Map<const Matrix>(bench::input(operand, n_).data(), height, width);
    return held;
  }

  std::size_t n_;
  bench::Extent extent_;
  void (*formula_)(EigenLibrary&);
  bool is_matrix_ = false;
  Array result_, x_, y_, spot_, strike_, time_;
  Matrix matrix_, matrix_x_, matrix_y_;
  Row row_, gain_, shift_;
  Column column_, mean_, variance_;
};

const bench::Register registered([] {
  if (bench::options().on_gpu()) return;
  bench::for_each_formula<EigenLibrary>([](const char* name, void (*formula)(EigenLibrary&)) {
    bench::add(name, "eigen", [formula](std::size_t n) { return std::make_shared<EigenLibrary>(n, formula); });
  });
});

}  // namespace
