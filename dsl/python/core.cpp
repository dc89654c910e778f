// The module sinter_jit._core. The package's Python files add operators and operations to it.
#include <sinter/jit/cache.hpp>
#include <sinter/jit/cpu_jit.hpp>
#include <sinter/jit/stats.hpp>
#include <sinter/runtime/device.hpp>
#include "convert.hpp"

#include <dsl/tool/command_line.hpp>
#include <runtime/package_folders.hpp>
#include <runtime/progress_line.hpp>

namespace sinter::python {
namespace {

nb::dict stats() {
  const JitStats s = jit_stats();
  nb::dict d;
  d["compiles"] = s.compiles;
  d["disk_hits"] = s.disk_hits;
  d["memory_hits"] = s.memory_hits;
  d["plans"] = s.plans;
  d["launches"] = s.launches;
  d["waits"] = s.waits;
  d["compile_milliseconds"] = s.compile_milliseconds;
  d["kernels_held"] = s.kernels_held;
  d["kernel_bytes"] = s.kernel_bytes;
  d["kernels_evicted"] = s.kernels_evicted;
  return d;
}

nb::list history() {
  nb::list all;
  for (const KernelRecord& r : kernel_history()) {
    nb::dict d;
    d["name"] = r.name;
    d["device"] = r.device;
    d["target"] = r.target;
    d["origin"] = to_string(r.origin);
    d["milliseconds"] = r.milliseconds;
    all.append(d);
  }
  return all;
}

void wait(const nb::object& device) {
  if (device.is_none()) return without_gil([] { synchronize(); });
  const Device on = device_from("synchronize", device);
  without_gil([&] { synchronize(on); });
}

CpuJit cpu_jit_from(const std::string& word) {
  for (const CpuJit when : {CpuJit::Off, CpuJit::Hot, CpuJit::Always})
    if (word == to_string(when)) return when;
  throw nb::value_error(
      fmt::format("set_cpu_jit(): argument 'when' must be 'off', 'hot' or 'always', not '{}'", word).c_str());
}

void add_devices(nb::module_& m) {
  m.def("device_count", [] { return without_gil([] { return device_count(); }); }, "Number of GPUs, real or virtual.");
  m.def(
      "device_name", [](int index) { return without_gil([&] { return device_name(index); }); }, nb::arg("index") = 0,
      "The driver's name of a GPU.");
  m.def("synchronize", wait, nb::arg("device") = nb::none(),
        "Waits until a device, or all devices, have finished their work.");
  m.def("jit_stats", stats, "Counters of this process: what was compiled and run, and the memory in use. A dict.");
  m.def("kernel_history", history,
        "The last 256 kernels that became ready, oldest first: dicts of name, device, target, origin (\"compiled\", "
        "\"disk\" or \"memory\") and milliseconds.");
  m.def(
      "clear_cache", [] { without_gil([] { clear_cache(); }); },
      "Frees all compiled kernels and plans in memory; the disk cache stays.");
  m.def(
      "cpu_jit", [] { return std::string(to_string(cpu_jit())); },
      "When the CPU's loops are compiled: \"off\", \"hot\" or \"always\".");
  m.def(
      "set_cpu_jit", [](const std::string& when) { set_cpu_jit(cpu_jit_from(when)); }, nb::arg("when"),
      "Chooses when the CPU's loops are compiled by the host's compiler: \"off\", \"hot\" (in the background, when a "
      "kernel has taken about 50 ms in all) or \"always\" (at its first evaluation).");
}

/// A notebook's page shows what is written to stderr.
bool is_notebook() { return nb::cast<nb::dict>(nb::module_::import_("sys").attr("modules")).contains("ipykernel"); }

/// Where this interpreter's packages are, some of which contain libraries that Sinter opens.
std::vector<std::string> folders_of_packages() {
  std::vector<std::string> folders;
  for (const nb::handle folder : nb::list(nb::module_::import_("sys").attr("path")))
    if (nb::isinstance<nb::str>(folder))
      if (std::string path = string_from(folder); path.ends_with("-packages")) folders.push_back(std::move(path));
  return folders;
}

/// Runs the tool with these arguments, bytes objects, of which the first is the program's name.
int run_tool(const nb::list& arguments) {
  std::vector<const char*> texts;
  for (const nb::handle argument : arguments) texts.push_back(nb::cast<nb::bytes>(argument).c_str());
  return without_gil([&] { return tool::main(texts); });
}

}  // namespace
}  // namespace sinter::python

NB_MODULE(_core, m) {
  using namespace sinter::python;
  nb::set_leak_warnings(false);  // objects may live until the process ends
  m.attr("__version__") = SINTER_VERSION;
  add_errors(m);
  add_types(m);
  add_tensors(m);
  add_device_functions(m);
  add_gradients(m);
  add_indexed(m);
  add_devices(m);
  add_export(m);
  add_random(m);
  add_files(m);
  add_streams(m);
  add_optimizers(m);
  m.def("_tool", run_tool);
  explain_refusals(m);
  sinter::runtime::set_package_folders(folders_of_packages());
  if (is_notebook()) sinter::runtime::show_progress(sinter::runtime::ProgressLines::On);
}
