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

TextNumber integer_of(std::string_view function, nb::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0)
    throw_overflow(fmt::format("{}: {} does not fit int64; larger numbers may be floats, or NumPy arrays of uint64",
                               function, describe(object)));
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return TextNumber::of(static_cast<std::int64_t>(value));
}

/// Over the memory of an array of another library; null for other objects.
TensorRef tensor_of_array(nb::handle object) {
  if (is_numpy_scalar(object) || PyBytes_Check(object.ptr())) return {};
  if (PyObject_CheckBuffer(object.ptr())) return tensor_of_buffer(object, {});
  return has_dlpack(object) ? tensor_of_dlpack(object, {}) : TensorRef();
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
  if (const auto number = number_from(function, object)) return TextValue::of(*number);
  if (nb::isinstance<DTypeObject>(object))
    return {.kind = TextValue::Kind::DType, .dtype = nb::cast<const DTypeObject&>(object).dtype};
  if (nb::isinstance<Device>(object)) return {.kind = TextValue::Kind::Device, .device = nb::cast<Device>(object)};
  if (nb::isinstance<Mesh>(object)) return {.kind = TextValue::Kind::Device, .device = nb::cast<const Mesh&>(object)};
  if (nb::isinstance<nb::str>(object)) return {.kind = TextValue::Kind::Text, .text = text_in(object)};
  if (nb::isinstance<Generator>(object))
    return {.kind = TextValue::Kind::Generator, .generator = &nb::cast<const Generator&>(object)};
  if (is_list(object)) {
    if (depth == max_list_depth) throw_type_error(fmt::format("{}: the lists are nested too deeply", function));
    TextValue list{.kind = TextValue::Kind::List, .place = detail::no_range};
    for (const nb::handle item : nb::tuple(object))
      list.items.push_back(value_at_depth(function, item, depth + 1)), list.items.back().place = detail::no_range;
    return list;
  }
  if (const TensorRef array = tensor_of_array(object)) return TextValue::tensor(AnyTensor(array));
  if (PyIndex_Check(object.ptr())) return TextValue::of(integer_of(function, index_of(object)));
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

bool is_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyRange_Check(object.ptr());
}

nb::object index_of(nb::handle object) {
  PyObject* const made = PyNumber_Index(object.ptr());
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

bool has_dlpack(nb::handle object) { return !PyType_Check(object.ptr()) && nb::hasattr(object, "__dlpack__"); }

namespace {

/// "numpy.ndarray", "int".
std::string name_of_class(nb::handle type) {
  const auto module = string_from(type.attr("__module__"));
  return (module == "builtins" ? "" : module + ".") + string_from(type.attr("__qualname__"));
}

/// The text of a str, int or float. Python does not print ints of more than 4,300 digits.
std::string text_of(nb::handle object) {
  PyObject* const text = PyObject_Repr(object.ptr());
  if (text) return runtime::shortened(string_from(nb::steal(text)));
  if (!PyLong_Check(object.ptr()) || !PyErr_ExceptionMatches(PyExc_ValueError)) nb::raise_python_error();
  PyErr_Clear();
  return "an integer of many digits";
}

}  // namespace

std::string describe(nb::handle object) {
  if (object.is_none()) return "None";
  if (PyType_Check(object.ptr())) return "the class " + name_of_class(object);
  const std::string type = name_of_class(object.type());
  const bool is_short = nb::isinstance<nb::str>(object) || PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr());
  return is_short ? fmt::format("{} ({})", text_of(object), type) : "an object of type " + type;
}

void throw_type_error(const std::string& what) { throw nb::type_error(what.c_str()); }

void throw_overflow(const std::string& what) {
  PyErr_SetString(PyExc_OverflowError, what.c_str());
  nb::raise_python_error();
}

void throw_wrong(std::string_view function, std::string_view argument, std::string_view expected, nb::handle got) {
  throw_type_error(
      fmt::format("{}: the argument '{}' must be {}, but got {}", function, argument, expected, describe(got)));
}

void throw_wrong_item(std::string_view function, std::string_view argument, std::string_view expected, nb::handle name,
                      nb::handle got) {
  throw_type_error(fmt::format("{}: the argument '{}' must be {}, but it holds {} under the name {}", function,
                               argument, expected, describe(got), runtime::shortened(string_from(nb::repr(name)))));
}

std::optional<TextNumber> number_from(std::string_view function, nb::handle object) {
  PyObject* const o = object.ptr();
  if (PyBool_Check(o)) return TextNumber::of(o == Py_True);
  if (PyLong_Check(o)) return integer_of(function, object);
  if (PyFloat_Check(o)) return TextNumber::of(PyFloat_AsDouble(o));
  if (PyComplex_Check(o)) return TextNumber::of(std::complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  if (!is_numpy_number(object)) return {};
  const nb::object plain = object.attr("item")();
  return plain.type().is(object.type()) ? std::nullopt : number_from(function, plain);
}

nb::object frozen(nb::handle object, int depth) {
  if (!is_list(object) || depth == max_list_depth) return nb::borrow(object);
  nb::list items;
  for (const nb::handle item : nb::tuple(object)) items.append(frozen(item, depth + 1));
  return nb::tuple(items);
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
  if (nb::getattr(object, "isnative", nb::none()).is(Py_False))
    throw DTypeError(fmt::format(
        "{0}: the dtype {1} is not in this machine's byte order; numpy.dtype(\"{1}\").newbyteorder(\"=\") is", function,
        string_from(nb::str(object))));
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
  if (PyIndex_Check(object.ptr()) && !is_bool(object) && !nb::isinstance<Operand>(object))
    return Device(integer_from(function, object));
  throw_wrong(function, argument, "a device, such as \"cpu\", \"cuda:0\" or 0", object);
}

Device optional_device_from(std::string_view function, nb::handle object) {
  return object.is_none() ? Device() : device_from(function, object);
}

std::optional<bool> flag_from(std::string_view function, std::string_view argument, nb::handle object) {
  if (object.is_none()) return {};
  if (is_bool(object)) return nb::cast<Flag>(object);
  throw_wrong(function, argument, "True, False or None", object);
}

nb::list items_of(std::string_view function, std::string_view argument, std::string_view expected, nb::handle object) {
  if (!nb::hasattr(object, "__iter__") || nb::isinstance<nb::str>(object) || PyType_Check(object.ptr()))
    throw_wrong(function, argument, expected, object);
  return nb::list(object);
}

std::int64_t integer_from(std::string_view function, nb::handle object) {
  if (PyIndex_Check(object.ptr()) && !is_bool(object) && !nb::isinstance<Operand>(object))
    return integer_of(function, index_of(object)).integer;
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
