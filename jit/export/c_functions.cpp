#include "c_functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "c_expression.hpp"
#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

/// `const int64_t extents[] = {a->n, a->m};`, the number of dims, and the name; of a scalar none.
struct Extents {
  std::string declaration, ndim, name;
};
Extents extents_of(const Model& m, const SymbolicShape& shape) {
  if (shape.empty()) return {"", "0", "NULL"};
  std::vector<std::string> list;
  std::string declaration = fmt::format("int64_t extents[{}];", shape.size());
  int d = 0;
  for (const Extent& extent : shape)
    declaration += fmt::format(" extents[{}] = {};", d++, m.sizes->text(extent, "a->"));
  return {declaration, fmt::format("{}", shape.size()), "extents"};
}

std::string head(const std::string& type, const std::string& name, const std::vector<std::string>& parameters) {
  return fmt::format("{} {}({}) {{\n", type, name,
                     parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", ")));
}

/// The parameters as NAME_arguments. Its name is none that a parameter can have.
std::string take_arguments(const Model& m, bool sizes_alone) {
  std::string out = fmt::format("  {}_arguments sinter_a;\n  memset(&sinter_a, 0, sizeof sinter_a);\n", m.name);
  const auto take = [&](const std::string& name, const std::string& member) {
    out += fmt::format("  sinter_a.{} = {};\n", member, name);
  };
  for (const std::string& size : m.sizes->names()) take(size, size);
  if (sizes_alone) return out;
  for (const Array& a : m.outputs) take(a.name, a.name);
  for (const Array& a : m.inputs) {
    take(a.name, a.name);
    if (a.is_strided()) take(a.name + "_strides", a.name + "_strides_given");
  }
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty()) take(n.name, n.name);
  return out;
}

/// `static int NAME_layout(a)`: completes the strides that were given and finds how the arrays lie.
std::string find_layout(const Model& m) {
  if (!m.is_strided()) return {};
  std::string out = fmt::format("static int {0}_layout({0}_arguments *a) {{\n  int layout = 0, lies;\n", m.name);
  for (const Array& a : m.inputs) {
    if (!a.is_strided()) continue;
    const Extents e = extents_of(m, a.shape);
    out += fmt::format(
        "  {{\n    {0}\n    lies = sinter_layout({1}, {2}, a->{3}_strides_given, a->{3}_strides);\n"
        "    if (lies > layout) layout = lies;\n  }}\n",
        e.declaration, e.ndim, e.name, a.name);
  }
  return out + "  return layout;\n}\n\n";
}

/// Where temporaries lie, from `memory` on; leaves their size in `bytes`.
std::string place_temporaries(const Model& m, const std::string& memory) {
  std::string out;
  for (const Array& t : m.temporaries) {
    const Extents e = extents_of(m, t.shape);
    out += "  {\n";
    if (!e.declaration.empty()) out += fmt::format("    {}\n", e.declaration);
    if (!memory.empty()) out += fmt::format("    a->{} = {} + bytes;\n", t.name, memory);
    out += fmt::format("    bytes += (int64_t)sinter_workspace_part({}, {}, {});\n  }}\n", e.ndim, e.name,
                       size_of(t.dtype));
  }
  return out;
}

std::string scalar_words(const Model& m, const Step& step) {
  std::string out;
  int i = 0;
  for (const Node& n : step.kernel->graph.nodes()) {
    if (n.op != Op::scalar) continue;
    const std::string value = c_scalar(m, n);
    const std::string word = n.dtype == DType::Float32   ? fmt::format("sinter_float_word({})", value)
                             : n.dtype == DType::Float64 ? fmt::format("sinter_double_word({})", value)
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
        count > 0 ? "scalars" : "NULL", count, m.steps[s].writes_elements);
  }
  return out + "  return sinter_ok;\n}\n\n";
}

std::string launch(const Model& m, const std::string& name) {
  return head("int", name + "_launch", parameters(m, true)) + take_arguments(m, false) +
         fmt::format(
             "  sinter_call sinter_c = {{stream, {}, NULL, 0}};\n  return {}_run(&sinter_a, &sinter_c{});\n}}\n\n",
             m.may_fault() ? "fault" : "NULL", m.name, m.has_workspace() ? ", (char *)workspace, workspace_bytes" : "");
}

std::string run_on_cpu(const Model& m) {
  std::string out = fmt::format("static int {0}_run_on_cpu({0}_arguments *a) {{\n", m.name);
  if (!m.temporaries.empty()) out += "  char *memory;\n  int64_t bytes = 0;\n";
  out += fmt::format(
      "  bool is_empty = false;\n  int faults = 0, result;\n  sinter_nest nest;\n{}  result = {}_check(a, "
      "&is_empty{});\n",
      m.is_strided() ? fmt::format("  {}_layout(a);\n", m.name) : "", m.name, m.has_workspace() ? ", NULL, 0" : "");
  out += "  if (result != sinter_ok || is_empty) return result;\n";
  if (!m.temporaries.empty())
    out +=
        place_temporaries(m, "") +
        "  memory = (char *)malloc((size_t)bytes + 1);\n  if (!memory) return sinter_out_of_memory;\n  bytes = 0;\n" +
        place_temporaries(m, "memory");
  for (std::size_t s = 0; s < m.steps.size(); ++s)
    out += fmt::format("  {}_nest(a, &nest);\n  {}_cpu_{}(a, &nest, &faults);\n",
                       kernel_name(m, s, m.steps[s].versions.back()), m.name, s);
  if (!m.temporaries.empty()) out += "  free(memory);\n";
  if (m.takes_indices()) out += "  if (faults & 2) return sinter_index_out_of_range;\n";
  if (m.may_divide_by_0()) out += "  if (faults & 1) return sinter_division_by_zero;\n";
  return out + "  (void)faults;\n  return sinter_ok;\n}\n\n";
}

std::string cpu(const Model& m, const std::string& name) {
  return head("int", name + "_cpu", parameters(m, false)) + take_arguments(m, false) +
         fmt::format("  return {}_run_on_cpu(&sinter_a);\n}}\n\n", m.name);
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
  return find_workspace(m) + head("size_t", name + "_workspace_bytes", size_parameters(m)) + take_arguments(m, true) +
         fmt::format("  return {}_find_workspace(&sinter_a);\n}}\n\n", m.name);
}

/// Which extents may be 0: those that have a name, and 0 itself.
std::set<std::string> may_be_zero(const Model& m, const SymbolicShape& shape) {
  std::set<std::string> found;
  for (const Extent& e : shape) {
    if (e == 0) found.insert("0");
    for (const int id : e.symbols()) found.insert(m.sizes->text(Extent::symbol(id), "a->"));
  }
  return found;
}

/// An array without elements has no place for an index, where a step has any.
std::string check_indexed(const Model& m) {
  std::set<std::string> checks;
  for (const Step& step : m.steps) {
    const std::set<std::string> walked = may_be_zero(m, step.domain);
    std::string condition;
    for (const std::string& extent : walked) condition += fmt::format(" && {} > 0", extent);
    for (const Slot& slot : step.kernel->inputs) {
      if (slot.kind != Slot::Kind::Array || m.is_iota(slot)) continue;
      for (const std::string& extent : may_be_zero(m, m.array(slot).shape))
        if (!walked.contains(extent))
          checks.insert(fmt::format("  if ({} == 0{}) return sinter_index_out_of_range;\n", extent, condition));
    }
  }
  return fmt::format("{}", fmt::join(checks, ""));
}

/// Sizes alone: whether arrays, temporaries and loops are small enough, and whether there is nothing to do.
std::string check_sizes(const Model& m) {
  std::string out = fmt::format("static int {0}_check_sizes(const {0}_arguments *a, bool *is_empty) {{\n", m.name);
  if (m.sizes->names().empty()) out += "  (void)a;\n";
  for (const std::string& size : m.sizes->names())
    out += fmt::format("  if (a->{} < 0) return sinter_bad_size;\n", size);
  const auto check = [&](const SymbolicShape& shape, std::size_t bytes, bool is_output) {
    const Extents e = extents_of(m, shape);
    if (shape.empty() && !is_output) return;
    out += "  {\n    int64_t count;\n";
    if (!e.declaration.empty()) out += fmt::format("    {}\n", e.declaration);
    out += fmt::format("    count = sinter_count({}, {}, {});\n    if (count < 0) return sinter_bad_size;\n", e.ndim,
                       e.name, bytes);
    if (is_output) out += "    *is_empty = *is_empty && count == 0;\n";
    out += "  }\n";
  };
  for (const Step& step : m.steps) check(step.domain, 16, false);
  for (const Array& t : m.temporaries) check(t.shape, size_of(t.dtype), false);
  out += "  *is_empty = true;\n";
  for (const Array& o : m.outputs) check(o.shape, size_of(o.dtype), true);
  out += "  if (*is_empty) return sinter_ok;\n";
  out += check_indexed(m);
  for (const Step& step : m.steps) {
    if (!step.kernel->rows) continue;
    const bool has_none = m.has_empty_error();  // where it is a part of another reduction, that has a value
    if (!has_none) continue;
    for (const std::string& extent : may_be_zero(m, {step.versions.front().nest.columns()}))
      out += fmt::format("  if ({} == 0) return sinter_empty_reduction;\n", extent);
  }
  return out + "  return sinter_ok;\n}\n\n";
}

}  // namespace

std::string c_arguments(const Model& m) {
  std::string out = "typedef struct {\n";
  for (const Array& a : m.outputs) out += fmt::format("  {} *{};\n", memory_type(a.dtype), a.name);
  for (const Array& a : m.inputs) {
    out += fmt::format("  const {} *{};\n", memory_type(a.dtype), a.name);
    if (a.is_strided())
      out += fmt::format("  const int64_t *{0}_strides_given;\n  int64_t {0}_strides[{1}];\n", a.name, a.shape.size());
  }
  for (const std::string& size : m.sizes->names()) out += fmt::format("  int64_t {};\n", size);
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty())
      out += fmt::format("  {} {};\n",
                         n.category == Category::Bool  ? "bool"
                         : n.category == Category::Int ? "int64_t"
                                                       : "double",
                         n.name);
  for (const Array& t : m.temporaries) out += fmt::format("  void *{};\n", t.name);
  return out + fmt::format("}} {}_arguments;\n\n", m.name);
}

std::string c_nest(const Model& m, std::size_t step, const LayoutVersion& version, const std::string& name) {
  const Step& s = m.steps[step];
  std::string out = fmt::format("static void {}_nest(const {}_arguments *a, sinter_nest *n) {{\n", name, m.name);
  for (int d = 0; d < version.nest.ndim; ++d)
    out += fmt::format("  n->extents[{}] = {};\n", d, m.sizes->text(version.nest.extents[d], "a->"));
  std::vector<Slot> slots(s.kernel->outputs);
  slots.insert(slots.end(), s.kernel->inputs.begin(), s.kernel->inputs.end());
  for (std::size_t k = 0; k < slots.size(); ++k) {
    out += m.is_iota(slots[k]) ? fmt::format("  n->data[{}] = NULL;\n", k)
                               : fmt::format("  n->data[{}] = (void *)a->{};\n", k, m.array(slots[k]).name);
    for (int d = 0; d < version.nest.ndim; ++d)
      out +=
          fmt::format("  n->strides[{}][{}] = {};\n", k, d, m.sizes->text(version.nest.operands[k].strides[d], "a->"));
  }
  return out + "}\n";
}

std::string c_check(const Model& m) {
  std::string out =
      check_sizes(m) + fmt::format("static int {0}_check(const {0}_arguments *a, bool *is_empty{1}) {{\n", m.name,
                                   m.has_workspace() ? ", const char *workspace, size_t workspace_bytes" : "");
  const std::size_t outputs = m.outputs.size();
  out += fmt::format(
      "  sinter_range ranges[{}];\n  int result = {}_check_sizes(a, is_empty);\n"
      "  if (result != sinter_ok || *is_empty) return result;\n",
      outputs + m.inputs.size(), m.name);
  const auto check = [&](const Array& array, std::size_t i) {
    const Extents e = extents_of(m, array.shape);
    out += "  {\n";
    if (!e.declaration.empty()) out += fmt::format("    {}\n", e.declaration);
    out += fmt::format(
        "    result = sinter_check_array(a->{}, {}, {}, {}, {}, {}, &ranges[{}]);\n    if (result != sinter_ok) return "
        "result;\n  }}\n",
        array.name, size_of(array.dtype), cpu_alignment(array.dtype), e.ndim, e.name,
        array.is_strided() ? fmt::format("a->{}_strides", array.name) : "NULL", i);
  };
  for (std::size_t i = 0; i < outputs; ++i) check(m.outputs[i], i);
  for (std::size_t i = 0; i < m.inputs.size(); ++i) check(m.inputs[i], outputs + i);
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < o; ++i)
      out +=
          fmt::format("  if (sinter_ranges_overlap(&ranges[{}], &ranges[{}], false)) return sinter_overlap;\n", o, i);
    for (std::size_t i = 0; i < m.inputs.size(); ++i) {
      std::string same = m.may_be_same[o][i] ? "true" : "false";
      if (m.may_be_same[o][i] && m.inputs[i].is_strided()) {
        const Extents e = extents_of(m, m.inputs[i].shape);
        out += fmt::format(
            "  {{\n    int64_t strides[{}];\n    {}\n    if (sinter_ranges_overlap(&ranges[{}], &ranges[{}], "
            "sinter_layout({}, {}, a->{}_strides, strides) == 0)) return sinter_overlap;\n  }}\n",
            m.inputs[i].shape.size(), e.declaration, o, outputs + i, e.ndim, e.name, m.inputs[i].name);
        continue;
      }
      out += fmt::format("  if (sinter_ranges_overlap(&ranges[{}], &ranges[{}], {})) return sinter_overlap;\n", o,
                         outputs + i, same);
    }
  }
  if (m.has_workspace())
    out += fmt::format(
        "  if (workspace && workspace_bytes > 0) {{\n    const sinter_range own = {{(uintptr_t)workspace, "
        "(uintptr_t)workspace + workspace_bytes}};\n    int i;\n"
        "    if (own.high < own.low) return sinter_bad_workspace;\n    for (i = 0; i < {}; ++i)\n"
        "      if (sinter_ranges_overlap(&ranges[i], &own, false)) return sinter_bad_workspace;\n  }}\n",
        outputs + m.inputs.size());
  for (const ScalarArgument& n : m.scalars) {
    if (n.name.empty() || n.category != Category::Int || size_of(n.narrowest) == 8) continue;
    const int bits = 8 * static_cast<int>(size_of(n.narrowest));
    const bool is_signed = sinter::is_signed(n.narrowest);
    const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const std::int64_t low = is_signed ? -high - 1 : 0;
    out += fmt::format("  if (a->{0} < INT64_C({1}) || a->{0} > INT64_C({2})) return sinter_bad_number;\n", n.name, low,
                       high);
  }
  return out + "  return sinter_ok;\n}\n\n";
}

std::string c_public_functions(const Model& m, const std::string& name) {
  return find_layout(m) + run(m) + launch(m, name) + run_on_cpu(m) + cpu(m, name) + workspace_bytes(m, name);
}

}  // namespace sinter::inline v1::jit::exporting
