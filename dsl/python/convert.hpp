// Python's objects as Sinter's values. All of these throw TypeError, naming the function and what it was given.
#pragma once
#include <optional>
#include <string_view>

#include "object.hpp"

namespace sinter::python {

/// "an object of numpy.ndarray".
std::string describe(py::handle object);
[[noreturn]] void throw_type_error(const std::string& what);

/// np.float32(2): operands take NumPy's scalars as Python's numbers.
bool is_numpy_scalar(py::handle object);
/// Of those the numbers and bools: np.datetime64 is none.
bool is_numpy_number(py::handle object);
/// True, False, np.True_ and np.False_, which are no positions.
bool is_bool(py::handle object);
/// A number of Python's or NumPy's; nothing for other objects. Throws OverflowError past 64 bits.
std::optional<TextNumber> number_from(py::handle object);
/// A tensor, an expression, a number, a tuple or list of these, or None.
TextValue value_from(std::string_view function, py::handle object);
/// A dtype: sinter.float32, "float32", "f32", numpy.float32, numpy.dtype("f4").
DType dtype_from(py::handle object);
/// The same; nothing for None.
std::optional<DType> optional_dtype_from(py::handle object);
/// "cuda:0", sinter.device("cuda:0"), or the number of a GPU.
Device device_from(py::handle object);
/// The CPU for None.
Device optional_device_from(py::handle object);
/// True or False; nothing for None.
std::optional<bool> flag_from(py::handle object);
std::int64_t integer_from(std::string_view function, py::handle object);

py::tuple tuple_of(const Shape& shape);
/// Nested lists and numbers as a tensor.
TensorRef tensor_of_numbers(py::handle data, std::optional<DType> dtype, Device device);
/// An object with the buffer protocol as a tensor over its memory; a copy where that is read-only or lies otherwise
/// than Sinter's elements. Throws Error where `copy` is false and it must.
TensorRef tensor_of_buffer(py::handle object, std::optional<bool> copy);
/// An object that has __dlpack__, or a capsule of it.
TensorRef tensor_of_dlpack(py::handle object, std::optional<bool> copy);

}  // namespace sinter::python
