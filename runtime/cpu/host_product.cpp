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
#include "../parts.hpp"
#include "blas.hpp"

namespace sinter::inline v1::runtime {
namespace {

void check_extents(const MatrixProduct& p) {
  for (const std::int64_t extent : {p.rows, p.columns, p.inner, p.a.leading, p.b.leading, p.c.leading})
    if (extent > std::numeric_limits<int>::max())
      throw ShapeError(fmt::format(
          "a product of matrices ({} x {}) ({} x {}) with rows {}, {} and {} elements apart: OpenBLAS counts "
          "to 2^31 - 1; multiply parts of the matrices, by slices",
          p.rows, p.inner, p.inner, p.columns, p.a.leading, p.b.leading, p.c.leading));
}

int as_int(std::int64_t extent) noexcept { return static_cast<int>(extent); }
int transpose_of(const Matrix& m) noexcept { return m.transposed ? blas_transposed : blas_as_it_is; }

/// One matrix of a batch.
template <class T>
T* element(const Matrix& m, std::int64_t number) noexcept {
  return reinterpret_cast<T*>(m.data) + number * m.step;
}

template <class T>
void multiply_one(const MatrixProduct& p, const T* a, const T* b, T* c) {
  const auto call = [&](auto gemm, auto alpha, auto beta) {
    const InBlas in_blas;
    gemm(blas_row_major, transpose_of(p.a), transpose_of(p.b), as_int(p.rows), as_int(p.columns), as_int(p.inner),
         alpha, a, as_int(p.a.leading), b, as_int(p.b.leading), beta, c, as_int(p.c.leading));
  };
  using Real = decltype(std::abs(T()));
  const T alpha(static_cast<Real>(p.alpha)), beta(static_cast<Real>(p.addend.data ? p.beta : 0));
  if constexpr (std::is_same_v<T, float>)
    call(blas().cblas_sgemm, alpha, beta);
  else if constexpr (std::is_same_v<T, double>)
    call(blas().cblas_dgemm, alpha, beta);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    call(blas().cblas_cgemm, &alpha, &beta);
  else
    call(blas().cblas_zgemm, &alpha, &beta);
}

/// BLAS adds to what is in c already.
template <class T>
void place_addend(const MatrixProduct& p, std::int64_t number) {
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

constexpr std::int64_t lines_at_once = 16;  // that a thread converts

/// `line_count` lines of `length` elements each; from(i) and to(i) are where line i is.
template <class From, class To>
void convert_lines(std::int64_t line_count, std::int64_t length, From from, To to) {
  for_each_part((line_count + lines_at_once - 1) / lines_at_once, [&](std::int64_t part) {
    const DefaultFloats floats;
    for (std::int64_t line = part * lines_at_once; line < std::min(line_count, (part + 1) * lines_at_once); ++line)
      for (std::int64_t i = 0; i < length; ++i)
        to(line)[i] = static_cast<std::remove_reference_t<decltype(*to(0))>>(static_cast<float>(from(line)[i]));
  });
}

/// A matrix of 16-bit floats as one of floats without gaps.
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

/// Through float32, as OpenBLAS has no products of 16-bit floats on every processor.
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
    default: throw DtypeError(fmt::format("matrices of {} are not multiplied: convert to float32", name(p.dtype)));
  }
}

}  // namespace sinter::inline v1::runtime
