// dtypes and devices as objects.
#include <fmt/format.h>

#include "convert.hpp"

namespace sinter::python {

void add_types(nb::module_& m) {
  nb::class_<DTypeObject>(m, "dtype", "The type of a tensor's elements; also given as \"float32\" or numpy.float32.")
      .def(
          "__init__",
          [](DTypeObject* self, const nb::object& of) { new (self) DTypeObject{dtype_from("dtype", of, "of")}; },
          nb::arg("of").none())
      .def_prop_ro("name", [](const DTypeObject& d) { return name(d.dtype); })
      .def_prop_ro("itemsize", [](const DTypeObject& d) { return size_of(d.dtype); })
      .def("__repr__", [](const DTypeObject& d) { return fmt::format("sinter_jit.{}", name(d.dtype)); })
      .def("__hash__", [](const DTypeObject& d) { return static_cast<int>(d.dtype); })
      .def("__reduce__",
           [](const nb::object& self) { return nb::make_tuple(self.type(), nb::make_tuple(self.attr("name"))); })
      .def("__eq__", [](const DTypeObject& a, const DTypeObject& b) { return a.dtype == b.dtype; }, nb::is_operator());
  for (int i = 0; i < dtype_count; ++i) m.attr(std::string(name(DType(i))).c_str()) = DTypeObject{DType(i)};

  nb::class_<Device>(m, "device", "The device of a tensor: \"cpu\", \"cuda:0\"; also given as the number of a GPU.")
      .def(
          "__init__", [](Device* self, const nb::object& of) { new (self) Device(device_from("device", of, "of")); },
          nb::arg("of").none())
      .def_prop_ro("type", [](const Device& d) { return d.is_cpu()    ? "cpu"
                                                        : d.is_cuda() ? "cuda"
                                                                      : "mesh"; })
      .def_prop_ro(
          "index",
          [](const Device& d) -> nb::object { return d.is_cuda() ? nb::object(nb::int_(d.index())) : nb::none(); })
      .def("__str__", [](const Device& d) { return to_string(d); })
      .def("__repr__", [](const Device& d) { return fmt::format("sinter_jit.device('{}')", to_string(d)); })
      .def("__hash__", [](const Device& d) { return d.is_cuda() ? d.index() : -2; })
      .def("__reduce__",
           [](const nb::object& self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self))); })
      .def("__eq__", [](const Device& a, const Device& b) { return a == b; }, nb::is_operator());
}

}  // namespace sinter::python
