// The C source of an exported library.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../functions/functions.hpp"
#include "c_expression.hpp"
#include "c_functions.hpp"
#include "c_kernel.hpp"
#include "c_launch.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view export_arguments, export_launcher, export_file, export_dlpack, export_dlpack_device;
}

namespace sinter::inline v1::jit::exporting {
namespace {

std::string error_text_function(const Library& library) {
  std::string out = fmt::format("const char *{}_error_text(int code) {{\n  switch (code) {{\n", library.prefix());
  for (const ErrorCode& e : error_codes(library)) out += fmt::format("    case {}: return \"{}\";\n", e.code, e.text);
  out += "    default: break;\n  }\n";
  if (!library.launches()) return out + "  return \"no such code\";\n}\n";
  return out +
         fmt::format("  return code > {0} ? sinter_driver_text(code - {0}) : \"no such code\";\n}}\n", driver_error);
}

std::string error_enum(const Library& library) {
  std::string out = "enum {\n";
  for (const ErrorCode& e : error_codes(library)) {
    std::string name(e.name);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out += fmt::format("  sinter_{} = {},\n", name, e.code);
  }
  if (library.launches()) out += fmt::format("  sinter_driver_error = {},\n", driver_error);
  out.erase(out.size() - 2, 1);  // the last comma
  return out + "};\n";
}

/// The sizes of sinter_nest.
std::string nest_limits(const Library& library) {
  std::size_t dims = 2, operands = 1;
  for (const Model& m : library.kernels)
    for (const Step& s : m.steps)
      for (const LayoutVersion& version : s.versions) {
        dims = std::max(dims, static_cast<std::size_t>(version.nest.ndim));
        operands = std::max(operands, s.traits->operands.size());
      }
  return fmt::format("enum {{ sinter_max_dims = {}, sinter_max_operands = {} }};\n", dims, operands);
}

/// Everything of one kernel.
std::string kernel_text(const Library& library, const Model& m) {
  std::string out =
      fmt::format("/* ---- {} {} */\n\n", m.name, std::string(std::max<std::size_t>(105 - m.name.size(), 8), '-'));
  for (std::size_t s = 0; m.launches && s < m.steps.size(); ++s)
    for (const LayoutVersion& version : m.steps[s].versions) out += c_kernel_tables(library, m, s, version);
  out += c_arguments(m);
  for (std::size_t s = 0; s < m.steps.size(); ++s) {
    for (const LayoutVersion& version : m.steps[s].versions)
      if (m.launches || &version == &m.steps[s].versions.back())
        out += c_nest(m, s, version, kernel_name(m, s, version)) + "\n";
    out += c_kernel(m, s) + "\n";
  }
  out += c_check(m) + c_public_functions(m, library.kernel_prefix(m));
  return library.options.dlpack ? out + c_dlpack_functions(m, library.kernel_prefix(m)) : out;
}

/// The device functions that kernels call.
std::string device_functions(const Library& library) {
  std::set<FunctionId> called;
  for (const Model& m : library.kernels)
    for (const Step& s : m.steps)
      for (const Node& n : s.kernel->graph.nodes())
        if (n.op == Op::call) called.insert(FunctionId{n.attribute});
  return definitions(called, "static inline");
}

std::string includes(const Library& library) {
  const bool is_header = library.options.format == ExportFormat::Header;
  std::string out;
  if (library.launches() && !is_header) out += "#ifndef _POSIX_C_SOURCE\n#define _POSIX_C_SOURCE 200809L\n#endif\n";
  if (!is_header) out += fmt::format("#include \"{}.h\"\n\n", library.options.name);
  const auto include = [&](const char* name) { out += fmt::format("#include <{}.h>\n", name); };
  if (library.launches()) include("dlfcn");
  include("math");
  if (library.launches()) include("pthread");
  if (library.options.format == ExportFormat::Fatbin) include("stdio");
  if (library.launches() || library.allocates()) include("stdlib");
  include("string");
  return out + "\n";
}

}  // namespace

std::string source_text(const Library& library) {
  std::string own;
  for (const Model& m : library.kernels) own += kernel_text(library, m);
  std::string out =
      fmt::format("/* {0}.c: kernels exported by Sinter; see {0}.h. Link it with the C library's {1}. */\n",
                  library.options.name, library.launches() ? "m and dl" : "m") +
      includes(library) +
      "/* a * b + c is rounded twice unless it says fma. */\n"
      "#if defined(__GNUC__) && !defined(__clang__)\n"
      "#pragma GCC push_options\n"
      "/* GCC vectorizes conditional expressions only without trapping math. The others undo -ffast-math. */\n"
      "#pragma GCC optimize(\"fp-contract=off\", \"no-trapping-math\", \"no-associative-math\")\n"
      "#pragma GCC optimize(\"no-finite-math-only\", \"no-reciprocal-math\", \"signed-zeros\")\n"
      "#elif defined(_MSC_VER) && !defined(__clang__)\n#pragma fp_contract(off)\n"
      "#else\n#if defined(__clang__) && __clang_major__ >= 12\n"
      "#pragma float_control(push)\n#pragma float_control(precise, on)\n#endif\n"
      "#pragma STDC FP_CONTRACT OFF\n#endif\n\n";
  if (own.find("SINTER_VECTORS") != std::string::npos || own.find("SINTER_LANES") != std::string::npos)
    out +=
        "/* No iteration of the loop reads what another one writes, which GCC must be told. Clang must be kept from "
        "unrolling it\n   before it makes vectors. */\n"
        "#if defined(__clang__)\n#define SINTER_VECTORS _Pragma(\"clang loop unroll(disable)\")\n"
        "#elif defined(__GNUC__) && !defined(__TINYC__)\n#define SINTER_VECTORS _Pragma(\"GCC ivdep\")\n"
        "#else\n#define SINTER_VECTORS\n#endif\n\n";
  if (own.find("SINTER_LANES") != std::string::npos)
    out +=
        "/* The same for a loop over accumulators, which may stay in registers if it is unrolled. */\n"
        "#if defined(__clang__)\n#define SINTER_LANES\n#else\n#define SINTER_LANES SINTER_VECTORS\n#endif\n\n";
  if (own.find("SINTER_PARALLEL") != std::string::npos)
    out +=
        "/* With OpenMP, threads share the iterations of the loop. Fewer elements are not worth starting them. */\n"
        "#if defined(_OPENMP) && !defined(_MSC_VER)\n"
        "#define SINTER_PRAGMA(text) _Pragma(#text)\n"
        "#define SINTER_PARALLEL(elements) SINTER_PRAGMA(omp parallel for if ((elements) >= 65536))\n"
        "#define SINTER_PARALLEL_FAULTS(elements, ...) \\\n"
        "  SINTER_PRAGMA(omp parallel for if ((elements) >= 65536) reduction(|:__VA_ARGS__))\n"
        "#else\n#define SINTER_PARALLEL(elements)\n#define SINTER_PARALLEL_FAULTS(elements, ...)\n#endif\n\n";
  out +=
      "/* Around each kernel on the CPU, whose name is a string: define them, for example by -include, to trace it. "
      "*/\n"
      "#ifndef SINTER_TRACE_BEGIN\n#define SINTER_TRACE_BEGIN(kernel) ((void)0)\n#endif\n"
      "#ifndef SINTER_TRACE_END\n#define SINTER_TRACE_END(kernel) ((void)0)\n#endif\n\n";
  out += error_enum(library) + nest_limits(library) + "\n";
  for (const char* const type : {"float", "double"}) {
    const std::string name = fmt::format("sinter_complex{}", *type == 'f' ? 64 : 128);
    if (own.find(name) != std::string::npos) out += fmt::format("typedef struct {{ {} re, im; }} {};\n\n", type, name);
  }
  out += std::string(embedded::export_arguments) + "\n";
  if (library.launches()) out += c_launch_limits(library) + std::string(embedded::export_launcher) + "\n";
  if (library.options.format == ExportFormat::Fatbin) out += std::string(embedded::export_file) + "\n";
  if (library.options.dlpack) out += std::string(embedded::export_dlpack) + "\n";
  if (library.options.dlpack && library.launches()) out += std::string(embedded::export_dlpack_device) + "\n";
  if (library.launches()) out += c_images(library);
  const std::string helpers = helpers_for(own);
  if (!helpers.empty())
    out +=
        "/* ---- Functions of elements "
        "------------------------------------------------------------------------------------ */\n\n" +
        helpers;
  out += device_functions(library) + own +
         "/* ---- The library "
         "---------------------------------------------------------------------------------------------- */\n\n";
  if (library.launches()) out += c_load_functions(library);
  out += fmt::format("int {}_abi_version(void) {{ return {}_ABI_VERSION; }}\n\n", library.prefix(), library.macro());
  out += error_text_function(library) +
         "\n#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC pop_options\n"
         "#elif defined(__clang__) && __clang_major__ >= 12\n#pragma float_control(pop)\n#endif\n";
  if (library.options.format == ExportFormat::Header)
    out +=
        "\n#undef SINTER_VECTORS\n#undef SINTER_LANES\n#undef SINTER_PARALLEL\n#undef SINTER_PARALLEL_FAULTS\n#undef "
        "SINTER_PRAGMA\n";
  return out;
}

std::string cuda_text(const Library& library) {
  std::string out;
  for (std::size_t i = 0; i < library.images.size(); ++i)
    out += fmt::format("// ==== image {} of {}: kernel {}. Each is compiled by itself.\n\n{}\n", i,
                       library.images.size(), library.images[i].source.name, library.images[i].source.text);
  return out;
}

}  // namespace sinter::inline v1::jit::exporting
