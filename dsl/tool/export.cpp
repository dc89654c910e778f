// sinter export: C source of an expression.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <dsl/text/export.hpp>
#include <runtime/text.hpp>
#include "commands.hpp"
#include "operands.hpp"

namespace sinter::tool {
namespace {

std::vector<ArgumentType> read_types(const Parsed& given, const ParsedExpression& expression) {
  const std::vector<Argument> arguments = read_arguments(given.all("--arg"));
  check_used(expression, arguments);
  std::vector<ArgumentType> types;
  for (const Argument& a : arguments) {
    if (!a.is_type())
      throw UsageError(fmt::format(
          "--arg: an exported kernel takes any elements, so declare the type of {0}: '{0}: f32[n]'", a.name));
    types.push_back(std::get<ArgumentType>(a.value));
  }
  return types;
}

std::vector<int> architectures(const std::vector<std::string>& list) {
  if (list.empty())
    throw UsageError("--arch: name architectures, such as 90, or none for a kernel that runs only on the CPU");
  std::vector<int> numbers;
  for (const std::string& text : list) {
    const std::string_view digits = std::string_view(text).substr(text.starts_with("sm_") ? 3 : 0);
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
      throw UsageError(
          fmt::format("--arch: {} is not an architecture: 90 is compute capability 9.0", runtime::quote(text)));
    numbers.push_back(number);
  }
  return numbers;
}

LibraryOptions library_options(const Parsed& given) {
  LibraryOptions library{.name = given.get("--name", "kernel"), .prefix = given.get("--prefix")};
  const std::vector<std::string> archs = given.list("--arch"), extra = given.list("--extra");
  if (given.has("--arch"))
    library.architectures = archs == std::vector<std::string>{"none"} ? std::vector<int>() : architectures(archs);
  library.ptx = given.get("--ptx") != "off";
  const std::string format = given.get("--format", "source");
  library.format = format == "header"   ? ExportFormat::Header
                   : format == "fatbin" ? ExportFormat::Fatbin
                                        : ExportFormat::Source;
  library.dlpack = given.has("--dlpack");
  const auto wants = [&](std::string_view file) { return std::ranges::find(extra, file) != extra.end(); };
  library.cuda_source = wants("cu");
  library.manifest = wants("json");
  library.cpp_wrapper = wants("hpp");
  library.ptx_files = wants("ptx");
  library.dot = wants("dot");
  return library;
}

}  // namespace

int export_kernels(const Parsed& given) {
  const LibraryOptions library = library_options(given);
  define_functions(given.all("--function"));
  const ParsedExpression parsed(given.operands[0]);
  ExportOptions options{.name = given.get("--name", "kernel")};
  options.strided = given.list("--strided");
  options.in_place = given.has("--in-place");
  options.one_variant = given.get("--variants") == "one";
  const jit::Export kernel = detail::exported_text(parsed, read_types(given, parsed), std::move(options));
  const Exported files = jit::export_library({kernel}, library);
  const std::string folder = given.get("--output", ".");
  files.write(folder);
  for (const auto& [name, text] : files.files) fmt::print("{}\n", (std::filesystem::path(folder) / name).string());
  return 0;
}

}  // namespace sinter::tool
