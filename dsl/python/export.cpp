// Kernels for embedding, from Python.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include <dsl/text/export.hpp>
#include <dsl/text/text_range.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

[[noreturn]] void wrong(std::string_view argument, std::string_view expected, nb::handle got) {
  throw_wrong("export_kernel", argument, expected, got);
}

std::string text_from(std::string_view argument, nb::handle object, std::string_view expected = "a str") {
  if (nb::isinstance<nb::str>(object)) return string_from(object);
  wrong(argument, expected, object);
}

nb::list items_from(std::string_view argument, std::string_view expected, const nb::object& list) {
  if (list.is_none()) return {};
  return items_of("export_kernel", argument, expected, list);
}

std::vector<std::string> texts_from(std::string_view argument, const nb::object& list) {
  std::vector<std::string> texts;
  for (const nb::handle item : items_from(argument, "a list of str", list))
    texts.push_back(text_from(argument, item, "a list of str"));
  return texts;
}

struct NamedInput {
  std::string name;
  TensorRef tensor;
};

std::vector<NamedInput> inputs_from(const nb::object& args) {
  std::vector<NamedInput> inputs;
  if (args.is_none()) return inputs;
  constexpr std::string_view expected = "a dict of the expression's tensors, as in {\"z\": z}";
  if (!PyDict_Check(args.ptr())) wrong("args", expected, args);
  for (const auto [name, tensor] : nb::borrow<nb::dict>(args)) {
    if (!nb::isinstance<nb::str>(name) || !nb::isinstance<TensorObject>(tensor))
      throw_wrong_item("export_kernel", "args", expected, name, tensor);
    inputs.push_back({string_from(name), nb::cast<const TensorObject&>(tensor).tensor});
  }
  return inputs;
}

nb::dict sizes_from(const nb::object& sizes) {
  if (sizes.is_none()) return {};
  if (!PyDict_Check(sizes.ptr())) wrong("sizes", "a dict of the names of extents, as in {\"z\": [\"n\"]}", sizes);
  return nb::borrow<nb::dict>(sizes);
}

bool is_same_array(const TensorImpl& a, const TensorImpl& b) {
  return &a == &b || (a.data == b.data && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides &&
                      a.buffer == b.buffer);
}

/// The names and sizes of the expression's tensors, in the expression's order.
void name_inputs(jit::Export& kernel, std::vector<NamedInput> inputs, const nb::dict& sizes) {
  std::set<std::uint32_t> leaves;
  for (const jit::Node& n : kernel.expression.graph.nodes())
    if (n.op == Op::leaf || n.op == Op::array) leaves.insert(static_cast<std::uint32_t>(n.attribute));
  for (const std::uint32_t leaf : leaves) {
    const auto found = std::ranges::find_if(
        inputs, [&](const NamedInput& i) { return is_same_array(*i.tensor, *kernel.expression.leaves[leaf]); });
    const std::string name = found == inputs.end() ? "" : found->name;
    kernel.options.inputs.push_back(name);
    kernel.options.sizes.push_back(sizes.contains(name) ? texts_from("sizes", sizes[name.c_str()])
                                                        : std::vector<std::string>());
    if (found != inputs.end()) inputs.erase(found);
  }
  for (const NamedInput& i : inputs)
    throw Error(fmt::format("export_kernel: the expression does not read the tensor '{}', {}", i.name,
                            runtime::describe(*i.tensor)));
}

jit::Export exported_expression(const nb::object& expression, const nb::object& args, const nb::object& sizes,
                                ExportOptions options) {
  std::vector<jit::LazyRef> nodes;
  const nb::tuple several = PyTuple_Check(expression.ptr()) || PyList_Check(expression.ptr())
                                ? nb::tuple(expression)
                                : nb::make_tuple(expression);
  for (const nb::handle e : several) {
    if (!nb::isinstance<Operand>(e)) wrong("expression", "a str, an expression or a list of expressions", e);
    nodes.push_back(detail::node_of(nb::cast<const Operand&>(e).value()));
  }
  if (nodes.empty()) throw Error("export_kernel: there is no expression");
  jit::Export kernel{nodes.size() == 1 ? jit::Recorded(nodes[0]) : jit::Recorded(std::span<const jit::LazyRef>(nodes)),
                     std::move(options)};
  for (TensorImpl* leaf : kernel.expression.leaves) kernel.expression.held.push_back(TensorRef::share(leaf));
  name_inputs(kernel, inputs_from(args), sizes_from(sizes));
  return kernel;
}

void check_named(const ParsedExpression& parsed, const std::vector<ArgumentType>& types) {
  const std::vector<std::string>& names = parsed.names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const ArgumentType& type : types)
    if (std::ranges::find(names, type.name) == names.end())
      throw Error(fmt::format("export_kernel: the expression does not name '{}'{}; it names: {}", type.name,
                              detail::did_you_mean(type.name, known), fmt::join(names, ", ")));
}

LibraryOptions library_from(const std::string& name, const nb::object& archs, const std::string& prefix, bool ptx,
                            const std::string& format, const nb::object& extra) {
  LibraryOptions library{.name = name, .prefix = prefix};
  library.ptx = ptx;
  if (!archs.is_none()) {
    library.architectures.clear();
    for (const nb::handle arch : items_from("archs", "a list of integers, as in [80, 90]", archs))
      library.architectures.push_back(static_cast<int>(integer_from("export_kernel: archs", arch)));
  }
  if (format == "header")
    library.format = ExportFormat::Header;
  else if (format == "fatbin")
    library.format = ExportFormat::Fatbin;
  else if (format != "source")
    throw Error(
        fmt::format("export_kernel: there is no format '{}'; the formats are source, header and fatbin", format));
  library.cuda_source = library.manifest = false;
  for (const std::string& file : texts_from("extra", extra)) {
    if (file == "cu")
      library.cuda_source = true;
    else if (file == "json")
      library.manifest = true;
    else if (file == "hpp")
      library.cpp_wrapper = true;
    else if (file == "ptx")
      library.ptx_files = true;
    else if (file == "dot")
      library.dot = true;
    else
      throw Error(fmt::format(
          "export_kernel: there is no extra file '{}'; the extra files are cu, json, hpp, ptx and dot", file));
  }
  return library;
}

nb::dict export_kernel(const nb::object& expression, const std::string& name, const nb::object& args,
                       const nb::object& archs, const nb::object& out, const nb::object& outputs,
                       const nb::object& sizes, const nb::object& numbers, const nb::object& strided, Flag in_place,
                       Flag dlpack, const std::string& prefix, Flag ptx, const std::string& format,
                       const nb::object& extra, Flag one_variant) {
  LibraryOptions library = library_from(name, archs, prefix, ptx, format, extra);
  library.dlpack = dlpack;
  ExportOptions options{.name = name, .outputs = texts_from("outputs", outputs)};
  options.strided = texts_from("strided", strided);
  options.in_place = in_place;
  options.one_variant = one_variant;
  const std::string folder = out.is_none() ? "" : path_from("export_kernel", "out", out);
  jit::Export kernel;
  if (nb::isinstance<nb::str>(expression)) {
    if (!sizes.is_none() || !numbers.is_none())
      throw Error("export_kernel: for a text, args names the sizes and numbers: args=\"z: f32[n], s: f32\"");
    const ParsedExpression parsed(string_from(expression));
    std::vector<ArgumentType> types;
    if (!args.is_none()) types = parse_signature(text_from("args", args, "a str, as in \"z: f32[n], s: f32\""));
    check_named(parsed, types);
    kernel = detail::exported_text(parsed, std::move(types), std::move(options));
  } else {
    options.numbers = texts_from("numbers", numbers);
    kernel = exported_expression(expression, args, sizes, std::move(options));
  }
  const Exported files = without_gil([&] {
    Exported made = jit::export_library({kernel}, library);
    if (!folder.empty()) made.write(folder);
    return made;
  });
  nb::dict texts;
  for (const auto& [file, text] : files.files)
    texts[file.c_str()] = file.ends_with(".fatbin") ? nb::object(nb::bytes(text.data(), text.size()))
                                                    : nb::object(nb::str(text.data(), text.size()));
  return texts;
}

}  // namespace

void add_export(nb::module_& m) {
  m.def("export_kernel", export_kernel, nb::arg("expression").none(), nb::kw_only(), nb::arg("name") = "kernel",
        nb::arg("args") = nb::none(), nb::arg("archs") = nb::none(), nb::arg("out") = nb::none(),
        nb::arg("outputs") = nb::none(), nb::arg("sizes") = nb::none(), nb::arg("numbers") = nb::none(),
        nb::arg("strided") = nb::none(), nb::arg("in_place") = false, nb::arg("dlpack") = false, nb::arg("prefix") = "",
        nb::arg("ptx") = true, nb::arg("format") = "source", nb::arg("extra") = nb::none(),
        nb::arg("one_variant") = false,
        "C source of an expression, for programs without Sinter: a dict of texts by file name, written to the folder "
        "`out` if it is given.\n\nA text takes its arguments' types, args=\"z: f32[n], s: f32\"; for an expression, "
        "args={\"z\": z} names its tensors,\nsizes={\"z\": [\"n\"]} their extents, and numbers=[\"s\"] its numbers. "
        "archs=[90] is compute\ncapability 9.0, [] only the CPU. extra: any of cu, json, hpp, ptx, dot.");
}

}  // namespace sinter::python
