// Tensors in files, and state dictionaries as Python's.
#include <sinter/dsl/files.hpp>

#include <fmt/format.h>

#include "convert.hpp"

namespace sinter::python {
namespace {

/// The path in an object with __fspath__, or a str.
std::string path_from(nb::handle file) {
  const nb::object path = nb::module_::import_("os").attr("fspath")(file);
  if (!nb::isinstance<nb::str>(path)) throw_type_error("a file's name is a str or a pathlib.Path, not bytes");
  return string_from(path);
}

Metadata metadata_from(nb::handle metadata) {
  Metadata all;
  if (metadata.is_none()) return all;
  for (const nb::handle item : nb::list(metadata.attr("items")())) {
    const nb::handle name = item[0], value = item[1];
    if (!nb::isinstance<nb::str>(name) || !nb::isinstance<nb::str>(value))
      throw_type_error("save_safetensors: metadata is a dict of strs by name");
    all.emplace_back(string_from(name), string_from(value));
  }
  return all;
}

using Load = StateDict (*)(const detail::FileName&, Device);

template <Load load>
nb::dict loaded(const nb::object& file, const nb::object& device) {
  const std::string path = path_from(file);
  const Device on = optional_device_from(device);
  return dict_of(without_gil([&] { return load(path, on); }));
}

void add_arrays(nb::module_& m) {
  m.def(
      "load_npy",
      [](const nb::object& file, const nb::object& device) {
        const std::string path = path_from(file);
        const Device on = optional_device_from(device);
        return object_of(without_gil([&] { return load_npy(path, on).ref(); }));
      },
      nb::arg("file"), nb::arg("device") = nb::none(), "The tensor in a .npy file.");
  m.def(
      "save_npy",
      [](const nb::object& file, const nb::object& x) {
        const std::string path = path_from(file);
        if (!nb::isinstance<Operand>(x))
          throw_type_error(fmt::format("save_npy takes a tensor or an expression, but got {}", describe(x)));
        const auto& value = nb::cast<const Operand&>(x);
        without_gil([&] { save_npy(path, AnyTensor(value.evaluated())); });
      },
      nb::arg("file"), nb::arg("x"), "Writes a tensor or an expression as numpy.save does.");
  m.def("load_npz", loaded<load_npz>, nb::arg("file"), nb::arg("device") = nb::none(),
        "The tensors in a .npz file: a dict by name.");
  m.def(
      "save_npz",
      [](const nb::object& file, const nb::object& tensors) {
        const std::string path = path_from(file);
        const StateDict state = state_from("save_npz", tensors);
        without_gil([&] { save_npz(path, state); });
      },
      nb::arg("file"), nb::arg("tensors"), "Writes a dict of tensors as numpy.savez does.");
}

}  // namespace

nb::dict dict_of(const StateDict& state) {
  nb::dict all;
  for (const auto& [name, tensor] : state) all[nb::str(name.data(), name.size())] = nb::cast(object_of(tensor.ref()));
  return all;
}

StateDict state_from(std::string_view function, nb::handle tensors) {
  if (!nb::hasattr(tensors, "items"))
    throw_type_error(fmt::format("{} takes a dict of tensors by name, but got {}", function, describe(tensors)));
  StateDict state;
  for (const nb::handle item : nb::list(tensors.attr("items")())) {
    const nb::object name = item[0], tensor = item[1];
    if (!nb::isinstance<nb::str>(name) || !nb::isinstance<Operand>(tensor))
      throw_type_error(fmt::format("{} takes a dict of tensors by name, but it holds {} under the name {}", function,
                                   describe(tensor), string_from(nb::repr(name))));
    const auto& x = nb::cast<const Operand&>(tensor);
    state[string_from(name)] = AnyTensor(without_gil([&] { return x.evaluated(); }));
  }
  return state;
}

void add_files(nb::module_& m) {
  add_arrays(m);
  m.def("load_safetensors", loaded<load_safetensors>, nb::arg("file"), nb::arg("device") = nb::none(),
        "The tensors in a safetensors file: a dict by name. On the CPU they map the file, which they never change.");
  m.def(
      "load_safetensors_metadata",
      [](const nb::object& file) {
        const std::string path = path_from(file);
        nb::dict all;
        for (const auto& [name, value] : without_gil([&] { return load_safetensors_metadata(path); }))
          all[nb::str(name.data(), name.size())] = nb::str(value.data(), value.size());
        return all;
      },
      nb::arg("file"), "The metadata of a safetensors file: a dict of strs.");
  m.def(
      "save_safetensors",
      [](const nb::object& file, const nb::object& tensors, const nb::object& metadata) {
        const std::string path = path_from(file);
        const StateDict state = state_from("save_safetensors", tensors);
        const Metadata strings = metadata_from(metadata);
        without_gil([&] { save_safetensors(path, state, strings); });
      },
      nb::arg("file"), nb::arg("tensors"), nb::arg("metadata") = nb::none(),
      "Writes a dict of tensors as a safetensors file. Transformers requires the metadata {\"format\": \"pt\"}.");
}

}  // namespace sinter::python
