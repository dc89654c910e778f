// Eigen's arrays, compiled for this processor. Eigen computes elementwise operations on one thread.
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <unsupported/Eigen/SpecialFunctions>
#include <utility>

#include "formulas.hpp"
#include "inputs.hpp"
#include "suite.hpp"

namespace {

using bench::Operand;
using Array = Eigen::ArrayXf;
using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::Array<float, Eigen::Dynamic, 1>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;
// With Eigen's replicate(rows, 1) the division happens once per element, since its type does not say which factor is 1.
using OverRows = Eigen::Replicate<const Row, Eigen::Dynamic, 1>;
using OverColumns = Eigen::Replicate<const Column, 1, Eigen::Dynamic>;

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
  using MatrixView = Eigen::Map<const Matrix, Eigen::AlignedMax>;
  static auto exp(const auto& a) { return a.exp(); }
  static auto log(const auto& a) { return a.log(); }
  static auto sqrt(const auto& a) { return a.sqrt(); }
  static auto tanh(const auto& a) { return a.tanh(); }
  static auto erf(const auto& a) { return a.erf(); }
  /// Eigen computes an expression again at each use: an array pays off if that takes longer than a store and two loads.
  static auto again(const auto& a) { return a; }
  const Array& keep(std::size_t place, const auto& a) { return kept_[place] = a; }
  auto for_rows(const auto& a) { return over_columns(of_rows_ = a); }

  const Array& x() { return in<Array>(x_, Operand::X); }
  const Array& y() { return in<Array>(y_, Operand::Y); }
  const Array& spot() { return in<Array>(spot_, Operand::Spot); }
  const Array& strike() { return in<Array>(strike_, Operand::Strike); }
  const Array& time() { return in<Array>(time_, Operand::Time); }
  MatrixView matrix_x() { return as_matrix(x(), rows(), columns()); }
  MatrixView matrix_y() { return as_matrix(y(), rows(), columns()); }
  auto transposed() { return as_matrix(x(), columns(), rows()).transpose(); }
  auto every_second() {
    return Eigen::Map<const Array, 0, Eigen::InnerStride<2>>(in<Array>(x_, Operand::Wide).data(),
                                                             static_cast<Eigen::Index>(n_));
  }
  auto row() { return over_rows(in<Row>(row_, Operand::Row)); }
  auto gain() { return over_rows(in<Row>(gain_, Operand::Gain)); }
  auto shift() { return over_rows(in<Row>(shift_, Operand::Shift)); }
  auto column() { return over_columns(in<Column>(column_, Operand::Column)); }
  auto mean() { return over_columns(in<Column>(mean_, Operand::Mean)); }
  /// Not broadcast: used only in for_rows().
  const Column& variance() { return in<Column>(variance_, Operand::Variance); }

 private:
  Eigen::Index rows() const { return static_cast<Eigen::Index>(extent_.rows); }
  Eigen::Index columns() const { return static_cast<Eigen::Index>(extent_.columns); }
  /// Arrays allocated and aligned by Eigen, shared by all expressions of a size.
  template <class A>
  const A& in(const A*& held, Operand operand) {
    if (held) return *held;
    static std::map<std::pair<Operand, std::size_t>, A> made;
    const auto& values = bench::input(operand, n_);
    const Eigen::Map<const A> from(values.data(), static_cast<Eigen::Index>(values.size()));
    return *(held = &made.try_emplace({operand, n_}, from).first->second);
  }
  OverRows over_rows(const Row& a) const { return {a, rows(), 1}; }
  OverColumns over_columns(const Column& a) const { return {a, 1, columns()}; }
  static MatrixView as_matrix(const Array& a, Eigen::Index height, Eigen::Index width) {
    return {a.data(), height, width};
  }

  std::size_t n_;
  bench::Extent extent_;
  void (*formula_)(EigenLibrary&);
  bool is_matrix_ = false;
  Array result_;
  Matrix matrix_;
  std::array<Array, 2> kept_;
  Column of_rows_;
  const Array *x_ = nullptr, *y_ = nullptr, *spot_ = nullptr, *strike_ = nullptr, *time_ = nullptr;
  const Row *row_ = nullptr, *gain_ = nullptr, *shift_ = nullptr;
  const Column *column_ = nullptr, *mean_ = nullptr, *variance_ = nullptr;
};

const bench::Register registered([] {
  if (bench::options().on_gpu()) return;
  benchmark::AddCustomContext(
      "eigen", BENCH_TEXT(EIGEN_WORLD_VERSION) "." BENCH_TEXT(EIGEN_MAJOR_VERSION) "." BENCH_TEXT(EIGEN_MINOR_VERSION));
  bench::for_each_formula<EigenLibrary>([](const char* name, void (*formula)(EigenLibrary&)) {
    bench::add(name, "eigen", [formula](std::size_t n) { return std::make_shared<EigenLibrary>(n, formula); });
  });
});

}  // namespace
