#include "c_launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "c_expression.hpp"
#include "c_functions.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

std::string scalar_words(const Model& m, const Step& step) {
  std::string out;
  int i = 0;
  for (const Node& n : step.kernel->graph.nodes()) {
    if (n.op != Op::scalar) continue;
    const std::string value = c_scalar(m, n);
    const std::string word = n.dtype == DType::Float32   ? fmt::format("sinter_word_f32({})", value)
                             : n.dtype == DType::Float64 ? fmt::format("sinter_word_f64({})", value)
                             : n.dtype == DType::Int32   ? fmt::format("(uint32_t)({})", value)
                                                         : fmt::format("(uint64_t)({})", value);
    out += fmt::format("    scalars[{}] = {};\n", i++, word);
  }
  for (const KernelTraits::Access& o : step.traits->operands)
    if (!o.memory) out += fmt::format("    scalars[{}] = 0; /* the iota's first element */\n", i++);
  return out;
}

std::size_t scalar_count(const Step& step) {
  const auto scalars =
      std::ranges::count_if(step.kernel->graph.nodes(), [](const Node& n) { return n.op == Op::scalar; });
  return static_cast<std::size_t>(scalars +
                                  std::ranges::count(step.traits->operands, false, &KernelTraits::Access::memory));
}

/// Fills `nest` and `kernel` for the layout in hand.
std::string choose_nest(const Model& m, std::size_t s) {
  const Step& step = m.steps[s];
  const auto choose = [&](const LayoutVersion& version) {
    const std::string name = kernel_name(m, s, version);
    return fmt::format("{0}_nest(a, &nest);\n    kernel = &{0}_kernel;\n", name);
  };
  if (step.versions.size() == 1) return "    " + choose(step.versions[0]);
  std::string out = "    ";
  for (const LayoutVersion& version : step.versions)
    out += &version == &step.versions.back() ? fmt::format("{{\n      {}    }}\n", choose(version))
                                             : fmt::format("if (layout == {}) {{\n      {}    }} else ",
                                                           static_cast<int>(version.layout), choose(version));
  return out;
}

/// What a launch does once its parameters are taken.
std::string run(const Model& m) {
  std::string out = fmt::format("static int {0}_run({0}_arguments *a, sinter_call *call{1}) {{\n", m.name,
                                m.has_workspace() ? ", char *workspace, size_t workspace_bytes" : "");
  if (m.is_strided())
    out += fmt::format("  {}{}_layout(a);\n", m.steps[0].versions.size() > 1 ? "const int layout = " : "", m.name);
  if (m.has_workspace()) out += "  int64_t bytes = 0;\n";
  out += fmt::format(
      "  bool is_empty = false;\n  int result = {}_check(a, &is_empty{});\n"
      "  if (result != sinter_ok || is_empty) return result;\n",
      m.name, m.has_workspace() ? ", workspace, workspace_bytes" : "");
  if (m.may_fault())
    out +=
        "  if (!call->fault) return sinter_null_pointer;\n"
        "  if ((uintptr_t)call->fault % sizeof *call->fault != 0) return sinter_misaligned;\n";
  const auto check_alignment = [&](const Array& array) {
    if (cpu_alignment(array.dtype) != size_of(array.dtype))
      out += fmt::format("  if ((uintptr_t)a->{} % {} != 0) return sinter_misaligned;\n", array.name,
                         size_of(array.dtype));
  };
  std::ranges::for_each(m.outputs, check_alignment);
  std::ranges::for_each(m.inputs, check_alignment);
  if (m.has_workspace()) {
    out += "  if ((uintptr_t)workspace % 256 != 0) return sinter_bad_workspace;\n";
    if (!m.temporaries.empty())
      out += place_temporaries(m, "") +
             "  if (bytes > 0 && (!workspace || (uint64_t)bytes > workspace_bytes)) return sinter_bad_workspace;\n"
             "  bytes = 0;\n  if (workspace) {\n" +
             place_temporaries(m, "workspace") + "  }\n";
    out +=
        "  if (workspace) {\n    call->partials = workspace + bytes;\n"
        "    call->partial_bytes = workspace_bytes - (size_t)bytes;\n  }\n";
  }
  for (std::size_t s = 0; s < m.steps.size(); ++s) {
    const std::size_t count = scalar_count(m.steps[s]);
    out += "  {\n    sinter_nest nest;\n    const sinter_kernel *kernel;\n";
    if (count > 0) out += "    uint64_t scalars[sinter_max_scalars];\n" + scalar_words(m, m.steps[s]);
    out += choose_nest(m, s);
    out += fmt::format(
        "    result = sinter_launch(kernel, &nest, {}, {}, {}, call);\n    if (result != sinter_ok) return "
        "result;\n  }}\n",
        count > 0 ? "scalars" : "NULL", count, m.steps[s].has_final_pass);
  }
  return out + "  return sinter_ok;\n}\n\n";
}

std::string launch(const Model& m, const std::string& name) {
  return function_head("int", name + "_launch", parameters(m, true)) + take_arguments(m, false) +
         fmt::format(
             "  sinter_call sinter_c = {{stream, {}, NULL, 0}};\n  return {}_run(&sinter_a, &sinter_c{});\n}}\n\n",
             m.may_fault() ? "fault" : "NULL", m.name, m.has_workspace() ? ", (char *)workspace, workspace_bytes" : "");
}

std::string find_workspace(const Model& m) {
  const bool reduces = std::ranges::any_of(m.steps, [](const Step& s) { return s.traits->rows.has_value(); });
  std::string out = fmt::format("static size_t {0}_find_workspace({0}_arguments *a) {{\n", m.name);
  out += "  size_t max = 0;\n  int64_t bytes = 0;\n  bool is_empty = false;\n";
  if (reduces) out += "  size_t partials;\n  sinter_nest nest;\n";
  out += fmt::format("  if ({}_check_sizes(a, &is_empty) != sinter_ok || is_empty) return 0;\n", m.name);
  for (std::size_t s = 0; s < m.steps.size(); ++s) {
    if (!m.steps[s].traits->rows) continue;
    for (const LayoutVersion& version : m.steps[s].versions)
      out += fmt::format(
          "  {0}_nest(a, &nest);\n  partials = sinter_max_partial_bytes(&{0}_kernel, &nest);\n  if (partials > max) "
          "max = partials;\n",
          kernel_name(m, s, version));
  }
  return out + place_temporaries(m, "") + "  return (size_t)bytes + max;\n}\n\n";
}

std::string workspace_bytes(const Model& m, const std::string& name) {
  if (!m.has_workspace()) return {};
  return find_workspace(m) + function_head("size_t", name + "_workspace_bytes", size_parameters(m)) +
         take_arguments(m, true) + fmt::format("  return {}_find_workspace(&sinter_a);\n}}\n\n", m.name);
}

}  // namespace

std::string c_launch_functions(const Model& m, const std::string& name) {
  return run(m) + launch(m, name) + workspace_bytes(m, name);
}

}  // namespace sinter::inline v1::jit::exporting
