#include "host_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../parallel.hpp"
#include "blas.hpp"

namespace sinter::inline v1::runtime {
namespace {

void check_extents(const MatrixProduct& p) {
  for (const std::int64_t extent : {p.rows, p.columns, p.inner, p.a.leading, p.b.leading, p.c.leading})
    if (extent > std::numeric_limits<int>::max())
      throw ShapeError(fmt::format(
          "a matrix product ({} x {}) ({} x {}) with row strides of {}, {} and {} elements: OpenBLAS supports up to "
          "2^31 - 1; multiply slices of the matrices",
          p.rows, p.inner, p.inner, p.columns, p.a.leading, p.b.leading, p.c.leading));
}

int as_int(std::int64_t extent) noexcept { return static_cast<int>(extent); }
int transpose_of(const Matrix& m) noexcept { return m.transposed ? blas_transposed : blas_as_it_is; }

/// One matrix of a batch.
template <class T>
T* element(const Matrix& m, std::int64_t number) noexcept {
  return reinterpret_cast<T*>(m.data) + number * m.step;
}

double multiplications(const MatrixProduct& p) noexcept {
  return static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.inner);
}

/// Whether the product is with a row or a column, for which gemm would pack the whole matrix first. Complex products
/// use gemm: OpenBLAS 0.3.21's zgemv for SkylakeX reads past the end of its operands.
bool goes_to_gemv(const MatrixProduct& p) {
  return (p.rows == 1 || p.columns == 1) && category(p.dtype) == Category::Float &&
         multiplications(p) > blas().unpacked;
}

/// The BLAS function for T.
template <class T, class S, class D, class C, class Z>
auto function_of(S of_float, D of_double, C of_complex_float, Z of_complex_double) noexcept {
  if constexpr (std::is_same_v<T, float>)
    return of_float;
  else if constexpr (std::is_same_v<T, double>)
    return of_double;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return of_complex_float;
  else
    return of_complex_double;
}

/// A factor in the form that these functions take.
template <class T>
class Factor {
 public:
  using Real = decltype(std::abs(T()));
  explicit Factor(double number) noexcept : number_(static_cast<Real>(number)) {}
  auto get() const noexcept {
    if constexpr (std::is_same_v<T, Real>)
      return number_;
    else
      return static_cast<const void*>(&number_);
  }

 private:
  T number_;
};

/// For a row or a column: c = alpha m x + beta c.
template <class T>
void multiply_vector(const MatrixProduct& p, const T* a, const T* b, T* c) {
  const bool is_column = p.columns == 1;
  const Matrix& m = is_column ? p.a : p.b;
  const bool adds_lines = m.transposed == is_column;  // else each element of c is the sum over a line of m
  const std::int64_t results = is_column ? p.rows : p.columns, step = is_column ? p.c.leading : 1;
  const std::int64_t step_of_x = is_column ? (p.b.transposed ? 1 : p.b.leading) : p.a.transposed ? p.a.leading : 1;
  if (!p.addend.data)  // not every version clears a NaN for beta = 0
    for (std::int64_t i = 0; i < results; ++i) c[i * step] = 0;
  const Factor<T> alpha(p.alpha), beta(p.addend.data ? p.beta : 1);
  const Blas& f = blas();
  const auto gemv = function_of<T>(f.cblas_sgemv, f.cblas_dgemv, nullptr, nullptr);
  const InBlas in_blas;
  gemv(blas_row_major, adds_lines ? blas_transposed : blas_as_it_is, as_int(adds_lines ? p.inner : results),
       as_int(adds_lines ? results : p.inner), alpha.get(), is_column ? a : b, as_int(m.leading), is_column ? b : a,
       as_int(step_of_x), beta.get(), c, as_int(step));
}

template <class T>
void multiply_one(const MatrixProduct& p, const T* a, const T* b, T* c) {
  if constexpr (std::is_floating_point_v<T>)
    if (goes_to_gemv(p)) return multiply_vector(p, a, b, c);
  const Factor<T> alpha(p.alpha), beta(p.addend.data ? p.beta : 0);
  const Blas& f = blas();
  const auto gemm = function_of<T>(f.cblas_sgemm, f.cblas_dgemm, f.cblas_cgemm, f.cblas_zgemm);
  const InBlas in_blas;
  gemm(blas_row_major, transpose_of(p.a), transpose_of(p.b), as_int(p.rows), as_int(p.columns), as_int(p.inner),
       alpha.get(), a, as_int(p.a.leading), b, as_int(p.b.leading), beta.get(), c, as_int(p.c.leading));
}

/// BLAS adds to the old content of c.
template <class T>
void place_addend(const MatrixProduct& p, std::int64_t number) {
  if (p.addend.data == p.c.data) return;
  for (std::int64_t row = 0; row < p.rows; ++row)
    std::copy_n(element<const T>(p.addend, number) + row * p.addend.leading, p.columns,
                element<T>(p.c, number) + row * p.c.leading);
}

template <class T>
void multiply_all(const MatrixProduct& p) {
  for (std::int64_t i = 0; i < p.batch; ++i) {
    if (p.addend.data) place_addend<T>(p, i);
    multiply_one(p, element<const T>(p.a, i), element<const T>(p.b, i), element<T>(p.c, i));
  }
}

constexpr std::int64_t lines_at_once = 16;  // number of lines that a thread converts at a time

/// Converts `line_count` lines of `length` elements each, from from(i) to to(i).
template <class From, class To>
void convert_lines(std::int64_t line_count, std::int64_t length, From from, To to) {
  parallel_for((line_count + lines_at_once - 1) / lines_at_once, [&](std::int64_t part) {
    const DefaultFloatEnvironment floats;
    for (std::int64_t line = part * lines_at_once; line < std::min(line_count, (part + 1) * lines_at_once); ++line)
      for (std::int64_t i = 0; i < length; ++i)
        to(line)[i] = static_cast<std::remove_reference_t<decltype(*to(0))>>(static_cast<float>(from(line)[i]));
  });
}

/// A matrix of 16-bit floats, converted to contiguous floats.
template <class T>
class Widened {
 public:
  Widened(const Matrix& of, std::int64_t rows, std::int64_t columns)
      : of_(of), lines_(of.transposed ? columns : rows), length_(of.transposed ? rows : columns) {
    floats_.resize(static_cast<std::size_t>(lines_ * length_));
  }
  std::int64_t leading() const noexcept { return length_; }
  float* data() noexcept { return floats_.data(); }
  void read(std::int64_t number) {
    convert_lines(
        lines_, length_, [&](std::int64_t line) { return element<const T>(of_, number) + line * of_.leading; },
        [&](std::int64_t line) { return floats_.data() + line * length_; });
  }
  void write(std::int64_t number) {
    convert_lines(
        lines_, length_, [&](std::int64_t line) { return floats_.data() + line * length_; },
        [&](std::int64_t line) { return element<T>(of_, number) + line * of_.leading; });
  }

 private:
  const Matrix& of_;
  std::int64_t lines_, length_;
  std::vector<float> floats_;
};

/// Through float32, since OpenBLAS does not support 16-bit products on every processor.
template <class T>
void multiply_widened(const MatrixProduct& p) {
  Widened<T> a(p.a, p.rows, p.inner), b(p.b, p.inner, p.columns), c(p.c, p.rows, p.columns);
  MatrixProduct wide = p;
  wide.a.leading = a.leading(), wide.b.leading = b.leading(), wide.c.leading = c.leading();
  for (std::int64_t i = 0; i < p.batch; ++i) {
    if (i == 0 || p.a.step != 0) a.read(i);
    if (i == 0 || p.b.step != 0) b.read(i);
    if (p.addend.data) place_addend<T>(p, i), c.read(i);
    multiply_one<float>(wide, a.data(), b.data(), c.data());
    c.write(i);
  }
}

}  // namespace

void multiply_on_host(const MatrixProduct& p) {
  check_extents(p);
  switch (p.dtype) {
    case DType::Float16: return multiply_widened<half>(p);
    case DType::BFloat16: return multiply_widened<bfloat16>(p);
    case DType::Float32: return multiply_all<float>(p);
    case DType::Float64: return multiply_all<double>(p);
    case DType::Complex64: return multiply_all<std::complex<float>>(p);
    case DType::Complex128: return multiply_all<std::complex<double>>(p);
    default:
      throw DTypeError(fmt::format("matrices of {} cannot be multiplied: convert them to float32", name(p.dtype)));
  }
}

}  // namespace sinter::inline v1::runtime
