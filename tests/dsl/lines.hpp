// Arrays of any dtype as numbers, and their lines along an axis, for the references of sorts and scans.
#pragma once
#include <random>
#include <vector>

#include <sinter/sinter.hpp>
#include <visit_real.hpp>

namespace sinter_tests {

/// Holds the values of every real dtype.
using Number = long double;
using Numbers = std::vector<Number>;

inline constexpr sinter::DType every_real_dtype[] = {
    sinter::DType::Bool,   sinter::DType::UInt8,   sinter::DType::Int8,     sinter::DType::UInt16,
    sinter::DType::Int16,  sinter::DType::UInt32,  sinter::DType::Int32,    sinter::DType::UInt64,
    sinter::DType::Int64,  sinter::DType::Float16, sinter::DType::BFloat16, sinter::DType::Float32,
    sinter::DType::Float64};

inline sinter::AnyTensor tensor_of(sinter::DType dtype, const sinter::Shape& shape, const Numbers& numbers) {
  const sinter::AnyTensor x(sinter::runtime::empty(shape, dtype, sinter::Device()));
  sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    T* to = reinterpret_cast<T*>(x.impl().data);
    for (const Number n : numbers)
      if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>)
        *to++ = static_cast<T>(n);
      else
        *to++ = T(static_cast<float>(n));
  });
  return x;
}

inline Numbers numbers_of(const sinter::AnyTensor& x) {
  const sinter::AnyTensor here = x.cpu().contiguous();
  Numbers numbers;
  sinter::test::visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = reinterpret_cast<const T*>(here.impl().data);
    for (std::int64_t i = 0; i < here.numel(); ++i) numbers.push_back(static_cast<Number>(from[i]));
  });
  return numbers;
}

/// Values of a dtype with many equal ones, and with extreme and special ones.
inline Numbers random_numbers(sinter::DType dtype, std::int64_t n, std::mt19937& random) {
  const bool whole = category(dtype) != sinter::Category::Float;
  Numbers special;
  if (!whole) {
    special = {NAN, -NAN, INFINITY, -INFINITY, 0.0L, -0.0L};
  } else if (dtype != sinter::DType::Bool) {
    sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
      special = {static_cast<Number>(std::numeric_limits<T>::lowest()),
                 static_cast<Number>(std::numeric_limits<T>::max())};
    });
  }
  Numbers numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<int>(random() & 0xFFFF);
    if (dtype == sinter::DType::Bool)
      numbers.push_back(bits & 1);
    else if (!special.empty() && bits % 16 == 0)
      numbers.push_back(special[static_cast<std::size_t>(bits / 16) % special.size()]);
    else if (bits % 3 == 0)
      numbers.push_back(bits % 11);
    else if (size_of(dtype) == 1)
      numbers.push_back(bits % 100);
    else
      numbers.push_back(is_unsigned(dtype) ? Number(bits)
                        : whole            ? Number(bits - 0x8000)
                                           : Number(static_cast<float>(bits - 0x8000) / 64));
  }
  return numbers;
}

/// The start of a line of a contiguous array, and the distance between its elements.
struct Line {
  std::size_t first, step, length;

  std::size_t at(std::size_t i) const { return first + i * step; }
};

inline std::vector<Line> lines_along(const sinter::Shape& shape, int axis) {
  if (shape.ndim() == 0) return {{0, 1, 1}};
  std::size_t outer = 1, inner = 1;
  const auto length = static_cast<std::size_t>(shape[axis]);
  for (int d = 0; d < shape.ndim(); ++d)
    if (d != (axis < 0 ? axis + shape.ndim() : axis))
      (d < (axis < 0 ? axis + shape.ndim() : axis) ? outer : inner) *= static_cast<std::size_t>(shape[d]);
  std::vector<Line> lines;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) lines.push_back({o * length * inner + i, inner, length});
  return lines;
}

/// Equal, or both NaN.
inline bool same(Number a, Number b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace sinter_tests
