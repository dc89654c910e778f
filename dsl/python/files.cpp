// Tensors in files, and state dictionaries as Python's.
#include <sinter/dsl/files.hpp>

#include "convert.hpp"

namespace sinter::python {
namespace {

std::string file_from(std::string_view function, nb::handle file) { return path_from(function, "file", file); }

Metadata metadata_from(nb::handle metadata) {
  Metadata all;
  if (metadata.is_none()) return all;
  if (!nb::hasattr(metadata, "items")) throw_wrong("save_safetensors", "metadata", "a dict of strs by name", metadata);
  for (const nb::handle item : nb::list(metadata.attr("items")())) {
    const nb::handle name = item[0], value = item[1];
    if (!nb::isinstance<nb::str>(name) || !nb::isinstance<nb::str>(value))
      throw_wrong_item("save_safetensors", "metadata", "a dict of strs by name", name, value);
    all.emplace_back(string_from(name), string_from(value));
  }
  return all;
}

using Load = StateDict (*)(const detail::FileName&, Device);

void add_load(nb::module_& m, const char* name, Load load, const char* doc) {
  const auto loaded = [name, load](const nb::object& file, const nb::object& device) {
    const std::string path = file_from(name, file);
    const Device on = optional_device_from(name, device);
    return dict_of(without_gil([&] { return load(path, on); }));
  };
  m.def(name, loaded, nb::arg("file").none(), nb::arg("device") = nb::none(), doc);
}

void add_arrays(nb::module_& m) {
  m.def(
      "load_npy",
      [](const nb::object& file, const nb::object& device) {
        const std::string path = file_from("load_npy", file);
        const Device on = optional_device_from("load_npy", device);
        return object_of(without_gil([&] { return load_npy(path, on).ref(); }));
      },
      nb::arg("file").none(), nb::arg("device") = nb::none(), "The tensor in a .npy file.");
  m.def(
      "save_npy",
      [](const nb::object& file, const Operand& x) {
        const std::string path = file_from("save_npy", file);
        without_gil([&] { save_npy(path, AnyTensor(x.evaluated())); });
      },
      nb::arg("file").none(), nb::arg("x"), "Writes a tensor or an expression as numpy.save does.");
  add_load(m, "load_npz", load_npz, "The tensors in a .npz file: a dict by name.");
  m.def(
      "save_npz",
      [](const nb::object& file, const nb::object& tensors) {
        const std::string path = file_from("save_npz", file);
        const StateDict state = state_from("save_npz", "tensors", tensors);
        without_gil([&] { save_npz(path, state); });
      },
      nb::arg("file").none(), nb::arg("tensors").none(), "Writes a dict of tensors as numpy.savez does.");
}

}  // namespace

nb::dict dict_of(const StateDict& state) {
  nb::dict all;
  for (const auto& [name, tensor] : state) all[nb::str(name.data(), name.size())] = nb::cast(object_of(tensor.ref()));
  return all;
}

StateDict state_from(std::string_view function, std::string_view argument, nb::handle tensors) {
  if (!nb::hasattr(tensors, "items")) throw_wrong(function, argument, "a dict of tensors by name", tensors);
  StateDict state;
  for (const nb::handle item : nb::list(tensors.attr("items")())) {
    const nb::object name = item[0], tensor = item[1];
    if (!nb::isinstance<nb::str>(name) || !nb::isinstance<Operand>(tensor))
      throw_wrong_item(function, argument, "a dict of tensors by name", name, tensor);
    const auto& x = nb::cast<const Operand&>(tensor);
    state[string_from(name)] = AnyTensor(without_gil([&] { return x.evaluated(); }));
  }
  return state;
}

void add_files(nb::module_& m) {
  add_arrays(m);
  add_load(m, "load_safetensors", load_safetensors,
           "The tensors in a safetensors file: a dict by name. On the CPU they map the file, which they never change.");
  m.def(
      "load_safetensors_metadata",
      [](const nb::object& file) {
        const std::string path = file_from("load_safetensors_metadata", file);
        nb::dict all;
        for (const auto& [name, value] : without_gil([&] { return load_safetensors_metadata(path); }))
          all[nb::str(name.data(), name.size())] = nb::str(value.data(), value.size());
        return all;
      },
      nb::arg("file").none(), "The metadata of a safetensors file: a dict of strs.");
  m.def(
      "save_safetensors",
      [](const nb::object& file, const nb::object& tensors, const nb::object& metadata) {
        const std::string path = file_from("save_safetensors", file);
        const StateDict state = state_from("save_safetensors", "tensors", tensors);
        const Metadata strings = metadata_from(metadata);
        without_gil([&] { save_safetensors(path, state, strings); });
      },
      nb::arg("file").none(), nb::arg("tensors").none(), nb::arg("metadata") = nb::none(),
      "Writes a dict of tensors as a safetensors file. Transformers requires the metadata {\"format\": \"pt\"}.");
}

}  // namespace sinter::python
