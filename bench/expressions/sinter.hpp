// Sinter as a library of the suite, on the CPU or on a GPU, fused or operation by operation.
#pragma once
#include <cmath>
#include <map>
#include <memory>
#include <sinter/sinter.hpp>
#include <utility>

#include "formulas.hpp"
#include "inputs.hpp"
#include "suite.hpp"

namespace bench {

namespace sn = sinter;

/// Operands on one device; each is created on first use and shared by all expressions of a size and dtype.
template <class T, class D>
const sn::Tensor<T, D>& on_device(Operand operand, std::size_t n) {
  static std::map<std::pair<Operand, std::size_t>, sn::Tensor<T, D>> made;
  auto& tensor = made[{operand, n}];
  if (!tensor.defined()) {
    const auto& values = input(operand, n);
    tensor = sn::Tensor<T, D>(sn::tensor(values, {values.size()}).template to<T>().to(D{}));
  }
  return tensor;
}

/// T: the dtype of operands and result.
template <class D, bool Fused, class T = float>
class Sinter {
 public:
  using Array = sn::Tensor<T, D>;

  Sinter(std::size_t n, void (*formula)(Sinter&)) : n_(n), extent_(extent(n)), formula_(formula) {
    result_ = Array(sn::empty<T>({static_cast<std::int64_t>(n)}, D{}));
    matrix_ = as_matrix(result_);
  }
  void run() { formula_(*this); }
  void wait() { sn::synchronize(result_.device()); }
  void poison() {
    matrix_.assign(NAN);
    result_.assign(NAN);
  }
  /// Eager evaluation makes a new array.
  std::span<const float> read() {
    read_ = (is_matrix_ ? matrix_ : result_).template to<float>().to_vector();
    return read_;
  }

  void store(const auto& e) { store_in(result_, e); }
  void store_matrix(const auto& e) {
    is_matrix_ = true;
    store_in(matrix_, e);
  }
  static auto exp(const auto& a) { return sn::exp(a); }
  static auto log(const auto& a) { return sn::log(a); }
  static auto sqrt(const auto& a) { return sn::sqrt(a); }
  static auto tanh(const auto& a) { return sn::tanh(a); }
  static auto erf(const auto& a) { return sn::erf(a); }
  /// A kernel computes a part once, however often it is used. Without fusion a part is an array.
  static auto again(auto a) {
    if constexpr (Fused)
      return a;
    else
      return sn::eager(a);
  }
  static auto keep(int, auto a) { return again(std::move(a)); }
  static auto for_rows(auto a) { return again(std::move(a)); }

  const Array& x() { return in(Operand::X, x_); }
  const Array& y() { return in(Operand::Y, y_); }
  const Array& spot() { return in(Operand::Spot, spot_); }
  const Array& strike() { return in(Operand::Strike, strike_); }
  const Array& time() { return in(Operand::Time, time_); }
  const Array& matrix_x() {
    return view(x_, [&] { return as_matrix(on_device<T, D>(Operand::X, n_)); });
  }
  const Array& matrix_y() {
    return view(y_, [&] { return as_matrix(on_device<T, D>(Operand::Y, n_)); });
  }
  const Array& transposed() {
    return view(x_, [&] { return on_device<T, D>(Operand::X, n_).reshape({columns(), rows()}).t(); });
  }
  const Array& every_second() {
    return view(x_, [&] { return on_device<T, D>(Operand::Wide, n_).slice(0, 0, sn::range::none, 2); });
  }
  const sn::Tensor<std::uint8_t, D>& pixels() { return on_device<std::uint8_t, D>(Operand::Pixels, n_); }
  const Array& row() { return in(Operand::Row, row_); }
  const Array& gain() { return in(Operand::Gain, gain_); }
  const Array& shift() { return in(Operand::Shift, shift_); }
  const Array& column() { return in_column(Operand::Column, column_); }
  const Array& mean() { return in_column(Operand::Mean, mean_); }
  const Array& variance() { return in_column(Operand::Variance, variance_); }

 private:
  std::int64_t rows() const { return static_cast<std::int64_t>(extent_.rows); }
  std::int64_t columns() const { return static_cast<std::int64_t>(extent_.columns); }
  Array as_matrix(const Array& a) const { return a.reshape({rows(), columns()}); }
  template <class Make>
  const Array& view(Array& held, const Make& make) {
    if (!held.defined()) held = make();
    return held;
  }
  const Array& in(Operand operand, Array& held) {
    return view(held, [&] { return on_device<T, D>(operand, n_); });
  }
  const Array& in_column(Operand operand, Array& held) {
    return view(held, [&] { return on_device<T, D>(operand, n_).reshape({rows(), 1}); });
  }
  static void store_in(Array& result, const auto& e) {
    if constexpr (Fused)
      result.assign(e);
    else
      result = sn::eager(e);
  }

  std::size_t n_;
  Extent extent_;
  void (*formula_)(Sinter&);
  bool is_matrix_ = false;
  Array result_, matrix_, x_, y_, spot_, strike_, time_, row_, gain_, shift_, column_, mean_, variance_;
  std::vector<float> read_;
};

/// Adds one expression on a device, fused or eager.
template <class D, bool Fused, class T>
void add_sinter(const char* name, void (*formula)(Sinter<D, Fused, T>&)) {
  add(name, Fused ? "sinter" : "eager",
      [formula](std::size_t n) { return std::make_shared<Sinter<D, Fused, T>>(n, formula); });
}

template <class D, bool Fused>
void add_all_sinter() {
  for_each_formula<Sinter<D, Fused>>(add_sinter<D, Fused, float>);
  for_each_half_formula<Sinter<D, Fused, sn::half>>(add_sinter<D, Fused, sn::half>);
  for_each_bfloat16_formula<Sinter<D, Fused, sn::bfloat16>>(add_sinter<D, Fused, sn::bfloat16>);
  add_sinter<D, Fused, float>("image", image<Sinter<D, Fused>>);
}

}  // namespace bench
