// sinter run, sinter explain, sinter devices.
#include <fmt/format.h>

#include <thread>

#include <runtime/atomic_file_writer.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/files.hpp>
#include <sinter/dsl/print.hpp>
#include "commands.hpp"
#include "operands.hpp"

namespace sinter::tool {
namespace {

struct Asked {
  ParsedExpression expression;
  std::vector<Argument> arguments;
};

Asked read(const Parsed& given) {
  define_functions(given.all("--function"));
  Asked asked{ParsedExpression(given.operands[0]), read_arguments(given.all("--arg"))};
  check_used(asked.expression, asked.arguments);
  return asked;
}

std::string memory(Device device) {
  const MemoryInfo info = memory_info(device);
  return fmt::format("{} free of {}", runtime::format_bytes(info.free), runtime::format_bytes(info.total));
}

/// The file has all of it or what it had before.
void write_page(const std::string& file, const std::string& page) {
  runtime::AtomicFileWriter written(file);
  written.write(page);
  written.commit();
}

}  // namespace

int run_expression(const Parsed& given) {
  const Device device(given.get("--device", "cpu"));
  const Asked asked = read(given);
  for (const Argument& a : asked.arguments)
    if (a.is_type())
      throw UsageError(
          fmt::format("--arg: '{}' declares an argument, but evaluating needs its elements: "
                      "{}=FILE.npy",
                      to_string(std::get<ArgumentType>(a.value)), a.name));
  const Operands operands = make_operands(asked.arguments, {}, Fill::None, device);
  const AnyTensor result(asked.expression(operands.named));
  if (given.has("--output"))
    save_npy(given.get("--output"), result);
  else
    fmt::print("{}\n", detail::to_string(result.impl()));
  return 0;
}

int explain_expression(const Parsed& given) {
  if (given.has("--cuda") + given.has("--hip") + given.has("--ptx") + given.has("--dot") + given.has("--html") > 1)
    throw UsageError("--cuda, --hip, --ptx, --dot and --html exclude each other: choose one");
  const Device device(given.get("--device", "cpu"));
  const Asked asked = read(given);
  const Operands operands = make_operands(asked.arguments, read_sizes(given.all("--size")), Fill::None, device);
  const Lazy<AnyType> e = asked.expression(operands.named);
  const jit::Recorded recorded(e.node());
  if (given.has("--html")) return write_page(given.get("--html"), jit::explain_html(recorded)), 0;
  const std::string text = given.has("--cuda")  ? jit::cuda_source(recorded)
                           : given.has("--hip") ? jit::hip_source(recorded)
                           : given.has("--ptx") ? jit::ptx(recorded, given.get("--ptx"))
                           : given.has("--dot") ? jit::to_dot(recorded)
                                                : jit::explain(recorded);
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  return 0;
}

int list_devices(const Parsed&) {
  fmt::print("cpu     {} threads, {}\n", std::thread::hardware_concurrency(), memory(cpu));
  for (int i = 0; i < device_count(); ++i) {
    const Capability capability = compute_capability(i);
    fmt::print("cuda:{:<2} {}, compute capability {}.{}, {}\n", i, device_name(i), capability.major, capability.minor,
               memory(i));
  }
  if (device_count() > 0) return 0;
  try {
    static_cast<void>(device_name(0));
  } catch (const Error& e) {  // says why there is none
    fmt::print("no GPU  {}\n", e.what());
  }
  return 0;
}

}  // namespace sinter::tool
