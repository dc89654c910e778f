// Products of matrices: matmul and its kin. They are parts of expressions as other operations are; OpenBLAS computes
// them on the CPU, cuBLAS on GPUs, and what is elementwise around them is fused into kernels before and after.
//
// Operands are of one dtype, float's or a complex one, which is the result's; nothing converts. Sums of 16-bit floats
// add up in float. Transposed operands (x.t()) and slices are read where they lie. Shapes are looked at when the
// expression is evaluated, or asked for its shape: ShapeError says which do not go together.
#pragma once
#include <initializer_list>

#include <sinter/dsl/facts.hpp>
#include <sinter/dsl/operators.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Throws ShapeError for an operand with another number of axes.
void check_ranks(std::string_view operation, const Facts& a, int rank_of_a, const Facts& b, int rank_of_b);

#define SINTER_MULTIPLIED "matrix products take two tensors or expressions: multiply by a number with *"
#define SINTER_PRODUCT_DTYPES \
  "matrix products take operands of one dtype, of floats or complex numbers: convert one with cast<T>(x)"

#define SINTER_RANKS_OUTSIDE                                                                                       \
  "mm, bmm, mv and dot look at how many dimensions their operands have, which is not known of a part that let or " \
  "function named: write matmul(a, b) inside"

/// What is known of two operands before they meet.
template <class A, class B>
struct ProductCheck {
  static constexpr bool operands = false, reported = true, dtypes = true;
};
template <expression A, expression B>
struct ProductCheck<A, B> {
  static constexpr bool operands = true, reported = is_reported<A> || is_reported<B>;
  static constexpr bool dtypes = reported || ResultType<Op::matmul, value_type_of<A>, value_type_of<B>>::ok;
};

template <class A, class B>
auto MatMul::operator()(A&& a, B&& b) const {
  using Check = ProductCheck<A, B>;
  static_assert(Check::operands, SINTER_MULTIPLIED);
  static_assert(same_device<device_of<A>, device_of<B>>, SINTER_DIFFERENT_DEVICES);
  static_assert(Check::dtypes, SINTER_PRODUCT_DTYPES);
  if constexpr (Check::reported || !Check::dtypes)
    return Reported();
  else
    return apply<Op::matmul>(std::forward<A>(a), std::forward<B>(b));
}

/// Products of operands with so many axes.
template <int rank_of_a, int rank_of_b>
struct RankedMatMul {
  const char* name;

  template <class A, class B>
  auto operator()(A&& a, B&& b) const {
    if constexpr (ProductCheck<A, B>::reported) {
      return MatMul{}(std::forward<A>(a), std::forward<B>(b));
    } else {
      constexpr bool are_known = !names_outside<lifted<A>> && !names_outside<lifted<B>>;
      static_assert(are_known, SINTER_RANKS_OUTSIDE);
      if constexpr (!are_known) {
        return Reported();
      } else {
        check(lift(a), lift(b));
        return MatMul{}(std::forward<A>(a), std::forward<B>(b));
      }
    }
  }

 private:
  template <class A, class B>
  void check(const A& a, const B& b) const {
    if (operand_rank(a) != rank_of_a || operand_rank(b) != rank_of_b)
      check_ranks(name, facts_of(a), rank_of_a, facts_of(b), rank_of_b);
  }
};

}  // namespace detail

/// The matrix product, by torch.matmul's rules: of (..., m, k) and (..., k, n) it is (..., m, n), where the axes before
/// the last two broadcast; a vector (k,) is a row on the left and a column on the right, and its axis goes.
inline constexpr detail::MatMul matmul{};
/// Of (m, k) and (k, n): (m, n). This one and the next three are not for parts that let or function named, whose
/// dimensions are not known.
inline constexpr detail::RankedMatMul<2, 2> mm{"mm"};
/// Of (b, m, k) and (b, k, n): (b, m, n).
inline constexpr detail::RankedMatMul<3, 3> bmm{"bmm"};
/// Of (m, k) and (k,): (m,).
inline constexpr detail::RankedMatMul<2, 1> mv{"mv"};
/// Of (k,) and (k,): a number.
inline constexpr detail::RankedMatMul<1, 1> dot{"dot"};

/// x + a b, and beta x + alpha a b: x broadcasts to (m, n). A NaN of x stays one even where beta is 0.
template <class X, class A, class B>
auto addmm(X&& x, A&& a, B&& b) {
  return std::forward<X>(x) + mm(std::forward<A>(a), std::forward<B>(b));
}
template <class X, class A, class B, detail::cpp_scalar Beta, detail::cpp_scalar Alpha = double>
auto addmm(X&& x, A&& a, B&& b, Beta beta, Alpha alpha = 1) {
  return beta * std::forward<X>(x) + alpha * mm(std::forward<A>(a), std::forward<B>(b));
}

/// The same of batches: x broadcasts to (b, m, n).
template <class X, class A, class B>
auto baddbmm(X&& x, A&& a, B&& b) {
  return std::forward<X>(x) + bmm(std::forward<A>(a), std::forward<B>(b));
}
template <class X, class A, class B, detail::cpp_scalar Beta, detail::cpp_scalar Alpha = double>
auto baddbmm(X&& x, A&& a, B&& b, Beta beta, Alpha alpha = 1) {
  return beta * std::forward<X>(x) + alpha * bmm(std::forward<A>(a), std::forward<B>(b));
}

/// All products of an element of a and one of b: of (m,) and (n,) it is (m, n). Elementwise, so it fuses; of any
/// dtypes. Throws ShapeError for an operand with another number of axes.
template <expression A, expression B>
auto outer(const A& a, const B& b) {
  if constexpr (!detail::is_reported<A> && !detail::is_reported<B>)
    detail::check_ranks("outer", detail::facts_of(detail::lift(a)), 1, detail::facts_of(detail::lift(b)), 1);
  return a.unsqueeze(1) * b.unsqueeze(0);
}

}  // namespace sinter::inline v1
