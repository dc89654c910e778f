// The implementation of Tensor: compiled code on untyped arrays, and the checks that tensors' types allow at compile
// time.
#pragma once
#include <complex>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <utility>

#include <sinter/dsl/bind.hpp>
#include <sinter/dsl/extents.hpp>
#include <sinter/dsl/operators.hpp>
#include <sinter/dsl/value.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {

template <class T>
concept element_or_any = element<T> || std::is_same_v<T, AnyType>;

template <element_or_any T, class D = AnyDevice, class X = AnyExtents>
class Tensor;

/// A tensor whose dtype is known only at run time, such as one read from a file.
using AnyTensor = Tensor<AnyType, AnyDevice>;

namespace detail {

/// Throw DeviceError or DTypeError naming the tensor's own and the requested device or dtype.
void check_device_kind(const TensorImpl& t, Device wanted, bool any_index);
void check_dtype(const TensorImpl& t, DType wanted);
std::int64_t extent(const TensorImpl& t, std::int64_t axis);
/// Throws DeviceError: a tensor on a mesh has no single address.
[[noreturn]] void throw_many_addresses(const TensorImpl& t);
/// The shard of rank i. Throws DeviceError for a tensor that is not on a mesh, IndexError.
TensorRef shard_at(const TensorImpl& t, int i);
template <class D>
inline constexpr bool may_be_on_mesh = std::is_same_v<D, Mesh> || std::is_same_v<D, AnyDevice>;
/// The tensor itself, or, for a tensor on a mesh, all of it gathered on the CPU.
TensorRef on_one_device(const TensorImpl& t);
/// Copies the only element to `to`. Throws Error unless there is exactly one.
void read_item(const TensorImpl& t, void* to);
/// Copies the elements to `to`, row-major.
void read_elements(TensorImpl& t, void* to);
std::ostream& print(std::ostream& out, const TensorImpl& t);
/// Several results by name: "(\nvalues=tensor([3.]),\nindices=tensor([0]))".
std::ostream& print(std::ostream& out, std::initializer_list<std::pair<std::string_view, const TensorImpl&>> results);
TensorRef pin_memory(TensorImpl& t);
/// Throws DeviceError for a tensor on a GPU, Error if it must be contiguous and is not.
void check_host_access(const char* what, const TensorImpl& t, bool contiguous);
/// Throws ShapeError if t has another number of axes.
void check_accessor_ndim(const TensorImpl& t, int ndim);
#define SINTER_ACCESS_OF_TEMPORARY "the result would outlive the tensor: give the tensor a name first"
/// Writes one value to every element. Throws DTypeError if its category is higher than the dtype's, Error if the dtype
/// cannot hold it.
void fill(TensorImpl& t, Number value);
/// Throws DTypeError or Error, naming the operation and x, if fill would.
void check_number(const char* what, const TensorImpl& x, Number value);
/// Rethrows the current exception; an error about operands is preceded by a description of masked_fill_'s operands.
[[noreturn]] void rethrow_fill(const TensorImpl& x, const Shape& mask, const std::optional<Shape>& value);
/// Empty for a number.
template <class A>
std::optional<Shape> shape_of_value(const A& value) {
  if constexpr (expression<A>)
    return value.shape();
  else
    return {};
}
/// A 0-d tensor of that value with t's dtype and device; throws as fill does.
TensorRef scalar_like(const TensorImpl& t, Number value);

/// The real type of a complex element's parts, and the complex type with such parts; AnyType for AnyType.
template <class T>
struct PartsOf {
  using part = T;
  using whole = std::conditional_t<std::is_same_v<T, AnyType>, AnyType, std::complex<T>>;
};
template <complex_element T>
struct PartsOf<T> {
  using part = typename T::value_type;
  using whole = T;
};
template <class T>
using part_type = typename PartsOf<T>::part;
template <class T>
using complex_type = typename PartsOf<T>::whole;

template <class D>
void check_device(const TensorImpl& t) {
  if constexpr (std::is_same_v<D, Cpu>)
    check_device_kind(t, Device(), false);
  else if constexpr (std::is_same_v<D, Mesh>)
    Mesh::of(t.device);
  else if constexpr (!std::is_same_v<D, AnyDevice>)
    check_device_kind(t, Device(D{}), std::is_same_v<D, Cuda<>>);
}

/// The error message for every use with another element type.
template <class From, class To>
inline constexpr bool same_dtype =
    std::is_same_v<From, To> || std::is_same_v<To, AnyType> || std::is_same_v<From, Unknown>;
template <class From, class To>
inline constexpr bool device_fits = widens<From, To> || std::is_same_v<From, ErrorDevice>;

template <class U, class From, class T, class D>
inline constexpr bool checked_at_run_time =
    (!same_dtype<U, T> && std::is_same_v<U, AnyType>) || (!device_fits<From, D> && same_device<From, D>);
template <class From, class X>
inline constexpr bool extents_fit = must_be(shape_of_extents<From>, shape_of_extents<X>);
template <class From, class X>
inline constexpr bool extents_may_fit = may_be(shape_of_extents<From>, shape_of_extents<X>);

/// The template arguments that a Tensor deduces from an expression.
template <class E>
using deduced_element = std::conditional_t<is_error<E>, AnyType, value_type_of<E>>;
template <class E>
using deduced_device = std::conditional_t<std::is_same_v<typename std::remove_cvref_t<E>::device_type, ErrorDevice> ||
                                              std::is_same_v<typename std::remove_cvref_t<E>::device_type, NoDevice>,
                                          AnyDevice, typename std::remove_cvref_t<E>::device_type>;

/// Evaluates into `result`, or into a new array if it is null.
template <class E>
void evaluate_into(const E& e, TensorRef& result, jit::Mode mode = jit::Mode::Fused) {
  jit::evaluate(detail::bind(e), &result, mode);
}
/// The argument of evaluation.
template <class E>
jit::Bound evaluation_of(const E& e) {
  return bind(e);
}
/// The argument of inspection: a Lazy counts as not evaluated yet.
template <class E>
jit::Bound description(const E& e) {
  return detail::bind(e);
}
template <class E>
TensorRef evaluate_one(const E& e, jit::Mode mode = jit::Mode::Fused) {
  TensorRef result;
  evaluate_into(e, result, mode);
  return result;
}

}  // namespace detail
}  // namespace sinter::inline v1
