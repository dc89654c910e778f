// Tensors from values: sn::tensor({{1, 2}, {3, 4}}), sn::tensor(vector, {2, 3}).
#pragma once
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <vector>

#include <sinter/dsl/tensor.hpp>
#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1 {

namespace detail {

/// As in PyTorch, integer literals give int64, floating ones float, complex ones complex<float>; T overrides this.
template <class T, class S>
struct LiteralType {
  using type = T;
};
template <class S>
struct LiteralType<void, S> {
  using type = std::conditional_t<complex_scalar<S>, std::complex<float>,
                                  std::conditional_t<std::is_same_v<S, bool>, bool,
                                                     std::conditional_t<std::is_integral_v<S>, std::int64_t, float>>>;
};
template <class T, class S>
using literal_type = typename LiteralType<T, S>::type;

/// A contiguous tensor of these host values, on `device`.
TensorRef from_host(const void* values, const Shape& shape, DType dtype, Device device);
[[noreturn]] void throw_ragged(std::size_t expected, std::size_t got);
[[noreturn]] void throw_wrong_count(std::size_t values, const Shape& shape);

template <class T>
class Flattened {
 public:
  void add(Number value) { values_.push_back(element_of<T>(value)); }
  template <std::same_as<T> S>
  void add(S value) {
    values_.push_back(value);
  }
  template <class Inner>
  void add(std::initializer_list<Inner> row) {
    for (const Inner& x : row) add(x);
  }
  template <class D>
  Tensor<T, device_type_of<D>> on(const Shape& shape, const D& device) const {
    return Tensor<T, device_type_of<D>>(from_host(values_.data(), shape, dtype_of<T>, Device(device)));
  }

 private:
  using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;  // vector<bool> has no data()
  // Numbers are converted here, whatever floating-point mode the program has set.
  const runtime::DefaultFloatEnvironment floats_;
  std::vector<Stored> values_;
};

template <class Inner>
std::size_t common_size(std::initializer_list<std::initializer_list<Inner>> rows) {
  const std::size_t n = rows.size() == 0 ? 0 : rows.begin()->size();
  for (const auto& row : rows)
    if (row.size() != n) throw_ragged(n, row.size());
  return n;
}

template <class R>
using range_number = std::iter_value_t<decltype(std::begin(std::declval<const R&>()))>;
/// The range's element type if Sinter has it, else that of a literal.
template <class T, class S>
using range_type = literal_type<std::conditional_t<std::is_void_v<T> && element<S>, S, T>, S>;

}  // namespace detail

// All of these throw Error for a value that the dtype cannot hold: an integer, or a float's whole part, outside an
// integer dtype's range (floats lose their fraction there), or a complex number in a real dtype. Float dtypes round, to
// infinity beyond their largest number.

/// A 0-d tensor.
template <class T = void, detail::cpp_scalar S, device_argument D = Cpu>
Tensor<detail::literal_type<T, S>, device_type_of<D>> tensor(S value, const D& device = {}) {
  detail::Flattened<detail::literal_type<T, S>> flat;
  flat.add(value);
  return flat.on(Shape(), device);
}
/// One to three levels of braces. Throws ShapeError if rows differ in length.
template <class T = void, detail::cpp_scalar S, device_argument D = Cpu>
Tensor<detail::literal_type<T, S>, device_type_of<D>> tensor(std::initializer_list<S> values, const D& device = {}) {
  detail::Flattened<detail::literal_type<T, S>> flat;
  flat.add(values);
  return flat.on(Shape(values.size()), device);
}
template <class T = void, detail::cpp_scalar S, device_argument D = Cpu>
Tensor<detail::literal_type<T, S>, device_type_of<D>> tensor(std::initializer_list<std::initializer_list<S>> rows,
                                                             const D& device = {}) {
  detail::Flattened<detail::literal_type<T, S>> flat;
  flat.add(rows);
  return flat.on(Shape(rows.size(), detail::common_size(rows)), device);
}
template <class T = void, detail::cpp_scalar S, device_argument D = Cpu>
Tensor<detail::literal_type<T, S>, device_type_of<D>> tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<S>>> blocks, const D& device = {}) {
  detail::Flattened<detail::literal_type<T, S>> flat;
  flat.add(blocks);
  const std::size_t rows = detail::common_size(blocks);
  std::size_t columns = rows == 0 ? 0 : blocks.begin()->begin()->size();
  for (const auto& block : blocks)
    if (rows > 0 && detail::common_size(block) != columns) detail::throw_ragged(columns, block.begin()->size());
  return flat.on(Shape(blocks.size(), rows, columns), device);
}

/// Numbers of several types in one pair of braces, from which C++ deduces no type: T is required.
template <class T = void, device_argument D = Cpu>
Tensor<detail::literal_type<T, float>, device_type_of<D>> tensor(std::initializer_list<detail::Number> values,
                                                                 const D& device = {}) {
  static_assert(!std::is_void_v<T>, "braces of several types, or of nothing, need a dtype: tensor<float>({1.5, 2})");
  detail::Flattened<detail::literal_type<T, float>> flat;
  flat.add(values);
  return flat.on(Shape(values.size()), device);
}

/// The values of any range, in row-major order, with the range's element type; integer types that Sinter lacks give
/// int64. Throws ShapeError if the shape has another number of elements.
template <class T = void, class R, device_argument D = Cpu>
  requires(detail::cpp_scalar<detail::range_number<R>>)
auto tensor(const R& values, const Shape& shape, const D& device = {}) {
  using S = detail::range_number<R>;
  detail::Flattened<detail::range_type<T, S>> flat;
  std::size_t given = 0;
  for (const S v : values) flat.add(v), ++given;
  if (static_cast<std::int64_t>(given) != shape.numel()) detail::throw_wrong_count(given, shape);
  return flat.on(shape, device);
}
/// A 1-d tensor of a range's numbers.
template <class T = void, class R, device_argument D = Cpu>
  requires(detail::cpp_scalar<detail::range_number<R>> && !std::is_integral_v<D>)
auto tensor(const R& values, const D& device = {}) {
  return tensor<T>(values, Shape(std::distance(std::begin(values), std::end(values))), device);
}

}  // namespace sinter::inline v1
