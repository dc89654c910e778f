// Tensors: creation, moving, reading and printing.
#include <fmt/format.h>

#include <complex>

#include <runtime/bools.hpp>
#include <sinter/dsl/history.hpp>
#include <sinter/dsl/print.hpp>
#include <sinter/dsl/tensor.hpp>
#include <sinter/runtime/mesh.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

TensorRef evaluated(const Operand& x) {
  return without_gil([&] { return x.evaluated(); });
}

/// For asarray: over the same memory if possible.
TensorRef tensor_over(const char* function, nb::handle data, std::optional<bool> copy) {
  if (nb::isinstance<Operand>(data)) return evaluated(nb::cast<const Operand&>(data));
  if (PyObject_CheckBuffer(data.ptr())) return tensor_of_buffer(data, copy);
  if (has_dlpack(data) || PyCapsule_CheckExact(data.ptr())) return tensor_of_dlpack(data, copy);
  return tensor_of_numbers(function, data, {}, Device());
}

TensorRef copied(TensorImpl& t, DType dtype, Device device) {
  const TensorRef fresh = runtime::empty(t.shape, dtype, device);
  jit::copy(*fresh, t);
  return fresh;
}

void check_loses_nothing(const char* function, const TensorImpl& t, DType dtype) {
  if (is_complex(t.dtype) && !is_complex(dtype))
    throw DTypeError(fmt::format("{}: {} cannot be converted to {}: take real(x), imag(x) or abs(x)", function,
                                 runtime::describe(t), name(dtype)));
}

std::unique_ptr<Operand> asarray(const char* function, const nb::object& data, const nb::object& dtype,
                                 const nb::object& device, const nb::object& copy) {
  const std::optional<bool> wanted = flag_from(function, "copy", copy);
  const std::optional<DType> to_dtype = optional_dtype_from(function, dtype);
  if (is_numpy_scalar(data) && !is_numpy_number(data))
    throw DTypeError(fmt::format("{} takes numbers, but got {}", function, describe(data)));
  const bool is_new = is_list(data) || (number_from(function, data) && !is_numpy_scalar(data));
  if (is_new && wanted == false)
    throw Error(fmt::format("{}: {} has no memory to share: omit copy, or set it to True", function, describe(data)));
  if (is_new) return object_of(tensor_of_numbers(function, data, to_dtype, optional_device_from(function, device)));
  const TensorRef t = tensor_over(function, data, wanted == false ? wanted : std::nullopt);
  const DType into = to_dtype.value_or(t->dtype);
  const Device on = device.is_none() ? t->device : device_from(function, device);
  check_loses_nothing(function, *t, into);
  if (wanted == false && (into != t->dtype || on != t->device))
    throw Error(fmt::format("{}: converting {} to {} on {} requires a copy: omit copy, or set it to True", function,
                            runtime::describe(*t), name(into), to_string(on)));
  return object_of(without_gil([&] { return wanted == true ? copied(*t, into, on) : jit::to(*t, into, on); }));
}

std::unique_ptr<Operand> from_numpy(const nb::object& array) {
  if (!PyObject_CheckBuffer(array.ptr())) throw_wrong("from_numpy", "array", "a numpy.ndarray", array);
  return object_of(tensor_of_buffer(array, {}));
}

/// x.to("cuda:0"), x.to(float16), x.to("float16"), x.to("cuda:0", dtype=float16).
nb::object moved(const char* function, const nb::object& self, const nb::object& target, nb::object dtype,
                 nb::object device) {
  const std::string_view dtype_name = dtype.is_none() ? "target" : "dtype";
  if (!target.is_none()) {
    bool is_dtype = !nb::isinstance<Device>(target) && !nb::isinstance<Mesh>(target) && !PyIndex_Check(target.ptr());
    if (nb::isinstance<nb::str>(target)) {
      const auto text = string_from(target);
      is_dtype = !text.starts_with("cpu") && !text.starts_with("cuda");
    }
    nb::object& place = is_dtype ? dtype : device;
    if (!place.is_none()) throw_type_error(fmt::format("to: two {} are given", is_dtype ? "dtypes" : "devices"));
    place = target;
  }
  const auto& x = nb::cast<const Operand&>(self);
  const DType into = dtype.is_none() ? x.dtype() : dtype_from(function, dtype, dtype_name);
  const Device on = device.is_none() ? x.device() : device_from(function, device);
  if (const auto* tensor = dynamic_cast<const TensorObject*>(&x)) {
    const TensorRef& t = tensor->tensor;
    check_loses_nothing(function, *t, into);
    if (into == t->dtype && on == t->device) return self;
    return nb::cast(object_of(without_gil([&] { return jit::to(*t, into, on); })));
  }
  TextValue v = x.value();
  if (v.kind == TextValue::Kind::Number) return self;
  v.node = jit::lazy_cast(v.node, into);
  if (on != x.device()) v.node = without_gil([&] { return detail::move_to(on, v.node); });
  return nb::cast(object_of(v));
}

/// The elements in the widest dtype of their category, on the CPU; uint64 stays, because int64 does not have its
/// values.
TensorRef wide(const Operand& x) {
  constexpr DType widest[] = {DType::Bool, DType::Int64, DType::Float64, DType::Complex128};
  return without_gil([&] {
    const TensorRef t = x.evaluated();
    const DType dtype = t->dtype == DType::UInt64 ? t->dtype : widest[static_cast<int>(category(t->dtype))];
    return jit::contiguous(*jit::to(*t, dtype, Device()));
  });
}

nb::object element(const TensorImpl& t, std::int64_t i) {
  if (t.dtype == DType::UInt64) return nb::int_(reinterpret_cast<const std::uint64_t*>(t.data)[i]);
  switch (category(t.dtype)) {
    case Category::Bool: return nb::bool_(runtime::element_at(reinterpret_cast<const bool*>(t.data) + i));
    case Category::Int: return nb::int_(reinterpret_cast<const std::int64_t*>(t.data)[i]);
    case Category::Float: return nb::float_(reinterpret_cast<const double*>(t.data)[i]);
    case Category::Complex: break;
  }
  const std::complex<double> z = reinterpret_cast<const std::complex<double>*>(t.data)[i];
  return nb::steal(PyComplex_FromDoubles(z.real(), z.imag()));
}

nb::object item(const Operand& x) {
  if (x.shape().numel() != 1)
    throw Error(fmt::format("item takes one element, but got {}",
                            detail::describe(detail::OperandInfo{x.shape(), x.dtype(), x.device()})));
  return element(*wide(x), 0);
}

/// The value for Python's bool(), float() and int().
nb::object number(const Operand& x, const char* what) {
  if (x.shape().numel() == 1) return element(*wide(x), 0);
  throw_type_error(fmt::format("{} takes one element, but got {}; for all elements there are all(x) and any(x)", what,
                               detail::describe(detail::OperandInfo{x.shape(), x.dtype(), x.device()})));
}

nb::object nested(const TensorImpl& t, int axis, std::int64_t& next) {
  if (axis == t.ndim()) return element(t, next++);
  nb::list items;
  for (std::int64_t i = 0; i < t.shape[axis]; ++i) items.append(nested(t, axis + 1, next));
  return items;
}

nb::object to_list(const Operand& x) {
  std::int64_t next = 0;
  return nested(*wide(x), 0, next);
}

std::string repr(const Operand& x) {
  if (const auto* t = dynamic_cast<const TensorObject*>(&x))
    return without_gil([&] { return detail::to_string(*t->tensor); });
  return fmt::format("<sinter_jit.Expression {}, not evaluated>",
                     detail::describe(detail::OperandInfo{x.shape(), x.dtype(), x.device()}));
}

void add_facts(nb::class_<Operand>& operand) {
  operand.def_prop_ro("shape", [](const Operand& x) { return tuple_of(x.shape()); })
      .def_prop_ro("ndim", [](const Operand& x) { return x.shape().ndim(); })
      .def_prop_ro(
          "size", [](const Operand& x) { return x.shape().numel(); }, "The number of elements.")
      .def_prop_ro("dtype", [](const Operand& x) { return DTypeObject{x.dtype()}; })
      .def_prop_ro("device", [](const Operand& x) { return x.device(); })
      .def("__len__",
           [](const Operand& x) {
             if (x.shape().empty()) throw_type_error("len: a tensor without axes has no length");
             return x.shape()[0];
           })
      .def("__repr__", repr);
}

}  // namespace

void add_tensors(nb::module_& m) {
  nb::class_<Operand> operand(m, "Operand", nb::is_weak_referenceable(),
                              "An operand of operations: a Tensor or an Expression.");
  add_facts(operand);
  operand
      .def(
          "to",
          [](const nb::object& self, const nb::object& target, const nb::object& dtype, const nb::object& device) {
            return moved("to", self, target, dtype, device);
          },
          nb::arg("target") = nb::none(), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
          "Of another dtype, on another device, or both: of an expression an expression, which is evaluated to be "
          "moved. "
          "A tensor itself if nothing changes; else a new one, a constant to grad: (+x).to(...) is not.")
      .def(
          "to_device",
          [](const nb::object& self, const nb::object& device, const nb::object& stream) {
            if (!stream.is_none())
              throw nb::value_error(
                  "to_device: the argument 'stream' must be None: Sinter orders the work of its streams");
            return moved("to_device", self, nb::none(), nb::none(), device);
          },
          nb::arg("device"), nb::kw_only(), nb::arg("stream") = nb::none(),
          "On another device, as the array API has it.")
      .def("item", item, "The only element as a Python number.")
      .def("tolist", to_list, "The elements as nested lists.")
      .def("__bool__", [](const Operand& x) { return nb::bool_(number(x, "bool()")); })
      .def("__float__", [](const Operand& x) { return nb::float_(number(x, "float()")); })
      .def("__int__", [](const Operand& x) { return nb::int_(number(x, "int()")); })
      .def("__complex__", [](const Operand& x) {
        const nb::object n = number(x, "complex()");
        return PyComplex_Check(n.ptr()) ? n : nb::steal(PyComplex_FromDoubles(PyFloat_AsDouble(n.ptr()), 0));
      });
  nb::class_<TensorObject, Operand> tensor(m, "Tensor", nb::type_slots(buffer_slots()),
                                           "An array on a device. Views share its memory.");
  nb::class_<ExpressionObject, Operand> expression(
      m, "Expression", "A computation that runs when it is evaluated, in one kernel if the plan allows.");
  refuse_construction(operand,
                      "Operand is the base class of Tensor and Expression: sinter_jit.tensor(data) makes a tensor");
  refuse_construction(tensor,
                      "Tensor: functions make tensors, such as sinter_jit.tensor(data) and sinter_jit.zeros(2, 3)");
  refuse_construction(expression,
                      "Expression: operations on tensors make expressions, such as x + 1, and sinter_jit.parse(text)");
  tensor.def_prop_ro(
            "strides", [](const TensorObject& x) { return tuple_of(x.tensor->strides); }, "In elements.")
      .def("is_contiguous", [](const TensorObject& x) { return x.tensor->contiguous; })
      .def("contiguous",
           [](const TensorObject& x) { return object_of(without_gil([&] { return jit::contiguous(*x.tensor); })); })
      .def(
          "pin_memory",
          [](const TensorObject& x) { return object_of(without_gil([&] { return detail::pin_memory(*x.tensor); })); },
          "A copy in page-locked memory, which copies to and from a GPU faster; the tensor itself if it is pinned.")
      .def("is_pinned", [](const TensorObject& x) { return x.tensor->buffer && x.tensor->buffer->is_pinned(); })
      .def("clone", [](const TensorObject& x) {
        return object_of(without_gil([&] { return copied(*x.tensor, x.tensor->dtype, x.tensor->device); }));
      });
  add_views(operand, tensor);
  add_arrays(operand);
  add_dlpack(m, operand);
  add_expressions(m, operand);
  m.def(
      "asarray",
      [](const nb::object& data, const nb::object& dtype, const nb::object& device, const nb::object& copy) {
        return asarray("asarray", data, dtype, device, copy);
      },
      nb::arg("data").none(), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("copy") = nb::none(),
      "A tensor of numbers, nested lists, arrays or tensors; over the memory of an array if possible. copy=True "
      "always copies, copy=False never.");
  m.def(
      "tensor",
      [](const nb::object& data, const nb::object& dtype, const nb::object& device) {
        return asarray("tensor", data, dtype, device, nb::bool_(true));
      },
      nb::arg("data").none(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      "A new tensor of numbers, nested lists, arrays or tensors. Python's floats become float32, its ints int64.");
  m.def("from_numpy", from_numpy, nb::arg("array").none(),
        "A tensor over an array's memory; a copy of a read-only array.");
}

}  // namespace sinter::python
