// Sinter, on the CPU or on a GPU, fused or operation by operation.
#pragma once
#include <cmath>
#include <map>
#include <sinter/nn.hpp>
#include <type_traits>

#include "suite.hpp"

namespace bench {

namespace sn = sinter;
namespace functional = sinter::nn::functional;

template <class D, bool Fused, class T>
class ProductsOfSinter {
 public:
  using Array = sn::Tensor<T, D>;
  static constexpr bool narrow = std::is_same_v<T, sn::bfloat16>;

  ProductsOfSinter(const ProductShape& of, void (*formula)(ProductsOfSinter&))
      : shape_(of), formula_(formula), parts_(parts_of(of)) {
    result_ = sn::empty<T>(of_rows(extent(of.columns())), D{});
  }
  void run() { formula_(*this); }
  void wait() { sn::synchronize(result_.device()); }
  void poison() { result_.assign(NAN); }
  std::vector<float> read() {
    const Array lines = result_.reshape({extent(shape_.rows()), extent(shape_.columns())});
    return lines.slice(0, 0, sn::range::none, extent(step_of_products(shape_))).template to<float>().to_vector();
  }

  void store(const auto& e) {
    if constexpr (Fused)
      result_.assign(e);
    else
      result_ = sn::eager(e);
  }
  /// A part that is used more than once, or through a view.
  Array keep(const auto& e) const {
    if constexpr (Fused)
      return e;
    else
      return sn::eager(e);
  }
  const Array& x() { return in(0); }
  /// An operand by number: x, weights and biases.
  const Array& in(std::size_t number) {
    static std::map<std::tuple<std::string, std::string, std::size_t>, Array> made;  // shared by all cases of a shape
    Array& array = made[{shape_.kind, shape_.extents(), number}];
    if (!array.defined()) {
      const std::vector<float>& values = values_of(shape_, number);
      const Part& p = parts_[number];
      const sn::Shape shape = number == 0   ? of_rows(extent(p.columns))
                              : p.rows == 1 ? sn::Shape(extent(p.columns))
                                            : sn::Shape(extent(p.rows), extent(p.columns));
      array = Array(sn::tensor(values, {values.size()}).template to<T>().to(D{})).reshape(shape);
    }
    return array;
  }
  std::int64_t heads() const { return extent(shape_.heads()); }

 private:
  static std::int64_t extent(std::size_t of) { return static_cast<std::int64_t>(of); }
  sn::Shape of_rows(std::int64_t columns) const {
    if (shape_.kind == "block") return {extent(shape_.a), extent(shape_.b), columns};
    return {extent(shape_.a), columns};
  }

  ProductShape shape_;
  void (*formula_)(ProductsOfSinter&);
  std::vector<Part> parts_;
  Array result_;
};

template <class M>
void gemm(M& m) {
  m.store(sn::matmul(m.x(), m.in(1).t()));
}
template <class M>
void linear_gelu(M& m) {
  m.store(sn::gelu(functional::linear(m.x(), m.in(1), m.in(2))));
}
template <class M>
void linear_gelu_tanh(M& m) {
  m.store(sn::gelu_tanh(functional::linear(m.x(), m.in(1), m.in(2))));
}

template <class M>
void mlp(M& m, const auto& activation) {
  const auto first = activation(functional::linear(m.x(), m.in(1), m.in(2)));
  const auto second = activation(functional::linear(first, m.in(3), m.in(4)));
  m.store(functional::linear(second, m.in(5), m.in(6)));
}
template <class M>
void mlp_gelu(M& m) {
  mlp(m, [](const auto& e) { return sn::gelu(e); });
}
template <class M>
void mlp_relu(M& m) {
  mlp(m, [](const auto& e) { return sn::relu(e); });
}

/// As in examples/18_transformer.cpp.
template <class M>
void block(M& m) {
  const auto norm = [&](const auto& of, std::size_t gain) {
    return sn::layer_norm(of, {m.x().size(-1)}, m.in(gain), m.in(gain + 1));
  };
  const auto linear = [&](const auto& of, std::size_t weight) {
    return functional::linear(of, m.in(weight), m.in(weight + 1));
  };
  const auto split = [&](const auto& of) {
    const auto whole = m.keep(of);
    const std::int64_t d = whole.size(2) / m.heads();
    return whole.reshape({whole.size(0), whole.size(1), m.heads(), d}).transpose(1, 2);
  };
  const auto normalized = m.keep(norm(m.x(), 1));
  const auto q = split(linear(normalized, 3)), k = split(linear(normalized, 5)), v = split(linear(normalized, 7));
  const auto weights = sn::softmax(sn::matmul(q, k.transpose(-2, -1)) / std::sqrt(q.size(-1)), -1);
  const auto heads = m.keep(sn::matmul(weights, v));
  const auto y = m.keep(m.x() + linear(heads.transpose(1, 2).flatten(-2), 9));
  m.store(y + linear(sn::gelu(linear(norm(y, 11), 13)), 15));
}

template <class D, bool Fused, class T>
void add_products() {
  using M = ProductsOfSinter<D, Fused, T>;
  static const std::map<std::string, void (*)(M&)> formulas = {
      {"gemm", gemm<M>},         {"linear_gelu", linear_gelu<M>}, {"linear_gelu_tanh", linear_gelu_tanh<M>},
      {"mlp_gelu", mlp_gelu<M>}, {"mlp_relu", mlp_relu<M>},       {"block", block<M>}};
  for_each_product([](const ProductCase& c, const ProductShape& of, const std::string& extents) {
    // A CPU converts 16-bit floats, which the bare products already show.
    if (M::narrow && std::is_same_v<D, sn::Cpu> && of.kind != "linear") return;
    const std::string all =
        std::string(c.name) + (M::narrow ? "_bfloat16" : "") + (Fused ? "/sinter" : "/eager") + extents;
    benchmark::RegisterBenchmark(all.c_str(), [&c, of](benchmark::State& state) {
      M subject(of, formulas.at(c.name));
      measure_product(state, subject, c, of);
    })->UseRealTime();
  });
}

/// The most informative cases first, in case time runs out.
template <class D>
void add_all_products() {
  if (!open_library_of_products()) return;
  add_products<D, true, float>();
  add_products<D, true, sn::bfloat16>();
  add_products<D, false, float>();
  add_products<D, false, sn::bfloat16>();
}

}  // namespace bench
