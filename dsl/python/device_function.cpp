// Device functions, as in dsl/device_function.hpp.
#include <dsl/text/call.hpp>
#include <sinter/dsl/device_function.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

class DeviceFunction {
 public:
  DeviceFunction(const nb::object& definition, const nb::object& derivatives) {
    if (!nb::isinstance<nb::str>(definition)) throw_wrong("device_function", "definition", "a str", definition);
    std::vector<std::string> bodies;
    if (!derivatives.is_none())
      for (const nb::handle d : items_of("device_function", "derivatives", "a list of str", derivatives)) {
        if (!nb::isinstance<nb::str>(d)) throw_wrong("device_function", "derivatives", "a list of str", d);
        bodies.push_back(string_from(d));
      }
    id_ = detail::define_function(string_from(definition), std::move(bodies));
  }

  std::string name() const { return jit::source_of(id_).name; }

  std::unique_ptr<Operand> operator()(const nb::args& positional, const nb::kwargs& keywords) const {
    const std::string function = name();
    const ArgumentValues a = read_arguments(function, positional, keywords);
    try {
      return object_of(without_gil([&] {
        const std::vector<std::string_view> names(a.names.begin(), a.names.end());
        return detail::called(id_, {"", detail::no_range, function}, a.values, names);
      }));
    } catch (const ParseError& e) {  // like a Python function
      throw_type_error(e.what());
    }
  }

 private:
  jit::FunctionId id_{};
};

}  // namespace

void add_device_functions(nb::module_& m) {
  nb::class_<DeviceFunction>(
      m, "device_function",
      "A function written in C, which kernels call for each element:\n\n"
      "    leaky = sinter.device_function(\"float leaky(float x, float a) { return x > 0 ? x : a * x; }\",\n"
      "                                   derivatives=[\"return x > 0 ? g : a * g;\", \"return x > 0 ? 0 : x * g;\"])\n"
      "    y = leaky(x + 1, 0.1) * z  # one kernel\n\n"
      "It takes and returns float, double, int, long long and bool, and may call functions of <math.h>. Operands are "
      "tensors,\nexpressions and numbers; one of another dtype converts if both promote to the parameter's. "
      "derivatives: for each\nparameter the body of a function that returns the derivative times g, the gradient of "
      "the "
      "result; it may also use r,\nthe result. \"\" where there is none. The CPU needs a C++ compiler on the machine.")
      .def(nb::init<const nb::object&, const nb::object&>(), nb::arg("definition").none(),
           nb::arg("derivatives") = nb::none())
      .def_prop_ro("name", &DeviceFunction::name)
      .def("__call__", &DeviceFunction::operator(),
           nb::sig("def __call__(self, *operands: object, **named: object) -> Expression"))
      .def("__repr__", [](const DeviceFunction& f) { return "<device_function " + f.name() + ">"; });
}

}  // namespace sinter::python
