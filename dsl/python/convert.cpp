#include "convert.hpp"

#include <fmt/format.h>

#include <dsl/text/names.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::python {
namespace {

constexpr int max_list_depth = 16;

/// Without PyTorch's names, since some of Python's own names mean other widths.
std::optional<DType> dtype_of_name(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name == sinter::name(DType(i)) || name == detail::short_name(DType(i))) return DType(i);
  return {};
}

TextNumber integer_of(py::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    PyErr_SetString(PyExc_OverflowError, "the integer does not fit 64 bits: write it as a float");
    throw py::error_already_set();
  }
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return TextNumber::of(static_cast<std::int64_t>(value));
}

TextValue value_at_depth(std::string_view function, py::handle object, int depth) {
  if (py::isinstance<Operand>(object)) return object.cast<const Operand&>().value();
  if (object.is_none()) return {.place = detail::no_range};
  if (const auto number = number_from(object)) return TextValue::of(*number);
  if (py::isinstance<DTypeObject>(object))
    return {.kind = TextValue::Kind::DType, .dtype = object.cast<const DTypeObject&>().dtype};
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    if (depth == max_list_depth) throw_type_error(fmt::format("{}: the lists are nested too deeply", function));
    TextValue list{.kind = TextValue::Kind::List, .place = detail::no_range};
    for (const py::handle item : py::tuple(py::reinterpret_borrow<py::object>(object)))
      list.items.push_back(value_at_depth(function, item, depth + 1)), list.items.back().place = detail::no_range;
    return list;
  }
  throw_type_error(fmt::format("{} takes tensors, expressions and numbers, but got {}{}", function, describe(object),
                               PyObject_CheckBuffer(object.ptr()) || py::hasattr(object, "__dlpack__")
                                   ? ": sinter_jit.asarray(x) makes a tensor over its memory"
                                   : ""));
}

}  // namespace

bool is_numpy_scalar(py::handle object) {
  const py::object modules = py::reinterpret_borrow<py::object>(PyImport_GetModuleDict());
  PyObject* const numpy = PyDict_GetItemString(modules.ptr(), "numpy");
  return numpy && py::hasattr(numpy, "generic") && py::isinstance(object, py::handle(numpy).attr("generic"));
}

namespace {

std::string numpy_kind(py::handle scalar) { return scalar.attr("dtype").attr("kind").cast<std::string>(); }

}  // namespace

bool is_numpy_number(py::handle object) {
  return is_numpy_scalar(object) && std::string_view("biufc").find(numpy_kind(object)) != std::string_view::npos;
}

bool is_bool(py::handle object) {
  return PyBool_Check(object.ptr()) || (is_numpy_scalar(object) && numpy_kind(object) == "b");
}

std::string describe(py::handle object) {
  if (object.is_none()) return "None";
  const py::handle type = py::type::handle_of(object);
  const auto module = type.attr("__module__").cast<std::string>();
  const auto name = type.attr("__qualname__").cast<std::string>();
  return fmt::format("an object of {}{}", module == "builtins" ? "" : module + ".", name);
}

void throw_type_error(const std::string& what) { throw py::type_error(what); }

std::optional<TextNumber> number_from(py::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return TextNumber::of(o == Py_True);
  if (PyLong_Check(o)) return integer_of(object);
  if (PyFloat_Check(o)) return TextNumber::of(PyFloat_AS_DOUBLE(o));
  if (PyComplex_Check(o)) return TextNumber::of(std::complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (!is_numpy_number(object)) return {};
  const py::object plain = object.attr("item")();
  return py::type::handle_of(plain).is(py::type::handle_of(object)) ? std::nullopt : number_from(plain);
}

TextValue value_from(std::string_view function, py::handle object) {
  TextValue value = value_at_depth(function, object, 0);
  value.place = detail::no_range;
  return value;
}

DType dtype_from(py::handle object) {
  if (py::isinstance<DTypeObject>(object)) return object.cast<const DTypeObject&>().dtype;
  std::string name;
  if (py::isinstance<py::str>(object))
    name = object.cast<std::string>();
  else if (PyType_Check(object.ptr()))  // numpy.float32
    name = object.attr("__name__").cast<std::string>();
  else if (py::hasattr(object, "name") && py::isinstance<py::str>(object.attr("name")))  // numpy.dtype("f4")
    name = object.attr("name").cast<std::string>();
  else
    throw_type_error(
        fmt::format("a dtype is expected, such as sinter_jit.float32 or \"float32\", but got {}", describe(object)));
  if (name == "bool_") name = "bool";
  if (const auto dtype = dtype_of_name(name)) return *dtype;
  if (name == "float" || name == "int" || name == "complex")
    throw DTypeError(fmt::format(
        "the dtype '{}' needs a width: write float32 or float64, int32 or int64, complex64 or complex128", name));
  throw DTypeError(
      fmt::format("there is no dtype '{}'; the dtypes are bool, uint8, int8, int16, int32, int64, float16, bfloat16, "
                  "float32, float64, complex64 and complex128",
                  name));
}

std::optional<DType> optional_dtype_from(py::handle object) {
  return object.is_none() ? std::nullopt : std::optional(dtype_from(object));
}

Device device_from(py::handle object) {
  if (py::isinstance<Device>(object)) return object.cast<Device>();
  if (py::isinstance<py::str>(object)) return Device(object.cast<std::string>());
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) return Device(integer_of(object).integer);
  throw_type_error(fmt::format("a device is expected, such as \"cpu\", \"cuda:0\" or 0, but got {}", describe(object)));
}

Device optional_device_from(py::handle object) { return object.is_none() ? Device() : device_from(object); }

std::optional<bool> flag_from(py::handle object) {
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  throw_type_error(fmt::format("True, False or None is expected, but got {}", describe(object)));
}

std::int64_t integer_from(std::string_view function, py::handle object) {
  if (PyIndex_Check(object.ptr()) && !is_bool(object) && !py::isinstance<Operand>(object)) {
    if (PyObject* const whole = PyNumber_Index(object.ptr()))
      return integer_of(py::reinterpret_steal<py::object>(whole)).integer;
    PyErr_Clear();
  }
  throw_type_error(fmt::format("{}: an integer is expected, but got {}", function, describe(object)));
}

py::tuple tuple_of(const Shape& shape) {
  py::tuple t(shape.ndim());
  for (int i = 0; i < shape.ndim(); ++i) t[static_cast<std::size_t>(i)] = py::int_(shape[i]);
  return t;
}

}  // namespace sinter::python
