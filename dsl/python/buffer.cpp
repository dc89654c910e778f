// Python's buffer protocol, through which NumPy and others share memory, in both directions.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include <dsl/dlpack_types.hpp>
#include <sinter/dsl/dlpack.hpp>
#include "convert.hpp"
#include "release.hpp"

namespace sinter::python {
namespace {

static_assert(std::endian::native == std::endian::little);

/// A buffer as the DLPack tensor that the library imports.
struct ImportedBuffer {
  Py_buffer view{};
  std::vector<std::byte> dense;  // the elements, if their layout had to change
  std::vector<std::int64_t> shape, strides;
  dlpack::ManagedTensorVersioned managed{};

  ImportedBuffer() = default;
  ImportedBuffer(const ImportedBuffer&) = delete;
  ImportedBuffer& operator=(const ImportedBuffer&) = delete;
  ~ImportedBuffer() {
    if (view.obj) PyBuffer_Release(&view);
  }
};

[[noreturn]] void throw_format(const Py_buffer& view, std::string_view why) {
  throw DTypeError(
      fmt::format("asarray: Sinter does not support elements of the buffer format '{}', of {} bytes{}: convert the "
                  "array to bool, uint8 to uint64, int8 to int64, float16, float32, float64, complex64 or complex128",
                  view.format ? view.format : "B", view.itemsize, why));
}

dlpack::DataType type_of(const Py_buffer& view) {
  using enum dlpack::TypeCode;
  std::string_view format = view.format ? view.format : "B";
  if ((format.starts_with('>') || format.starts_with('!')) && view.itemsize > 1)
    throw_format(view, ", in the opposite byte order: x.astype(x.dtype.newbyteorder(\"=\")) converts it");
  if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) format.remove_prefix(1);
  dlpack::TypeCode code{};
  if (format == "?")
    code = Bool;
  else if (format.size() == 1 && std::string_view("bhilqn").find(format[0]) != std::string_view::npos)
    code = Int;
  else if (format.size() == 1 && std::string_view("BHILQN").find(format[0]) != std::string_view::npos)
    code = UInt;
  else if (format == "e" || format == "f" || format == "d")
    code = Float;
  else if (format == "Zf" || format == "Zd")
    code = Complex;
  else
    throw_format(view, "");
  return {code, static_cast<std::uint8_t>(8 * view.itemsize), 1};
}

/// Throws Python's current exception; DTypeError for arrays without a buffer.
std::unique_ptr<ImportedBuffer> get_buffer(nb::handle object) {
  auto held = std::make_unique<ImportedBuffer>();
  if (PyObject_GetBuffer(object.ptr(), &held->view, PyBUF_FULL_RO) == 0) return held;
  nb::python_error error;
  if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_BufferError)) throw error;
  throw DTypeError(fmt::format("asarray: the elements of {} are not available as a buffer: {}", describe(object),
                               string_from(nb::str(error.value()))));
}

bool has_element_strides(const Py_buffer& view) {
  if (view.suboffsets)
    for (int i = 0; i < view.ndim; ++i)
      if (view.suboffsets[i] >= 0) return false;
  for (int i = 0; view.strides && i < view.ndim; ++i)
    if (view.shape[i] > 1 && view.strides[i] % view.itemsize != 0) return false;
  return true;
}

void describe_memory(ImportedBuffer& held) {
  const Py_buffer& view = held.view;
  if (view.ndim > max_ndim)
    throw ShapeError(fmt::format("asarray: the array has {} axes, but Sinter supports 0 to {}: reshape it first",
                                 view.ndim, max_ndim));
  const dlpack::DataType type = type_of(view);
  for (int i = 0; i < view.ndim; ++i) {
    held.shape.push_back(view.shape ? view.shape[i] : view.len / view.itemsize);
    if (view.strides) held.strides.push_back(view.strides[i] / view.itemsize);
  }
  dlpack::Tensor& t = held.managed.dl_tensor;
  t = {.data = view.buf,
       .device = {dlpack::DeviceType::Cpu, 0},
       .ndim = view.ndim,
       .dtype = type,
       .shape = held.shape.data(),
       .strides = view.strides ? held.strides.data() : nullptr,
       .byte_offset = 0};
  held.managed.version = dlpack::version;
  held.managed.flags = view.readonly ? dlpack::flag_read_only : 0;
}

/// Copies elements that Sinter cannot read in place.
void make_dense(ImportedBuffer& held, std::optional<bool> copy) {
  if (copy == false)
    throw Error(
        "asarray: the elements are not aligned to their size, so they must be copied: omit copy, or set it to True");
  held.dense.resize(static_cast<std::size_t>(held.view.len));
  if (PyBuffer_ToContiguous(held.dense.data(), &held.view, held.view.len, 'C') != 0) nb::raise_python_error();
  held.managed.dl_tensor.data = held.dense.data();
  held.managed.dl_tensor.strides = nullptr;
  held.managed.flags = 0;
}

void destroy(void* held) { delete static_cast<ImportedBuffer*>(held); }

// Tensors as buffers.

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "?";
    case DType::UInt8: return "B";
    case DType::UInt16: return "H";
    case DType::UInt32: return "I";
    case DType::UInt64: return "Q";
    case DType::Int8: return "b";
    case DType::Int16: return "h";
    case DType::Int32: return "i";
    case DType::Int64: return "q";
    case DType::Float16: return "e";
    case DType::Float32: return "f";
    case DType::Float64: return "d";
    case DType::Complex64: return "Zf";
    case DType::Complex128: return "Zd";
    case DType::BFloat16: break;
  }
  return nullptr;
}

/// Why the tensor cannot be exported with these flags; null if it can.
const char* obstacle(const TensorImpl& t, int flags) {
  if (!t.device.is_cpu()) return "the tensor is on a GPU: copy it with x.to(\"cpu\")";
  if (!format_of(t.dtype)) return "NumPy has no bfloat16: convert with x.to(sinter_jit.float32)";
  const bool wants_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  const bool wants_order = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                           (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS ||
                           (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
  if (wants_fortran ? !t.contiguous || t.ndim() > 1 : wants_order && !t.contiguous)
    return "the elements are not in this order in memory: x.contiguous() is row-major";
  return nullptr;
}

struct BufferLayout {
  Py_ssize_t shape[max_ndim], strides[max_ndim];
};

int fill_buffer(PyObject* self, const TensorImpl& t, Py_buffer* view, int flags) {
  if (const char* why = obstacle(t, flags)) {
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
  }
  if (t.buffer) t.buffer->expose();
  static std::byte nothing{};
  auto layout = std::make_unique<BufferLayout>();
  const auto size = static_cast<Py_ssize_t>(size_of(t.dtype));
  for (int i = 0; i < t.ndim(); ++i) layout->shape[i] = t.shape[i], layout->strides[i] = t.strides[i] * size;
  view->buf = t.data ? t.data : &nothing;
  view->len = t.numel * size;
  view->itemsize = size;
  view->readonly = 0;
  view->ndim = t.ndim();
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format_of(t.dtype)) : nullptr;
  view->shape = flags & PyBUF_ND ? layout->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? layout->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = layout.release();
  view->obj = self;
  Py_INCREF(self);
  return 0;
}

int get_tensor_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    return fill_buffer(self, *nb::inst_ptr<TensorObject>(self)->tensor, view, flags);
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
    return -1;
  }
}

void release_tensor_buffer(PyObject*, Py_buffer* view) { delete static_cast<BufferLayout*>(view->internal); }

/// Kept, because looking it up takes as long as the rest of numpy(). Guarded by the GIL, which an import may release: a
/// thread that waited for the initialization of a static would hold it, and the two would wait for each other.
nb::handle asarray_of_numpy() {
  static constinit PyObject* function = nullptr;
  if (!function) function = nb::object(nb::module_::import_("numpy").attr("asarray")).release().ptr();
  return function;
}

nb::object numpy_of(const nb::object& self) {
  const Operand* operand = operand_in(self);
  if (!operand) throw nb::cast_error();
  const auto* tensor = dynamic_cast<const TensorObject*>(operand);
  const TensorRef t = tensor ? tensor->tensor : without_gil([&] { return operand->evaluated(); });
  if (const char* why = obstacle(*t, PyBUF_FULL)) {
    if (t->device.is_cpu()) throw DTypeError(fmt::format("numpy: {}", why));
    throw DeviceError(
        fmt::format("numpy: the tensor is {}: {}", runtime::describe(*t), "copy it with x.to(\"cpu\").numpy()"));
  }
  return asarray_of_numpy()(tensor ? self : made<TensorObject>(t));
}

nb::object array_of(const nb::object& self, const nb::object& dtype, const nb::object& copy) {
  const nb::object array = numpy_of(self);
  const bool must_copy = flag_from("__array__", "copy", copy) == true;
  if (dtype.is_none()) return must_copy ? array.attr("copy")() : array;
  const nb::object wanted = nb::module_::import_("numpy").attr("dtype")(dtype);
  const bool is_other = !nb::object(array.attr("dtype")).equal(wanted);
  if (is_other && !copy.is_none() && !must_copy)
    throw nb::value_error("another dtype requires a copy: omit copy, or set it to True");
  return array.attr("astype")(dtype, nb::arg("copy") = must_copy);
}

}  // namespace

TensorRef tensor_of_buffer(nb::handle object, std::optional<bool> copy) {
  std::unique_ptr<ImportedBuffer> held = get_buffer(object);
  describe_memory(*held);
  if (!has_element_strides(held->view)) make_dense(*held, copy);
  auto importer =
      without_gil([&] { return std::make_unique<detail::DLPackImporter>(&held->managed, DLPackImport{.copy = copy}); });
  const TensorRef tensor = importer->tensor();
  importer->take(held.release(), [](void* h) { release_with_gil(h, destroy); });
  return tensor;
}

PyType_Slot* buffer_slots() {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_tensor_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_tensor_buffer)},
                                {0, nullptr}};
  return slots;
}

void add_arrays(nb::class_<Operand>& operand) {
  operand
      .def("numpy", numpy_of,
           "The elements as a NumPy array over the same memory; an expression is evaluated. On a GPU: x.to(\"cpu\") "
           "first.")
      .def("__array__", array_of, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none());
}

}  // namespace sinter::python
