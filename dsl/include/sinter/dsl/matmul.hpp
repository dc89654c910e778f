// Matrix products: matmul and its variants. They are parts of expressions like other operations. OpenBLAS computes them
// on the CPU and cuBLAS on GPUs; the elementwise parts around them are fused into kernels before and after.
//
// All operands have one floating or complex dtype, which is the result's; nothing is converted. Products of 16-bit
// floats accumulate in float. Transposed operands (x.t()) and slices are read in place. Shapes are checked when the
// expression is evaluated or asked for its shape; a mismatch is a ShapeError.
#pragma once
#include <initializer_list>

#include <sinter/dsl/operand_info.hpp>
#include <sinter/dsl/operators.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Throws ShapeError if an operand has another number of axes.
void check_ndims(std::string_view operation, const OperandInfo& a, int ndim_of_a, const OperandInfo& b, int ndim_of_b);

#define SINTER_MULTIPLIED "matrix products take two tensors or expressions: multiply by a number with *"
#define SINTER_PRODUCT_DTYPES \
  "matrix products take operands of one dtype, of floats or complex numbers: convert one with cast<T>(x)"

#define SINTER_NDIM_OUTSIDE                                                                \
  "mm, bmm, mv and dot check how many dimensions their operands have, which is not known " \
  "inside the body of let or function: write matmul(a, b) there"

/// Properties of two operands that are known before the product is computed.
template <class A, class B>
struct ProductCheck {
  static constexpr bool operands = false, reported = true, dtypes = true;
};
template <expression A, expression B>
struct ProductCheck<A, B> {
  static constexpr bool operands = true, reported = is_error<A> || is_error<B>;
  static constexpr bool dtypes = reported || ResultType<Op::matmul, value_type_of<A>, value_type_of<B>>::ok;
};

template <class A, class B>
auto MatMul::operator()(A&& a, B&& b) const {
  using Check = ProductCheck<A, B>;
  static_assert(Check::operands, SINTER_MULTIPLIED);
  static_assert(same_device<device_of<A>, device_of<B>>, SINTER_DIFFERENT_DEVICES);
  static_assert(Check::dtypes, SINTER_PRODUCT_DTYPES);
  if constexpr (Check::reported || !Check::dtypes)
    return ErrorExpression();
  else
    return apply<Op::matmul>(std::forward<A>(a), std::forward<B>(b));
}

/// Products of operands with these numbers of axes.
template <int ndim_of_a, int ndim_of_b>
struct FixedNdimMatMul {
  const char* name;

  template <class A, class B>
  auto operator()(A&& a, B&& b) const {
    if constexpr (ProductCheck<A, B>::reported) {
      return MatMul{}(std::forward<A>(a), std::forward<B>(b));
    } else {
      constexpr bool are_known = !has_free_names<lifted<A>> && !has_free_names<lifted<B>>;
      static_assert(are_known, SINTER_NDIM_OUTSIDE);
      if constexpr (!are_known) {
        return ErrorExpression();
      } else {
        check(lift(a), lift(b));
        return MatMul{}(std::forward<A>(a), std::forward<B>(b));
      }
    }
  }

 private:
  template <class A, class B>
  void check(const A& a, const B& b) const {
    if (operand_ndim(a) != ndim_of_a || operand_ndim(b) != ndim_of_b)
      check_ndims(name, info_of(a), ndim_of_a, info_of(b), ndim_of_b);
  }
};

}  // namespace detail

/// The matrix product, by torch.matmul's rules: (..., m, k) times (..., k, n) is (..., m, n), where the axes before the
/// last two broadcast. A vector (k,) is a row on the left and a column on the right, and its axis is dropped.
inline constexpr detail::MatMul matmul{};
/// (m, k) times (k, n): (m, n). This one and the next three do not take parts named by let or function, whose number of
/// dims is unknown.
inline constexpr detail::FixedNdimMatMul<2, 2> mm{"mm"};
/// (b, m, k) times (b, k, n): (b, m, n).
inline constexpr detail::FixedNdimMatMul<3, 3> bmm{"bmm"};
/// (m, k) times (k,): (m,).
inline constexpr detail::FixedNdimMatMul<2, 1> mv{"mv"};
/// (k,) times (k,): a 0-d result.
inline constexpr detail::FixedNdimMatMul<1, 1> dot{"dot"};

/// x + a b, and beta x + alpha a b: x broadcasts to (m, n). NaN in x propagates even if beta is 0.
template <class X, class A, class B>
auto addmm(X&& x, A&& a, B&& b) {
  return std::forward<X>(x) + mm(std::forward<A>(a), std::forward<B>(b));
}
template <class X, class A, class B, detail::cpp_scalar Beta, detail::cpp_scalar Alpha = double>
auto addmm(X&& x, A&& a, B&& b, Beta beta, Alpha alpha = 1) {
  return beta * std::forward<X>(x) + alpha * mm(std::forward<A>(a), std::forward<B>(b));
}

/// addmm for batches: x broadcasts to (b, m, n).
template <class X, class A, class B>
auto baddbmm(X&& x, A&& a, B&& b) {
  return std::forward<X>(x) + bmm(std::forward<A>(a), std::forward<B>(b));
}
template <class X, class A, class B, detail::cpp_scalar Beta, detail::cpp_scalar Alpha = double>
auto baddbmm(X&& x, A&& a, B&& b, Beta beta, Alpha alpha = 1) {
  return beta * std::forward<X>(x) + alpha * bmm(std::forward<A>(a), std::forward<B>(b));
}

/// All products of an element of a and one of b: (m,) and (n,) give (m, n). Elementwise, so it fuses; any dtypes.
/// Throws ShapeError if an operand has another number of axes.
template <expression A, expression B>
auto outer(const A& a, const B& b) {
  if constexpr (!detail::is_error<A> && !detail::is_error<B>)
    detail::check_ndims("outer", detail::info_of(detail::lift(a)), 1, detail::info_of(detail::lift(b)), 1);
  return a.unsqueeze(1) * b.unsqueeze(0);
}

}  // namespace sinter::inline v1
