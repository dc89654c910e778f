// Calls that nanobind refuses: its errors list C++ signatures, those that are raised instead name the argument.
#include <algorithm>
#include <array>
#include <string_view>

#include "convert.hpp"

namespace sinter::python {
namespace {

using Call = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

/// How nanobind's functions begin; CPython calls them through `call`.
struct Function {
  PyVarObject head;
  Call call;
};

/// nanobind's ways to call a function, one for each kind of signature.
std::array<Call, 8> calls;

/// Flags in the number of positional arguments: CPython's, and one of nanobind's between its own functions.
constexpr std::size_t flags = PY_VECTORCALL_ARGUMENTS_OFFSET | PY_VECTORCALL_ARGUMENTS_OFFSET >> 1;

/// What nanobind says if no overload takes the arguments, or if a cast of one fails.
bool is_refusal(const nb::python_error& e) {
  if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_RuntimeError)) return false;
  const std::string text = string_from(nb::str(e.value()));
  return text.find("(): incompatible function arguments.") != std::string::npos || text == "std::bad_cast";
}

/// Replaces the current exception if it is a refusal.
void explain(nb::handle function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  nb::python_error error;
  if (!is_refusal(error)) return error.restore();
  nb::list positional;
  nb::dict by_name;
  for (std::size_t i = 0; i < count; ++i) positional.append(nb::handle(arguments[i]));
  if (names)
    for (const nb::handle name : nb::borrow<nb::tuple>(names)) by_name[name] = nb::handle(arguments[count++]);
  const nb::object refusal = nb::module_::import_("sinter_jit._arguments").attr("refusal");
  PyErr_SetObject(PyExc_TypeError, refusal(function, nb::tuple(positional), by_name).ptr());
}

template <std::size_t I>
PyObject* explained(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* const result = calls[I](function, arguments, count, names);
  if (result) return result;
  try {
    explain(function, arguments, count & ~flags, names);
  } catch (nb::python_error& e) {
    e.restore();
  }
  return nullptr;
}

template <std::size_t... I>
constexpr std::array<Call, sizeof...(I)> all_explained(std::index_sequence<I...>) {
  return {explained<I>...};
}
constexpr std::array explained_calls = all_explained(std::make_index_sequence<calls.size()>());

void explain_refusals_of(Call& call) {
  if (std::ranges::find(explained_calls, call) != explained_calls.end()) return;  // a function with two names
  const auto own = std::ranges::find_if(calls, [&](Call c) { return !c || c == call; });
  if (own == calls.end()) return;
  *own = call;
  call = explained_calls[static_cast<std::size_t>(own - calls.begin())];
}

bool is_function(nb::handle object) {
  const std::string type = string_from(object.type().attr("__name__"));
#ifndef Py_LIMITED_API
  if (reinterpret_cast<PyTypeObject*>(object.type().ptr())->tp_vectorcall_offset != offsetof(Function, call))
    return false;
#endif
  return type == "nb_func" || type == "nb_method";
}

void explain_members(nb::handle scope) {
  for (const nb::handle member : nb::list(scope.attr("__dict__").attr("values")())) explain_refusals(member);
}

}  // namespace

void explain_refusals(nb::handle object) {
  if (is_function(object)) {
    explain_refusals_of(reinterpret_cast<Function*>(object.ptr())->call);
  } else if (PyModule_Check(object.ptr()) || nb::detail::nb_type_check(object.ptr())) {
    explain_members(object);
  } else if (nb::hasattr(object, "fset")) {
    explain_refusals(object.attr("fget"));
    explain_refusals(object.attr("fset"));
  }
}

}  // namespace sinter::python
