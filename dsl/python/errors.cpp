// Errors as Python exceptions, each also derived from the built-in exception that users expect.
#include <sinter/dsl/parse.hpp>
#include "object.hpp"
#include "spelling.hpp"

namespace sinter::python {
namespace {

// Kept until the process ends: exceptions may be thrown after modules are gone.
struct Errors {
  PyObject *base, *device, *shape, *dtype, *index, *memory, *cuda, *format, *compile, *parse;
};
Errors errors;

PyObject* make(nb::module_& m, const char* name, const char* doc, PyObject* first, PyObject* second = nullptr) {
  const nb::tuple bases =
      second ? nb::make_tuple(nb::handle(first), nb::handle(second)) : nb::make_tuple(nb::handle(first));
  PyObject* const type =
      PyErr_NewExceptionWithDoc((std::string("sinter_jit.") + name).c_str(), doc, bases.ptr(), nullptr);
  if (!type) nb::raise_python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

thread_local std::string caller;  // the function that Python called, for the exception that is on its way

std::string message_of(const std::exception& e) {
  const std::string message = in_python(e.what());
  const std::string function = std::exchange(caller, {});
  return function.empty() ? message : said_by(function, message);
}

/// Texts of compilers and users may not be valid UTF-8.
nb::object text_of(std::string_view text) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!decoded) nb::raise_python_error();
  return nb::steal(decoded);
}

void set(PyObject* type, const std::exception& e) { PyErr_SetObject(type, text_of(message_of(e)).ptr()); }

/// With additional facts as attributes.
template <class... Fact>
void set_with(PyObject* type, const std::exception& e, const Fact&... fact) {
  const nb::object error = nb::handle(type)(text_of(message_of(e)));
  (nb::setattr(error, fact.first, fact.second), ...);
  PyErr_SetObject(type, error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ParseError& e) {
    set_with(errors.parse, e, std::pair("position", nb::int_(e.position())));
  } catch (const CompileError& e) {
    set_with(errors.compile, e, std::pair("log", text_of(e.log())), std::pair("source", text_of(e.source())));
  } catch (const DeviceError& e) {
    set(errors.device, e);
  } catch (const ShapeError& e) {
    set(errors.shape, e);
  } catch (const DTypeError& e) {
    set(errors.dtype, e);
  } catch (const IndexError& e) {
    set(errors.index, e);
  } catch (const OutOfMemory& e) {
    set(errors.memory, e);
  } catch (const CudaError& e) {
    set(errors.cuda, e);
  } catch (const FormatError& e) {
    set(errors.format, e);
  } catch (const Error& e) {
    set(errors.base, e);
  }
}

}  // namespace

void raised_by(std::string_view function) { caller = function; }

void add_errors(nb::module_& m) {
  errors.base = make(m, "Error", "Base of everything that Sinter raises.", PyExc_RuntimeError);
  const auto derived = [&](const char* name, const char* doc, PyObject* builtin = nullptr) {
    return make(m, name, doc, errors.base, builtin);
  };
  errors.device = derived("DeviceError", "Operands on different devices, a device that does not exist.");
  errors.shape =
      derived("ShapeError", "Shapes that do not broadcast, a shape that does not fit the data.", PyExc_ValueError);
  errors.dtype = derived("DTypeError", "A dtype that an operation does not take.", PyExc_TypeError);
  errors.index = derived("IndexError", "An index, axis or slice outside its range.", PyExc_IndexError);
  errors.memory = derived("OutOfMemoryError", "A device does not have enough memory.", PyExc_MemoryError);
  errors.cuda = derived("CudaError", "A call of the CUDA driver failed.");
  errors.format =
      derived("FormatError", "A file that cannot be read or written, or that does not have the format it claims.",
              PyExc_ValueError);
  errors.compile = derived("CompileError", "The kernel compiler rejected a source; has `log` and `source`.");
  errors.parse = derived("ParseError", "A text that is not a valid expression; has the `position` of the error.",
                         PyExc_ValueError);
  nb::register_exception_translator(translate);
}

}  // namespace sinter::python
