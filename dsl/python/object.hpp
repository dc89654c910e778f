// The objects that Python holds: tensors, and unevaluated expressions.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include <functional>
#include <memory>
#include <string>

#include <dsl/text/value.hpp>

namespace sinter::python {

namespace nb = nanobind;
using detail::TextNumber;
using detail::TextValue;
using runtime::TensorImpl;
using runtime::TensorRef;

/// A tensor or an expression, immutable as an object. Used by several threads without the GIL.
class Operand {
 public:
  virtual ~Operand() = default;
  /// As an operand of operations.
  virtual TextValue value() const = 0;
  /// The tensor, or the expression's value. Called without the GIL.
  virtual TensorRef evaluated() const = 0;
  virtual const Shape& shape() const noexcept = 0;
  virtual DType dtype() const noexcept = 0;
  virtual Device device() const noexcept = 0;
};

class TensorObject final : public Operand {
 public:
  explicit TensorObject(TensorRef t) : tensor(std::move(t)) {}
  TextValue value() const override { return TextValue::tensor(AnyTensor(tensor)); }
  TensorRef evaluated() const override { return tensor; }
  const Shape& shape() const noexcept override { return tensor->shape; }
  DType dtype() const noexcept override { return tensor->dtype; }
  Device device() const noexcept override { return tensor->device; }

  const TensorRef tensor;
};

class ExpressionObject final : public Operand {
 public:
  explicit ExpressionObject(TextValue v) : value_(std::move(v)) {}
  TextValue value() const override { return value_; }
  TensorRef evaluated() const override;
  const Shape& shape() const noexcept override { return value_.shape; }
  DType dtype() const noexcept override { return value_.node->dtype(); }
  Device device() const noexcept override { return value_.node->device(); }

 private:
  TextValue value_;
};

inline std::unique_ptr<Operand> object_of(TensorRef t) { return std::make_unique<TensorObject>(std::move(t)); }
/// For a value that is_operand().
std::unique_ptr<Operand> object_of(TextValue v);
/// The same as a value of an ExpressionObject.
TextValue expression_value(TextValue v);

/// A new Tensor or Expression. Faster than by a unique_ptr, in one allocation.
template <class T, class Value>
nb::object made(Value&& value) {
  nb::object object = nb::inst_alloc(nb::type<T>());
  new (nb::inst_ptr<T>(object)) T(std::forward<Value>(value));
  nb::inst_mark_ready(object);
  return object;
}

/// The Tensor or Expression that an object is; null for others.
inline const Operand* operand_in(nb::handle object) {
  static const nb::handle tensor = nb::type<TensorObject>(), expression = nb::type<ExpressionObject>();
  const nb::handle type = object.type();
  if (type.is(expression) && nb::inst_ready(object)) return nb::inst_ptr<ExpressionObject>(object);
  return type.is(tensor) && nb::inst_ready(object) ? nb::inst_ptr<TensorObject>(object) : nullptr;
}

/// The dtypes are objects: sinter_jit.float32.
struct DTypeObject {
  DType dtype;
};

/// Takes the GIL again. If the interpreter has ended, the thread blocks here forever: Python would end it by unwinding
/// a stack whose destructors need Python.
void take_gil(PyThreadState* state);

/// Returns f() and releases the GIL meanwhile; f must not use any Python object.
template <class F>
auto without_gil(F&& f) {
  PyThreadState* const state = PyEval_SaveThread();
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      take_gil(state);
    } else {
      auto result = f();
      take_gil(state);
      return result;
    }
  } catch (...) {
    take_gil(state);
    throw;
  }
}

/// A view of a tensor, or the expression over views of its tensors.
std::unique_ptr<Operand> viewed(const Operand& x, const std::function<TensorRef(TensorImpl&)>& view);

/// Names the function that Python called in the message of the exception that is thrown next.
void raised_by(std::string_view function);

/// Makes a function, or all functions of a module or class, name the argument that they refuse.
void explain_refusals(nb::handle object);

/// For a class whose objects only functions make: calling it says which.
template <class T, class... Bases>
void refuse_construction(nb::class_<T, Bases...>& type, const char* how) {
  type.def("__init__", [how](T*, const nb::args&, const nb::kwargs&) { throw nb::type_error(how); });
}

// Parts of the module.
void add_errors(nb::module_& m);
void add_types(nb::module_& m);
void add_tensors(nb::module_& m);
void add_views(nb::class_<Operand>& operand, nb::class_<TensorObject, Operand>& tensor);
/// What a Tensor is made with to offer its memory; an array of PyType_Slot.
PyType_Slot* buffer_slots();
void add_arrays(nb::class_<Operand>& operand);
void add_dlpack(nb::module_& m, nb::class_<Operand>& operand);
void add_expressions(nb::module_& m, nb::class_<Operand>& operand);
void add_device_functions(nb::module_& m);
void add_gradients(nb::module_& m);
void add_indexed(nb::module_& m);
void add_export(nb::module_& m);
void add_random(nb::module_& m);
void add_files(nb::module_& m);
void add_streams(nb::module_& m);
void add_optimizers(nb::module_& core);

}  // namespace sinter::python
