// Streams and events of GPUs, statistics of memory, and meshes.
#include <fmt/format.h>

#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/stream.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

Device gpu_from(std::string_view function, const nb::object& device) {
  return device.is_none() ? Device(current_device()) : device_from(function, device);
}

/// The streams that this thread's `with` statements made current, innermost last.
std::vector<std::pair<Stream, std::unique_ptr<StreamGuard>>>& entered() {
  thread_local std::vector<std::pair<Stream, std::unique_ptr<StreamGuard>>> streams;
  return streams;
}

void leave(const Stream& stream) {
  auto& streams = entered();
  if (streams.empty() || streams.back().first != stream)
    throw Error("a stream's `with` statement ended in another order or thread than it began");
  streams.pop_back();
}

void add_events(nb::module_& m) {
  nb::class_<Event> event(m, "Event", "A point in the work of a stream, from stream.record().");
  refuse_construction(event, "Event: stream.record() makes events");
  event
      .def(
          "synchronize", [](const Event& e) { without_gil([&] { e.synchronize(); }); },
          "Waits until the work before it is done.")
      .def("query", &Event::query, "Whether the work before it is done.")
      .def("elapsed_ms", &Event::elapsed_ms, nb::arg("end"),
           "Milliseconds to a later event of the same GPU, both recorded with timing=True and done.")
      .def_prop_ro("device", &Event::device);
}

void add_stream_class(nb::module_& m) {
  nb::class_<Stream>(m, "Stream",
                     "A queue of a GPU's work. `with stream:` issues this thread's work to it; operands are ordered.")
      .def(
          "__init__", [](Stream* self, const nb::object& device) { new (self) Stream(gpu_from("Stream", device)); },
          nb::arg("device") = nb::none())
      .def_static(
          "from_native",
          [](std::uintptr_t stream, const nb::object& device) {
            return Stream::from_native(reinterpret_cast<void*>(stream), gpu_from("from_native", device));
          },
          nb::arg("stream"), nb::arg("device") = nb::none(),
          "Wraps another library's CUstream, given as an integer; 0 is CUDA's legacy default stream.")
      .def_prop_ro("device", &Stream::device)
      .def_prop_ro(
          "native", [](const Stream& s) { return reinterpret_cast<std::uintptr_t>(s.native()); },
          "The CUstream as an integer.")
      .def(
          "synchronize", [](const Stream& s) { without_gil([&] { s.synchronize(); }); },
          "Waits until all its work is done.")
      .def("query", &Stream::query, "Whether all its work is done.")
      .def(
          "wait", [](const Stream& s, const Event& event) { s.wait(event); }, nb::arg("other"),
          "Makes work issued from now on wait for an event, or for the work of another stream so far.")
      .def(
          "wait", [](const Stream& s, const Stream& other) { s.wait(other); }, nb::arg("other"))
      .def(
          "record", [](const Stream& s, Flag timing) { return s.record(timing ? Timing::On : Timing::Off); },
          nb::arg("timing") = false, "An event after the work so far.")
      .def("__enter__",
           [](const nb::object& self) {
             const auto& stream = nb::cast<const Stream&>(self);
             entered().emplace_back(stream, std::make_unique<StreamGuard>(stream));
             return self;
           })
      .def("__exit__", [](const Stream& s, const nb::args&) { leave(s); })
      .def(
          "__eq__", [](const Stream& a, const Stream& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Stream& s) { return reinterpret_cast<std::uintptr_t>(&s.impl()) >> 4; });
  m.def(
      "current_stream", [](const nb::object& device) { return current_stream(gpu_from("current_stream", device)); },
      nb::arg("device") = nb::none(), "The stream of a GPU to which this thread issues work.");
  m.def(
      "default_stream", [](const nb::object& device) { return default_stream(gpu_from("default_stream", device)); },
      nb::arg("device") = nb::none(), "The default stream of a GPU, shared by all threads.");
}

nb::dict dict_of(const MemoryStats& s) {
  nb::dict d;
  d["in_use"] = s.in_use;
  d["cached"] = s.cached;
  d["peak_in_use"] = s.peak_in_use;
  d["blocks"] = s.blocks;
  d["requests"] = s.requests;
  d["driver_allocations"] = s.driver_allocations;
  return d;
}

void add_memory(nb::module_& m) {
  m.def(
      "memory_stats",
      [](const nb::object& device) { return dict_of(memory_stats(optional_device_from("memory_stats", device))); },
      nb::arg("device") = nb::none(),
      "Bytes of a device's memory that tensors use, that are cached, and at the peak, and numbers of blocks. A dict.");
  m.def(
      "reset_peak_memory",
      [](const nb::object& device) { reset_peak_memory(optional_device_from("reset_peak_memory", device)); },
      nb::arg("device") = nb::none(), "Sets the peak in memory_stats to the current use.");
  m.def(
      "empty_cache",
      [](const nb::object& device) {
        const Device on = optional_device_from("empty_cache", device);
        return without_gil([&] { return empty_cache(on); });
      },
      nb::arg("device") = nb::none(), "Returns cached memory to the device. The number of bytes.");
}

Mesh mesh_of(const nb::object& devices) {
  if (devices.is_none()) return Mesh();
  std::vector<Device> all;
  for (const nb::handle device : items_of("Mesh", "devices", "a list of devices", devices))
    all.push_back(device_from("Mesh", device, "devices"));
  return Mesh(std::move(all));
}

nb::list devices_of(const Mesh& mesh) {
  nb::list all;
  for (int i = 0; i < mesh.size(); ++i) all.append(nb::cast(mesh.device(i)));
  return all;
}

void add_meshes(nb::module_& m) {
  nb::class_<Mesh>(m, "Mesh", "Devices that divide the work along an axis of sharded tensors: every GPU by default.")
      .def(
          "__init__", [](Mesh* self, const nb::object& devices) { new (self) Mesh(mesh_of(devices)); },
          nb::arg("devices") = nb::none())
      .def_static(
          "world", [] { return without_gil([] { return Mesh::world(); }); },
          "The devices of all processes that mpirun started.")
      .def_prop_ro("devices", devices_of)
      .def("__len__", &Mesh::size)
      .def(
          "__eq__", [](const Mesh& a, const Mesh& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Mesh& mesh) { return Device(mesh).index(); })
      .def("__repr__", [](const Mesh& mesh) { return fmt::format("sinter_jit.Mesh({})", to_string(Device(mesh))); });
}

}  // namespace

void add_streams(nb::module_& m) {
  add_events(m);
  add_stream_class(m);
  add_memory(m);
  add_meshes(m);
}

}  // namespace sinter::python
