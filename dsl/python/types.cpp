// dtypes and devices as objects.
#include <fmt/format.h>

#include "convert.hpp"

namespace sinter::python {

void add_types(py::module_& m) {
  py::class_<DTypeObject>(m, "dtype", "The type of a tensor's elements; also given as \"float32\" or numpy.float32.")
      .def(py::init([](const py::object& of) { return DTypeObject{dtype_from(of)}; }), py::arg("of"), py::pos_only())
      .def_property_readonly("name", [](const DTypeObject& d) { return name(d.dtype); })
      .def_property_readonly("itemsize", [](const DTypeObject& d) { return size_of(d.dtype); })
      .def("__repr__", [](const DTypeObject& d) { return fmt::format("sinter_jit.{}", name(d.dtype)); })
      .def("__hash__", [](const DTypeObject& d) { return static_cast<int>(d.dtype); })
      .def("__reduce__",
           [](const py::object& self) { return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("name"))); })
      .def("__eq__", [](const DTypeObject& a, const py::object& b) {
        return py::isinstance<DTypeObject>(b) && b.cast<const DTypeObject&>().dtype == a.dtype;
      });
  for (int i = 0; i < dtype_count; ++i) m.attr(std::string(name(DType(i))).c_str()) = DTypeObject{DType(i)};

  py::class_<Device>(m, "device", "The device of a tensor: \"cpu\", \"cuda:0\"; also given as the number of a GPU.")
      .def(py::init([](const py::object& of) { return device_from(of); }), py::arg("of"), py::pos_only())
      .def_property_readonly("type", [](const Device& d) { return d.is_cpu()    ? "cpu"
                                                                  : d.is_cuda() ? "cuda"
                                                                                : "mesh"; })
      .def_property_readonly(
          "index",
          [](const Device& d) -> py::object { return d.is_cuda() ? py::object(py::int_(d.index())) : py::none(); })
      .def("__str__", [](const Device& d) { return to_string(d); })
      .def("__repr__", [](const Device& d) { return fmt::format("sinter_jit.device('{}')", to_string(d)); })
      .def("__hash__", [](const Device& d) { return d.is_cuda() ? d.index() : -2; })
      .def("__reduce__",
           [](const py::object& self) { return py::make_tuple(py::type::of(self), py::make_tuple(py::str(self))); })
      .def("__eq__",
           [](const Device& a, const py::object& b) { return py::isinstance<Device>(b) && b.cast<Device>() == a; });
}

}  // namespace sinter::python
