// Conversion of Python objects to Sinter's values. All functions throw TypeError naming the function and the argument.
#pragma once
#include <optional>
#include <string_view>

#include <sinter/dsl/state_dict.hpp>

#include "object.hpp"

namespace sinter::python {

/// "3 (int)", "an object of type numpy.ndarray", "the class int".
std::string describe(nb::handle object);
[[noreturn]] void throw_type_error(const std::string& what);
/// "load_npy: the argument 'file' must be a str or a path, but got 3 (int)".
[[noreturn]] void throw_wrong(std::string_view function, std::string_view argument, std::string_view expected,
                              nb::handle got);

/// The same for a dict, by one of its items: "..., but it holds 3 (int) under the name 'x'".
[[noreturn]] void throw_wrong_item(std::string_view function, std::string_view argument, std::string_view expected,
                                   nb::handle name, nb::handle got);
[[noreturn]] void throw_overflow(const std::string& what);

/// A list, a tuple or a range.
bool is_list(nb::handle object);
/// Lists as tuples, which keep their items: a value of the object is valid while this is.
nb::object frozen(nb::handle object, int depth = 0);
/// The int of an object with __index__. Throws what that raises.
nb::object index_of(nb::handle object);
/// Whether an object, unlike a class, has the method __dlpack__.
bool has_dlpack(nb::handle object);
/// np.float32(2): operands accept NumPy scalars like Python numbers.
bool is_numpy_scalar(nb::handle object);
/// The NumPy scalars that are numbers or bools, unlike np.datetime64.
bool is_numpy_number(nb::handle object);
/// True, False, np.True_ and np.False_, which are not valid positions.
bool is_bool(nb::handle object);
/// A Python or NumPy number; nullopt for other objects. Throws OverflowError, which names the function, beyond 64 bits.
std::optional<TextNumber> number_from(std::string_view function, nb::handle object);
/// A tensor, an expression, a number, a tuple or list of these, a text, a dtype, a device, a generator, or None. It is
/// valid while the object is, which is frozen if it is a list. Other objects are values that no function takes.
TextValue value_from(std::string_view function, nb::handle object);
/// For a parameter passed by name: `dtype` and `device` may be texts.
TextValue value_from(std::string_view function, std::string_view parameter, nb::handle object);

struct ArgumentValues {
  std::vector<nb::object> objects;
  std::vector<TextValue> values;   // of the objects
  std::vector<std::string> names;  // names of the last values
};
/// The arguments of a call, positional ones first. Throws TypeError for what no function takes.
ArgumentValues read_arguments(std::string_view function, const nb::tuple& positional, const nb::dict& keywords);
/// A dtype: sinter_jit.float32, "float32", "f32", numpy.float32, numpy.dtype("f4").
DType dtype_from(std::string_view function, nb::handle object, std::string_view argument = "dtype");
/// As dtype_from; nullopt for None.
std::optional<DType> optional_dtype_from(std::string_view function, nb::handle object);
/// "cuda:0", sinter_jit.device("cuda:0"), or the number of a GPU.
Device device_from(std::string_view function, nb::handle object, std::string_view argument = "device");
/// The CPU for None.
Device optional_device_from(std::string_view function, nb::handle object);
/// True or False, also NumPy's, as a parameter of a function.
struct Flag {
  bool value;
  constexpr operator bool() const noexcept { return value; }
};
/// True or False; nullopt for None.
std::optional<bool> flag_from(std::string_view function, std::string_view argument, nb::handle object);
/// The items of any iterable but a str.
nb::list items_of(std::string_view function, std::string_view argument, std::string_view expected, nb::handle object);
std::int64_t integer_from(std::string_view function, nb::handle object);
/// A str, or the path in an object with __fspath__.
std::string path_from(std::string_view function, std::string_view argument, nb::handle object);
/// The text of a Python str.
std::string string_from(nb::handle text);
/// The same, valid while the object is.
std::string_view text_in(nb::handle text);

nb::tuple tuple_of(const Shape& shape);
nb::dict dict_of(const StateDict& state);
/// Tensors and expressions by name, in a dict or another object with items().
StateDict state_from(std::string_view function, std::string_view argument, nb::handle tensors);
/// Nested lists and numbers as a tensor.
TensorRef tensor_of_numbers(std::string_view function, nb::handle data, std::optional<DType> dtype, Device device);
/// A tensor over the memory of an object with the buffer protocol; a copy if that is read-only or has a layout that
/// Sinter does not support. Throws Error if a copy is necessary but `copy` is false.
TensorRef tensor_of_buffer(nb::handle object, std::optional<bool> copy);
/// From an object with __dlpack__, or from its capsule.
TensorRef tensor_of_dlpack(nb::handle object, std::optional<bool> copy);

}  // namespace sinter::python

template <>
struct nanobind::detail::type_caster<sinter::python::Flag> {
  NB_TYPE_CASTER(sinter::python::Flag, const_name("bool"))

  bool from_python(handle object, std::uint8_t, cleanup_list*) {
    if (!sinter::python::is_bool(object)) return false;
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0) raise_python_error();
    value.value = truth == 1;
    return true;
  }
};
