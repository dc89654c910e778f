// Sinter, on the CPU or on a GPU, fused or operation by operation.
#pragma once
#include <cmath>
#include <map>
#include <memory>
#include <sinter/sinter.hpp>
#include <type_traits>

#include "suite.hpp"

namespace bench {

namespace sn = sinter;

template <class D, bool Fused, class T>
class RowsOfSinter {
 public:
  using Array = sn::Tensor<T, D>;
  using Element = T;
  static constexpr bool narrow = std::is_same_v<T, sn::bfloat16>;

  RowsOfSinter(const RowCase& c, const Extent& of, void (*formula)(RowsOfSinter&))
      : extent_(of), formula_(formula), is_matrix_(is_matrix(c.result)) {
    const auto n = static_cast<std::int64_t>(c.elements(of));
    if (is_matrix_)
      result_ = sn::empty<T>({rows(), columns()}, D{});
    else if (n > 1 || c.result == Kind::Rows || c.result == Kind::Columns)
      result_ = sn::empty<T>({n}, D{});
    else
      result_ = sn::empty<T>({}, D{});
  }
  void run() { formula_(*this); }
  void wait() { sn::synchronize(result_.device()); }
  void poison() { result_.assign(NAN); }
  std::vector<float> read() {
    if (!is_matrix_) return result_.template to<float>().to_vector();
    const auto step = static_cast<std::int64_t>(step_of_rows(extent_));
    return result_.slice(0, 0, sn::range::none, step).template to<float>().to_vector();
  }

  void store(const auto& e) {
    if constexpr (Fused)
      result_.assign(e);
    else
      result_ = sn::eager(e);
  }
  void keep(const Array& result) { result_ = result; }  // for functions that evaluate themselves
  const Array& x() { return in(Operand::X, x_, {rows(), columns()}); }
  const Array& gain() { return in(Operand::Gain, gain_, {columns()}); }
  const Array& shift() { return in(Operand::Shift, shift_, {columns()}); }
  const sn::Tensor<std::int64_t, D>& classes() { return indices(extent_.columns); }
  const sn::Tensor<std::int64_t, D>& places() { return indices(extent_.rows); }
  std::int64_t rows() const { return static_cast<std::int64_t>(extent_.rows); }
  std::int64_t columns() const { return static_cast<std::int64_t>(extent_.columns); }

 private:
  const sn::Tensor<std::int64_t, D>& indices(std::size_t below) {
    if (!indices_.defined()) {
      std::vector<std::int64_t> values(extent_.rows);
      for (std::size_t r = 0; r < extent_.rows; ++r) values[r] = static_cast<std::int64_t>(class_of(r, below));
      indices_ = sn::tensor(values, {values.size()}).to(D{});
    }
    return indices_;
  }
  /// An operand is shared by all cases of a shape.
  const Array& in(Operand operand, Array& held, const sn::Shape& shape) {
    static std::map<std::pair<Operand, std::size_t>, Array> made;
    if (held.defined()) return held;
    const std::vector<float>& values = input(operand, extent_);
    Array& flat = made[{operand, values.size()}];
    if (!flat.defined()) flat = Array(sn::tensor(values, {values.size()}).template to<T>().to(D{}));
    return held = flat.reshape(shape);
  }

  Extent extent_;
  void (*formula_)(RowsOfSinter&);
  bool is_matrix_;
  Array result_, x_, gain_, shift_;
  sn::Tensor<std::int64_t, D> indices_;
};

template <class M>
void softmax(M& m) {
  m.store(sn::softmax(m.x(), 1));
}
template <class M>
void log_softmax(M& m) {
  m.store(sn::log_softmax(m.x(), 1));
}
template <class M>
void layer_norm(M& m) {
  m.store(sn::layer_norm(m.x(), {m.columns()}, m.gain(), m.shift()));
}
template <class M>
void rms_norm(M& m) {
  m.store(sn::rms_norm(m.x(), {m.columns()}, m.gain(), 1e-5));
}
template <class M>
void cross_entropy(M& m) {
  m.store(sn::cross_entropy(m.x(), m.classes()));
}
template <class M>
void sum_all(M& m) {
  m.store(sn::sum(m.x()));
}
template <class M>
void sum_rows(M& m) {
  m.store(sn::sum(m.x(), 1));
}
template <class M>
void sum_columns(M& m) {
  m.store(sn::sum(m.x(), 0));
}

template <class M>
void logsumexp(M& m) {
  m.store(sn::logsumexp(m.x(), 1));
}
template <class M>
void argmax(M& m) {
  m.store(sn::cast<typename M::Element>(sn::argmax(m.x(), 1)));
}
template <class M>
void cumsum(M& m) {
  m.keep(sn::cumsum(m.x(), 1));
}
template <class M>
void sort(M& m) {
  m.keep(sn::sort(m.x(), 1).values);
}
template <class M>
void dropout(M& m) {
  m.store(sn::dropout(m.x(), 0.5));
}
template <class M>
void embedding(M& m) {
  m.store(sn::embedding(m.x(), m.places()));
}

template <class D, bool Fused, class T>
void add_rows() {
  using M = RowsOfSinter<D, Fused, T>;
  const auto add = [](const char* name, void (*formula)(M&)) {
    const RowCase& c = find_row_case(name);
    for_each_matrix([&](const Extent& of, const std::string& columns) {
      const std::string all =
          std::string(name) + (M::narrow ? "_bfloat16" : "") + (Fused ? "/sinter" : "/eager") + columns;
      benchmark::RegisterBenchmark(all.c_str(), [&c, of, formula](benchmark::State& state) {
        M subject(c, of, formula);
        measure_rows(state, subject, c, of);
      })->UseRealTime();
    });
  };
  add("softmax", softmax<M>);
  add("log_softmax", log_softmax<M>);
  add("layer_norm", layer_norm<M>);
  add("rms_norm", rms_norm<M>);
  add("cross_entropy", cross_entropy<M>);
  add("sum_all", sum_all<M>);
  add("sum_rows", sum_rows<M>);
  add("sum_columns", sum_columns<M>);
  add("logsumexp", logsumexp<M>);
  add("dropout", dropout<M>);
  add("embedding", embedding<M>);
  if (!M::narrow) add("argmax", argmax<M>);  // bfloat16 cannot represent positions
  if (Fused) {                               // the same in both modes
    add("cumsum", cumsum<M>);
    add("sort", sort<M>);
  }
}

/// The most informative cases first, in case time runs out.
template <class D>
void add_all_rows() {
  add_rows<D, true, float>();
  add_rows<D, true, sn::bfloat16>();
  add_rows<D, false, float>();
  add_rows<D, false, sn::bfloat16>();
}

}  // namespace bench
