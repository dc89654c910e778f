// Tables of kernels, which an exported library's launcher reads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include <sinter/runtime/backend.hpp>

#include "../plan/row_cache.hpp"
#include "../plan/row_passes.hpp"
#include "c_launch.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

/// Bytes as words of eight, the lowest first: GPUs are in little-endian machines alone.
std::string words_of(std::string_view bytes) {
  std::string out, line;
  for (std::size_t i = 0; i < bytes.size() + 1; i += 8) {  // text ends with a zero
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 8 && i + b < bytes.size(); ++b)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i + b])) << 8 * b;
    const std::string text = word < 10 ? fmt::format("{},", word) : fmt::format("{:#x},", word);
    if (line.size() + text.size() > 116) out += line + "\n", line.clear();
    line += text;
  }
  return out + line + "\n";
}

}  // namespace

std::string c_images(const Library& library) {
  std::string out;
  const bool has_file = library.options.format == ExportFormat::Fatbin;
  const Fatbin fatbin = has_file ? make_fatbin(library) : Fatbin();
  for (std::size_t i = 0; i < library.images.size(); ++i) {
    const Image& image = library.images[i];
    std::string table;
    for (std::size_t t = 0; t < library.targets.size(); ++t) {
      const Target& target = library.targets[t];
      if (has_file) {
        table += fmt::format("  {{{}, {}, NULL, {}}},\n", target.architecture, target.is_ptx, fatbin.offsets[i][t]);
        continue;
      }
      out += fmt::format("static const unsigned long long sinter_image_{}_{}[] = {{\n{}}};\n", i, target.name(),
                         words_of(image.compiled[t].binary));
      table +=
          fmt::format("  {{{}, {}, sinter_image_{}_{}, 0}},\n", target.architecture, target.is_ptx, i, target.name());
    }
    out += fmt::format("static const sinter_image sinter_images_{}[] = {{\n{}}};\n\n", i, table);
  }
  return out;
}

std::string c_launch_limits(const Library& library) {
  std::size_t max_words = 8, max_scalars = 1;
  for (const Model& m : library.kernels)
    for (const Step& s : m.steps)
      for (const LayoutVersion& version : s.versions) {
        const std::size_t operands = s.traits->operands.size(), ndim = static_cast<std::size_t>(version.nest.ndim);
        std::size_t partials = 0, scalars = 0;
        for (const Variant& v : version.variants)
          if (s.traits->rows) partials = std::max(partials, s.traits->rows->stages(v.kernel_class.rows));
        for (const Node& n : s.kernel->graph.nodes()) scalars += n.op == Op::scalar || n.op == Op::iota;
        max_words = std::max(max_words, operands * (ndim + 1) + 3 * ndim + partials + scalars + 12);
        max_scalars = std::max(max_scalars, scalars);
      }
  return fmt::format("enum {{ sinter_max_words = {}, sinter_max_scalars = {}, sinter_max_blocks = {} }};\n\n",
                     max_words, max_scalars, runtime::max_blocks_of_launch);
}

namespace {

char letter(AccessPattern p) {
  switch (p) {
    case AccessPattern::Contiguous: return 'C';
    case AccessPattern::Uniform: return 'U';
    case AccessPattern::InnerContiguous: return 'I';
    case AccessPattern::InnerBroadcast: return 'B';
    case AccessPattern::Strided:
    case AccessPattern::Transposed: break;
  }
  return 'S';
}

std::string variant_table(const Library& library, const Model& m, std::size_t step, const LayoutVersion& version) {
  const Step& s = m.steps[step];
  const std::string name = kernel_name(m, step, version);
  std::string partials, table;
  for (std::size_t i = 0; i < version.variants.size(); ++i) {
    const Variant& v = version.variants[i];
    const RowConfig& r = v.kernel_class.rows;
    std::string partial_table = "NULL";
    std::size_t launches = 1;
    if (s.traits->rows && r.split) {
      const RowPasses passes(*s.kernel, !r.in_registers);
      launches = static_cast<std::size_t>(passes.stages.count) + 1;
      partial_table = fmt::format("{}_partials_{}", name, i);
      std::vector<int> bytes;
      for (int stage = 0; stage < passes.stages.count; ++stage)
        bytes.push_back(partial_size(passes, stage, v.kernel_class.wide));
      partials += fmt::format("static const int {}[] = {{{}}};\n", partial_table, fmt::join(bytes, ", "));
    }
    const RowCache row_cache(*s.traits, v.kernel_class);
    table +=
        fmt::format("  {{\"{}\", sinter_images_{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n",
                    s.kernel->name, v.image, library.targets.size(), v.kernel_class.vector_width, v.kernel_class.wide,
                    r.row_per_element, r.team, r.block, r.vectors_per_thread, r.in_registers, r.split, launches,
                    partial_table, row_cache.bytes(1), s.traits->rows ? variable_bytes(*s.traits->rows) : 0);
  }
  return fmt::format(
      "{0}static const sinter_variant {1}_variants[] = {{\n"
      "  /* entry, images, vector_width, wide, row_per_element, team, block, vectors_per_thread, in_registers, split, "
      "launches, partials, row_cache, "
      "shared */\n{2}}};\n",
      partials, name, table);
}

}  // namespace

std::string c_kernel_tables(const Library& library, const Model& m, std::size_t step, const LayoutVersion& version) {
  const Step& s = m.steps[step];
  const std::string name = kernel_name(m, step, version);
  std::string out = variant_table(library, m, step, version);
  out += fmt::format("static const sinter_rule {}_rules[] = {{\n", name);
  const auto limit = [](std::int64_t n) {
    return n == std::numeric_limits<std::int64_t>::max() ? std::string("INT64_MAX") : fmt::format("{}", n);
  };
  for (const Rule& r : version.rules)
    out += fmt::format("  {{{}, {}, &{}_variants[{}]}},\n", limit(r.rows), limit(r.columns), name, r.variant);
  std::string patterns;
  std::vector<std::size_t> bytes;
  for (std::size_t k = 0; k < s.traits->operands.size(); ++k) {
    patterns += letter(version.base.patterns[k]);
    bytes.push_back(s.traits->operands[k].memory ? size_of(s.traits->operands[k].dtype) : 0);
  }
  return out + fmt::format(
                   "}};\nstatic const int {0}_bytes[] = {{{1}}};\n"
                   "static const sinter_kernel {0}_kernel = {{{2}, {3}, {4}, {5}, {6}, {7}, {8}, \"{9}\", {0}_bytes, "
                   "{0}_rules, {10}}};\n\n",
                   name, fmt::join(bytes, ", "), s.kernel->outputs.size(), s.traits->operands.size(), version.nest.ndim,
                   version.nest.reduced, s.traits->rows.has_value(), s.traits->faults.division_by_zero,
                   s.traits->faults.index_out_of_range, patterns, version.rules.size());
}

namespace {

/// Functions of libraries whose binaries are in a file.
std::string file_functions(const Library& library) {
  const std::string bytes = make_fatbin(library).bytes;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format(
      "int {0}_open(const char *path) {{ return sinter_open_file(path, {1}, UINT64_C({2:#x})); }}\n\n"
      "int {0}_use(const void *fatbin, size_t bytes) {{\n  bool is_taken;\n"
      "  return sinter_use_file(fatbin, bytes, {1}, UINT64_C({2:#x}), false, &is_taken);\n}}\n\n"
      "void {0}_close(void) {{ sinter_close_file(); }}\n\n",
      library.prefix(), bytes.size(), hash);
}

}  // namespace

std::string c_load_functions(const Library& library) {
  std::string kernels;
  std::size_t count = 0;
  for (const Model& m : library.kernels)
    for (std::size_t s = 0; s < m.steps.size(); ++s)
      for (const LayoutVersion& version : m.steps[s].versions) {
        kernels += fmt::format("  &{}_kernel,\n", kernel_name(m, s, version));
        ++count;
      }
  return fmt::format(
             "static const sinter_kernel *const sinter_kernels[] = {{\n{}}};\n\n"
             "int {}_load(void) {{ return sinter_load_all(sinter_kernels, {}); }}\n\n"
             "int {}_unload(void) {{ return sinter_unload_all(); }}\n\n",
             kernels, library.prefix(), count, library.prefix()) +
         (library.options.format == ExportFormat::Fatbin ? file_functions(library) : "");
}

}  // namespace sinter::inline v1::jit::exporting
