// A description of an exported library for build systems, as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "c_expression.hpp"
#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

template <class Items, class Text>
std::string list(const Items& items, const std::string& indent, Text text) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "\n" : ",\n") + indent + "  " + text(item);
  return out.empty() ? "[]" : fmt::format("[{}\n{}]", out, indent);
}

std::string array_json(const Model& m, const Array& a) {
  std::vector<std::string> shape;
  for (const Extent& extent : a.shape) shape.push_back(fmt::format("\"{}\"", m.sizes->text(extent, "")));
  return fmt::format(R"({{"name": "{}", "dtype": "{}", "c_type": "{}", "ndim": {}, "shape": [{}], "strides": {}}})",
                     a.name, name(a.dtype), memory_type(a.dtype), a.shape.ndim(), fmt::join(shape, ", "),
                     a.is_strided());
}

std::string variant_json(const Library& library, const Step& step, const Variant& v) {
  const KernelClass& c = v.kernel_class;
  std::string out = fmt::format(R"({{"entry": "{}", "image": {}, "vector_width": {}, "index_bits": {})",
                                step.kernel->name, v.image, c.vector_width, c.wide ? 64 : 32);
  if (step.kernel->rows)
    out += fmt::format(
        R"(, "row_threads": {}, "block": {}, "row_in_registers": {}, "blocks_share_rows": {}, "row_in_shared_memory": {})",
        c.rows.team == 0 ? c.rows.block : c.rows.team, c.rows.block, c.rows.in_registers, c.rows.split,
        c.rows.row_cache);
  (void)library;
  return out + "}";
}

std::string version_json(const Library& library, const Step& step, const LayoutVersion& version) {
  constexpr std::string_view layouts[] = {"contiguous", "padded", "strided"};
  return fmt::format(
      R"({{"operands": "{}", "variants": {}}})", layouts[static_cast<int>(version.layout)],
      list(version.variants, "          ", [&](const Variant& v) { return variant_json(library, step, v); }));
}

std::string kernel_json(const Library& library, const Model& m) {
  const std::string indent = "      ";
  std::vector<std::string> sizes;
  for (const std::string& s : m.sizes->names()) sizes.push_back(fmt::format("\"{}\"", s));
  std::string steps;
  for (const Step& s : m.steps)
    steps +=
        fmt::format("{}\n        {{\"kernel\": \"{}\", \"layouts\": {}}}", steps.empty() ? "" : ",", s.kernel->name,
                    list(s.versions, "        ", [&](const LayoutVersion& l) { return version_json(library, s, l); }));
  std::vector<ScalarArgument> numbers;
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty()) numbers.push_back(n);
  constexpr std::string_view types[] = {"bool", "int64_t", "double"};
  return fmt::format(
      "{{\n{0}\"name\": \"{1}\",\n{10}{0}\"cpu\": \"{2}_cpu\",\n{0}\"outputs\": {3},\n"
      "{0}\"inputs\": {4},\n{0}\"sizes\": [{5}],\n{0}\"numbers\": {6},\n{0}\"workspace\": {7},\n{0}\"in_place\": {8},\n"
      "{0}\"steps\": [{9}\n{0}]\n    }}",
      indent, m.name, library.kernel_prefix(m),
      list(m.outputs, indent, [&](const Array& a) { return array_json(m, a); }),
      list(m.inputs, indent, [&](const Array& a) { return array_json(m, a); }), fmt::join(sizes, ", "),
      list(numbers, indent,
           [&](const ScalarArgument& n) {
             return fmt::format(R"({{"name": "{}", "c_type": "{}"}})", n.name, types[static_cast<int>(n.category)]);
           }),
      m.has_workspace(), m.in_place, steps,
      m.launches ? fmt::format("{}\"launch\": \"{}_launch\",\n", indent, library.kernel_prefix(m)) : "");
}

std::string image_json(const Library& library, const Image& image) {
  std::vector<std::string> binaries;
  for (std::size_t t = 0; t < library.targets.size(); ++t) {
    const runtime::KernelReport& r = image.compiled[t];
    std::string entry = fmt::format(R"({{"target": "{}", "bytes": {}, "hash": "{}")", library.targets[t].name(),
                                    r.binary.size(), content_hash(r.binary));
    if (r.registers > 0)
      entry +=
          fmt::format(R"(, "registers": {}, "shared_memory": {}, "stack": {}, "spill_stores": {}, "spill_loads": {})",
                      r.registers, r.shared, r.stack, r.spill_stores, r.spill_loads);
    binaries.push_back(entry + "}");
  }
  return fmt::format(R"({{"entry": "{}", "source_hash": "{}", "binaries": {}}})", image.source.name,
                     content_hash(image.source.text), list(binaries, "      ", [](const std::string& b) { return b; }));
}

}  // namespace

std::string manifest_text(const Library& library) {
  std::string everything = header_text(library);
  for (const Image& image : library.images)
    for (const runtime::KernelReport& c : image.compiled) everything += c.binary;
  constexpr std::string_view formats[] = {"source", "header", "fatbin"};
  std::vector<std::string> targets;
  for (const Target& t : library.targets) targets.push_back(fmt::format("\"{}\"", t.name()));
  return fmt::format(
      "{{\n  \"abi_version\": {},\n  \"library\": \"{}\",\n  \"prefix\": \"{}\",\n  \"hash\": \"{}\",\n  \"format\": "
      "\"{}\",\n"
      "  \"dlpack\": {},\n  \"targets\": [{}],\n"
      "  \"kernels\": {},\n  \"images\": {}\n}}\n",
      export_abi_version, library.options.name, library.options.prefix, content_hash(everything),
      formats[static_cast<int>(library.options.format)], library.options.dlpack, fmt::join(targets, ", "),
      list(library.kernels, "  ", [&](const Model& m) { return kernel_json(library, m); }),
      list(library.images, "  ", [&](const Image& i) { return image_json(library, i); }));
}

}  // namespace sinter::inline v1::jit::exporting
