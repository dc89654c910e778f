#include "c_functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "c_expression.hpp"
#include "c_launch.hpp"
#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

/// `int64_t extents[2]; extents[0] = a->n; ...`, the number of dims, and the name; of a scalar none.
struct Extents {
  std::string declaration, ndim, name;
};
Extents extents_of(const Model& m, const SymbolicShape& shape) {
  if (shape.empty()) return {"", "0", "NULL"};
  std::string declaration = fmt::format("int64_t extents[{}];", shape.size());
  int d = 0;
  for (const Extent& extent : shape)
    declaration += fmt::format(" extents[{}] = {};", d++, m.sizes->text(extent, "a->"));
  return {declaration, fmt::format("{}", shape.size()), "extents"};
}

}  // namespace

std::string function_head(const std::string& type, const std::string& name,
                          const std::vector<std::string>& parameters) {
  return fmt::format("{} {}({}) {{\n", type, name,
                     parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", ")));
}

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

namespace {

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
    out += fmt::format(
        "  {0}_nest(a, &nest);\n  SINTER_TRACE_BEGIN(\"{1}_cpu_{2}\");\n  {1}_cpu_{2}(a, &nest, &faults);\n"
        "  SINTER_TRACE_END(\"{1}_cpu_{2}\");\n",
        kernel_name(m, s, m.steps[s].versions.back()), m.name, s);
  if (!m.temporaries.empty()) out += "  free(memory);\n";
  if (m.takes_indices()) out += "  if (faults & 2) return sinter_index_out_of_range;\n";
  if (m.may_divide_by_0()) out += "  if (faults & 1) return sinter_division_by_zero;\n";
  return out + "  (void)faults;\n  return sinter_ok;\n}\n\n";
}

std::string cpu(const Model& m, const std::string& name) {
  return function_head("int", name + "_cpu", parameters(m, false)) + take_arguments(m, false) +
         fmt::format("  return {}_run_on_cpu(&sinter_a);\n}}\n\n", m.name);
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
  return find_layout(m) + (m.launches ? c_launch_functions(m, name) : "") + run_on_cpu(m) + cpu(m, name);
}

}  // namespace sinter::inline v1::jit::exporting
