// What users of an exported library include: C99 and C++ alike.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "c_expression.hpp"
#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

std::string number_type(Category category) {
  return category == Category::Bool ? "bool" : category == Category::Int ? "int64_t" : "double";
}

std::string describe(const Model& m, const std::string& name) {
  std::string out = fmt::format("/* {}:", m.name);
  for (const Array& a : m.outputs) out += fmt::format(" {}", shape_text(m, a));
  out += " from";
  for (const Array& a : m.inputs) out += fmt::format(" {}{}", shape_text(m, a), a.is_strided() ? " with strides" : "");
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty()) out += fmt::format(" {} {}", n.name, number_type(n.category));
  out += ".\n";
  if (m.plan->kernels.size() > 1) out += fmt::format(" * {} kernels, one after the other.\n", m.plan->kernels.size());
  if (m.has_workspace())
    out += fmt::format(" * The workspace is device memory of {}_workspace_bytes(...) bytes, aligned to 256. {}\n", name,
                       m.temporaries.empty() ? "Without one (NULL, 0)\n * long rows are not shared among blocks."
                                             : "It may be used again when the\n * stream has done this work.");
  if (m.launches && m.may_fault())
    out += fmt::format(" * fault is a word of device memory, 0 before. Afterwards {}.\n",
                       !m.takes_indices()     ? "1 where an integer was divided by 0"
                       : !m.may_divide_by_0() ? "2 where an index was outside its axis, and counted as 0"
                                              : "1 where an integer was divided by 0,\n"
                                                " * 2 where an index was outside its axis, and counted as 0");
  if (m.in_place) out += " * An output may be the same array as an input of its shape.\n";
  return out + " */\n";
}

std::string function(const std::string& type, const std::string& name, const std::vector<std::string>& parameters) {
  const std::string head = fmt::format("{}{}(", type, name);
  std::string out = head, line = head;
  const std::string indent(head.size(), ' ');
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string text = parameters[i] + (i + 1 < parameters.size() ? ", " : "");
    if (line.size() + text.size() > 116 && i > 0) {
      while (out.ends_with(' ')) out.pop_back();
      out += "\n" + indent, line = indent;
    }
    out += text, line += text;
  }
  return out + (parameters.empty() ? "void);\n" : ");\n");
}

/// Of what loads and unloads kernels.
std::string load_declarations(const Library& library) {
  std::string out =
      "/* Loads all kernels into the current context, so that no launch has to: before a stream captures a graph. */\n";
  out += fmt::format("int {}_load(void);\n\n", library.prefix());
  out +=
      "/* Unloads them from the current context: before the library is closed, or to free device memory. No launch "
      "may\n"
      " * be running, in this thread or in another. Later launches load them again. */\n";
  out += fmt::format("int {}_unload(void);\n\n", library.prefix());
  if (library.options.format != ExportFormat::Fatbin) return out;
  out += fmt::format(
      "/* Reads the kernels' binaries from {}.fatbin, before any is launched; or takes them from memory, which "
      "stays\n"
      " * as it is from then on and is aligned to 8 bytes. Functions on the CPU need neither. */\n",
      library.options.name);
  out += fmt::format("int {0}_open(const char *path);\nint {0}_use(const void *fatbin, size_t bytes);\n\n",
                     library.prefix());
  return out + fmt::format(
                   "/* Frees the data read by {0}_open, or drops the pointer passed to {0}_use. Loaded kernels stay "
                   "loaded; to load others\n"
                   " * takes an {0}_open again. */\nvoid {0}_close(void);\n\n",
                   library.prefix());
}

/// Of one kernel's functions.
std::string declarations(const Library& library, const Model& m) {
  const std::string name = library.kernel_prefix(m);
  std::string out = describe(m, name);
  if (m.launches) out += function("int ", name + "_launch", parameters(m, true));
  out += function("int ", name + "_cpu", parameters(m, false));
  if (library.options.dlpack) {
    out += "/* The same with a DLTensor * for each array. */\n";
    if (m.launches) out += function("int ", name + "_launch_dlpack", dlpack_parameters(m, true));
    out += function("int ", name + "_cpu_dlpack", dlpack_parameters(m, false));
  }
  if (m.has_workspace()) out += function("size_t ", name + "_workspace_bytes", size_parameters(m));
  return out + "\n";
}

}  // namespace

std::string shape_text(const Model& model, const Array& array) {
  std::vector<std::string> extents;
  for (const Extent& extent : array.shape) extents.push_back(model.sizes->text(extent, ""));
  return fmt::format("{} {} ({}{})", array.name, name(array.dtype), fmt::join(extents, ", "),
                     extents.size() == 1 ? "," : "");
}

std::vector<std::string> size_parameters(const Model& model) {
  std::vector<std::string> out;
  for (const std::string& size : model.sizes->names()) out.push_back("int64_t " + size);
  return out;
}

std::vector<std::string> parameters(const Model& model, bool of_launch) {
  std::vector<std::string> out;
  if (of_launch) out.emplace_back("void *stream");
  for (const Array& a : model.outputs) out.push_back(fmt::format("{} *{}", memory_type(a.dtype), a.name));
  for (const Array& a : model.inputs) {
    out.push_back(fmt::format("const {} *{}", memory_type(a.dtype), a.name));
    if (a.is_strided()) out.push_back(fmt::format("const int64_t *{}_strides", a.name));
  }
  for (std::string& size : size_parameters(model)) out.push_back(std::move(size));
  add_other_parameters(model, of_launch, out);
  return out;
}

void add_other_parameters(const Model& model, bool of_launch, std::vector<std::string>& out) {
  for (const ScalarArgument& n : model.scalars)
    if (!n.name.empty()) out.push_back(fmt::format("{} {}", number_type(n.category), n.name));
  if (of_launch && model.may_fault()) out.emplace_back("uint32_t *fault");
  if (of_launch && model.has_workspace()) {
    out.emplace_back("void *workspace");
    out.emplace_back("size_t workspace_bytes");
  }
}

std::string header_text(const Library& library) {
  const std::string macro = library.macro();
  std::string out =
      fmt::format("/* {}.h: kernels exported by Sinter. {}\n *\n", library.options.name,
                  library.launches() ? "Needs nothing but the C library: the CUDA driver is opened at run time."
                                     : "Needs nothing but C99 and its library.");
  if (library.launches())
    out +=
        " * NAME_launch(stream, outputs, inputs, sizes, ...) starts the kernel on a GPU, in the current CUDA context, "
        "on a\n"
        " * CUstream (NULL: the default stream), and returns at once. Arrays are device memory, laid out as the "
        "host's.\n";
  out += fmt::format(
      " * NAME_cpu(outputs, inputs, sizes, ...) computes {} arrays of the host, on the calling thread or, compiled\n"
      " * with OpenMP, on several. Arrays are row-major and contiguous; where one comes with strides, these are in\n"
      " * elements, one for each axis, NULL for a contiguous array. Half and bfloat16 elements are uint16_t, bools "
      "are\n"
      " * uint8_t, 0 or 1, complex elements are pairs (real, imaginary), as in C and C++.\n"
      " * All functions give 0, or a code that {}_error_text explains, and may be called from any thread. */\n"
      "#ifndef {}_H\n#define {}_H\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      library.launches() ? "the same on" : "on", library.prefix(), macro, macro);
  out += fmt::format("#define {}_ABI_VERSION {}\n\nenum {{\n", macro, export_abi_version);
  const std::vector<ErrorCode> codes = error_codes(library);
  for (const ErrorCode& e : codes)
    out += fmt::format("  {}_{} = {}{} /* {} */\n", macro, e.name, e.code,
                       library.launches() || &e != &codes.back() ? "," : "", e.text);
  if (library.launches())
    out += fmt::format("  {}_DRIVER_ERROR = {} /* and above: {} and what the driver gave, a CUresult */\n", macro,
                       driver_error, driver_error);
  out += fmt::format("}};\n\n/* What a code means. Never NULL{} */\nconst char *{}_error_text(int code);\n\n",
                     library.launches() ? "; for driver codes, valid until the driver library is unloaded." : ".",
                     library.prefix());
  out += "/* The version of this interface that the functions were made for. */\n";
  out += fmt::format("int {}_abi_version(void);\n\n", library.prefix());
  if (library.launches()) out += load_declarations(library);
  for (const Model& m : library.kernels) out += declarations(library, m);
  return out + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string wrapper_text(const Library& library) {
  std::string out = fmt::format(
      "// {0}.hpp: the functions of {0}.h for C++17, which throw what these return.\n#pragma once\n"
      "#include <stdexcept>\n#include <string>\n\n#include \"{0}.h\"\n\nnamespace {1} {{\n\n"
      "/// A code of {0}.h with its text.\nclass Error : public std::runtime_error {{\n public:\n"
      "  Error(const char* function, int code)\n"
      "      : std::runtime_error(std::string(function) + \": \" + {1}_error_text(code)), code_(code) {{}}\n"
      "  int code() const noexcept {{ return code_; }}\n\n private:\n  int code_;\n}};\n",
      library.options.name, library.prefix());
  out +=
      "\n// The prefix sinter_ is reserved: no parameter name starts with it.\n"
      "inline void sinter_check(const char* function, int code) {\n  if (code != 0) throw Error(function, code);\n}\n";
  if (library.launches())
    out += fmt::format(
        "\ninline void load() {{ sinter_check(\"{0}_load\", ::{0}_load()); }}\n"
        "\ninline void unload() {{ sinter_check(\"{0}_unload\", ::{0}_unload()); }}\n",
        library.prefix());
  if (library.options.format == ExportFormat::Fatbin)
    out += fmt::format(
        "\ninline void open(const std::string& path) {{ sinter_check(\"{0}_open\", ::{0}_open(path.c_str())); }}\n"
        "\ninline void close() {{ ::{0}_close(); }}\n",
        library.prefix());
  const auto name_of = [](const std::string& parameter) { return parameter.substr(parameter.find_last_of(" *") + 1); };
  for (const Model& m : library.kernels)
    for (const bool of_launch : {true, false}) {
      if (of_launch && !m.launches) continue;
      std::vector<std::string> names;
      const std::vector<std::string> all = parameters(m, of_launch);
      for (const std::string& p : all) names.push_back(name_of(p));
      const std::string function = library.kernel_prefix(m) + (of_launch ? "_launch" : "_cpu");
      const std::string own = m.name + (of_launch ? "" : "_cpu");
      out += fmt::format("\ninline void {0}({1}) {{\n  sinter_check(\"{2}\", ::{2}({3}));\n}}\n", own,
                         fmt::join(all, ", "), function, fmt::join(names, ", "));
    }
  return out + fmt::format("\n}}  // namespace {}\n", library.prefix());
}

}  // namespace sinter::inline v1::jit::exporting
