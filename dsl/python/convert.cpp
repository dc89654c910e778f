#include "convert.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include <dsl/text/names.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/mesh.hpp>

namespace sinter::python {
namespace {

constexpr int max_list_depth = 16;

/// Without PyTorch's names, since some of Python's own names mean other widths.
std::optional<DType> dtype_of_name(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name == sinter::name(DType(i)) || name == detail::short_name(DType(i))) return DType(i);
  return {};
}

TextNumber integer_of(nb::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    PyErr_SetString(PyExc_OverflowError,
                    "the integer does not fit int64: write it as a float, or pass a NumPy array of uint64");
    nb::raise_python_error();
  }
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return TextNumber::of(static_cast<std::int64_t>(value));
}

/// Over the memory of an array of another library; null for other objects.
TensorRef tensor_of_array(nb::handle object) {
  if (is_numpy_scalar(object) || PyBytes_Check(object.ptr())) return {};
  if (PyObject_CheckBuffer(object.ptr())) return tensor_of_buffer(object, {});
  return nb::hasattr(object, "__dlpack__") ? tensor_of_dlpack(object, {}) : TensorRef();
}

/// The same text, which stays: one for each type.
std::string_view kept(std::string text) {
  static std::unordered_set<std::string> texts;
  return *texts.insert(std::move(text)).first;
}

TextValue other_value(nb::handle object) {
  return {.kind = TextValue::Kind::Other, .place = detail::no_range, .text = kept(describe(object))};
}

TextValue value_at_depth(std::string_view function, nb::handle object, int depth) {
  if (const Operand* x = operand_in(object)) return x->value();
  if (object.is_none()) return {.place = detail::no_range};
  if (const auto number = number_from(object)) return TextValue::of(*number);
  if (nb::isinstance<DTypeObject>(object))
    return {.kind = TextValue::Kind::DType, .dtype = nb::cast<const DTypeObject&>(object).dtype};
  if (nb::isinstance<Device>(object)) return {.kind = TextValue::Kind::Device, .device = nb::cast<Device>(object)};
  if (nb::isinstance<Mesh>(object)) return {.kind = TextValue::Kind::Device, .device = nb::cast<const Mesh&>(object)};
  if (nb::isinstance<nb::str>(object)) return {.kind = TextValue::Kind::Text, .text = text_in(object)};
  if (nb::isinstance<Generator>(object))
    return {.kind = TextValue::Kind::Generator, .generator = &nb::cast<const Generator&>(object)};
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    if (depth == max_list_depth) throw_type_error(fmt::format("{}: the lists are nested too deeply", function));
    TextValue list{.kind = TextValue::Kind::List, .place = detail::no_range};
    for (const nb::handle item : nb::tuple(object))
      list.items.push_back(value_at_depth(function, item, depth + 1)), list.items.back().place = detail::no_range;
    return list;
  }
  if (const TensorRef array = tensor_of_array(object)) return TextValue::tensor(AnyTensor(array));
  return other_value(object);
}

}  // namespace

bool is_numpy_scalar(nb::handle object) {
  PyObject* const numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  return numpy && nb::hasattr(numpy, "generic") && nb::isinstance(object, nb::handle(numpy).attr("generic"));
}

namespace {

std::string numpy_kind(nb::handle scalar) { return string_from(scalar.attr("dtype").attr("kind")); }

}  // namespace

bool is_numpy_number(nb::handle object) {
  return is_numpy_scalar(object) && std::string_view("biufc").find(numpy_kind(object)) != std::string_view::npos;
}

bool is_bool(nb::handle object) {
  return PyBool_Check(object.ptr()) || (is_numpy_scalar(object) && numpy_kind(object) == "b");
}

std::string describe(nb::handle object) {
  if (object.is_none()) return "None";
  const nb::handle type = object.type();
  const auto module = string_from(type.attr("__module__"));
  const auto name = string_from(type.attr("__qualname__"));
  const bool is_short = nb::isinstance<nb::str>(object) || PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr());
  if (is_short) return fmt::format("{} ({})", runtime::shortened(string_from(nb::repr(object))), name);
  return fmt::format("an object of type {}{}", module == "builtins" ? "" : module + ".", name);
}

void throw_type_error(const std::string& what) { throw nb::type_error(what.c_str()); }

void throw_wrong(std::string_view function, std::string_view argument, std::string_view expected, nb::handle got) {
  throw_type_error(
      fmt::format("{}: the argument '{}' must be {}, but got {}", function, argument, expected, describe(got)));
}

std::optional<TextNumber> number_from(nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return TextNumber::of(o == Py_True);
  if (PyLong_Check(o)) return integer_of(object);
  if (PyFloat_Check(o)) return TextNumber::of(PyFloat_AsDouble(o));
  if (PyComplex_Check(o)) return TextNumber::of(std::complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (!is_numpy_number(object)) return {};
  const nb::object plain = object.attr("item")();
  return plain.type().is(object.type()) ? std::nullopt : number_from(plain);
}

TextValue value_from(std::string_view function, nb::handle object) {
  TextValue value = value_at_depth(function, object, 0);
  value.place = detail::no_range;
  return value;
}

TextValue value_from(std::string_view function, std::string_view parameter, nb::handle object) {
  if (object.is_none() || (parameter != "dtype" && parameter != "device")) return value_from(function, object);
  if (parameter == "dtype")
    return {.kind = TextValue::Kind::DType, .dtype = dtype_from(function, object), .place = detail::no_range};
  return {.kind = TextValue::Kind::Device, .place = detail::no_range, .device = device_from(function, object)};
}

DType dtype_from(std::string_view function, nb::handle object, std::string_view argument) {
  if (nb::isinstance<DTypeObject>(object)) return nb::cast<const DTypeObject&>(object).dtype;
  std::string name;
  if (nb::isinstance<nb::str>(object))
    name = string_from(object);
  else if (PyType_Check(object.ptr()))  // numpy.float32
    name = string_from(object.attr("__name__"));
  else if (nb::hasattr(object, "name") && nb::isinstance<nb::str>(object.attr("name")))  // numpy.dtype("f4")
    name = string_from(object.attr("name"));
  else
    throw_wrong(function, argument, "a dtype, such as sinter_jit.float32 or \"float32\"", object);
  if (name == "bool_") name = "bool";
  if (const auto dtype = dtype_of_name(name)) return *dtype;
  if (name == "float" || name == "int" || name == "complex")
    throw DTypeError(fmt::format(
        "the dtype '{}' needs a width: write float32 or float64, int32 or int64, complex64 or complex128", name));
  throw DTypeError(
      fmt::format("there is no dtype '{}'; the dtypes are bool, uint8 to uint64, int8 to int64, float16, bfloat16, "
                  "float32, float64, complex64 and complex128",
                  name));
}

std::optional<DType> optional_dtype_from(std::string_view function, nb::handle object) {
  return object.is_none() ? std::nullopt : std::optional(dtype_from(function, object));
}

Device device_from(std::string_view function, nb::handle object, std::string_view argument) {
  if (nb::isinstance<Device>(object)) return nb::cast<Device>(object);
  if (nb::isinstance<Mesh>(object)) return nb::cast<const Mesh&>(object);
  if (nb::isinstance<nb::str>(object)) return Device(string_from(object));
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) return Device(integer_of(object).integer);
  throw_wrong(function, argument, "a device, such as \"cpu\", \"cuda:0\" or 0", object);
}

Device optional_device_from(std::string_view function, nb::handle object) {
  return object.is_none() ? Device() : device_from(function, object);
}

std::optional<bool> flag_from(std::string_view function, std::string_view argument, nb::handle object) {
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  throw_wrong(function, argument, "True, False or None", object);
}

nb::list items_of(std::string_view function, std::string_view argument, std::string_view expected, nb::handle object) {
  if (!nb::hasattr(object, "__iter__")) throw_wrong(function, argument, expected, object);
  return nb::list(object);
}

std::int64_t integer_from(std::string_view function, nb::handle object) {
  if (PyIndex_Check(object.ptr()) && !is_bool(object) && !nb::isinstance<Operand>(object)) {
    if (PyObject* const whole = PyNumber_Index(object.ptr())) return integer_of(nb::steal(whole)).integer;
    PyErr_Clear();
  }
  throw_type_error(fmt::format("{}: an integer is expected, but got {}", function, describe(object)));
}

std::string path_from(std::string_view function, std::string_view argument, nb::handle object) {
  const nb::object path = nb::hasattr(object, "__fspath__") ? object.attr("__fspath__")() : nb::borrow(object);
  if (!nb::isinstance<nb::str>(path)) throw_wrong(function, argument, "a str or a pathlib.Path", object);
  return string_from(path);
}

std::string_view text_in(nb::handle text) {
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!utf8) nb::raise_python_error();
  return {utf8, static_cast<std::size_t>(size)};
}

std::string string_from(nb::handle text) { return std::string(text_in(text)); }

nb::tuple tuple_of(const Shape& shape) {
  const nb::object t = nb::steal(PyTuple_New(shape.ndim()));
  if (!t.is_valid()) nb::raise_python_error();
  for (int i = 0; i < shape.ndim(); ++i) PyTuple_SetItem(t.ptr(), i, nb::int_(shape[i]).release().ptr());
  return nb::borrow<nb::tuple>(t);
}

}  // namespace sinter::python
