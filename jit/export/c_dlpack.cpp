// The functions of an exported kernel that take DLPack tensors: sizes are these tensors' own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "c_expression.hpp"
#include "c_functions.hpp"
#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

struct TensorType {
  int code, bits;
};
/// DLDataType.
TensorType tensor_type(DType dtype) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  switch (dtype) {
    case DType::Bool: return {6, 8};
    case DType::BFloat16: return {4, 16};
    default: break;
  }
  if (is_unsigned(dtype)) return {1, bits};
  const Category c = category(dtype);
  return {c == Category::Int ? 0 : c == Category::Float ? 2 : 5, bits};
}

std::vector<const Array*> arrays_of(const Model& m) {
  std::vector<const Array*> all;
  for (const Array& a : m.outputs) all.push_back(&a);
  for (const Array& a : m.inputs) all.push_back(&a);
  return all;
}

/// Axes of 1 at the end, as indices have them, need not be there.
int needed_ndim(const Array& a) {
  int ndim = a.shape.ndim();
  while (!a.is_strided() && ndim > 0 && a.shape[static_cast<std::size_t>(ndim - 1)] == 1) --ndim;
  return ndim;
}

/// "sinter_t[1]->shape[0]", which a size is; inputs are asked first.
std::string where_is(const Model& m, const Extent& size) {
  const std::vector<const Array*> all = arrays_of(m);
  for (std::size_t i = all.size(); i-- > 0;)
    for (int d = 0; d < all[i]->shape.ndim(); ++d)
      if (all[i]->shape[static_cast<std::size_t>(d)] == size) return fmt::format("t[{}]->shape[{}]", i, d);
  throw Error(fmt::format(
      "{} cannot take DLPack tensors: its size {} is the extent of no input and no output. Leave dlpack out for it",
      runtime::quote(m.name), m.sizes->text(size, "")));
}

std::string take(const Model& m) {
  std::string out = fmt::format(
      "static int {0}_dlpack({0}_arguments *a, const sinter_tensor *const *t, bool is_launch) {{\n  int result;\n",
      m.name);
  const std::vector<const Array*> all = arrays_of(m);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TensorType type = tensor_type(all[i]->dtype);
    out += fmt::format(
        "  if ((result = sinter_check_tensor(t[{}], {}, {}, {}, {}, is_launch)) != sinter_ok) return result;\n", i,
        type.code, type.bits, needed_ndim(*all[i]), all[i]->shape.ndim());
    if (m.launches)
      out += fmt::format("  if (is_launch && (result = sinter_check_device(t[{}])) != sinter_ok) return result;\n", i);
  }
  for (int s = 0; s < std::ssize(m.sizes->names()); ++s)
    out += fmt::format("  {} = {};\n", m.sizes->text(Extent::symbol(s), "a->"), where_is(m, Extent::symbol(s)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Array& a = *all[i];
    out += "  {\n";
    if (!a.shape.empty()) out += fmt::format("    int64_t extents[{}];\n", a.shape.size());
    int d = 0;
    for (const Extent& extent : a.shape)
      out += fmt::format("    extents[{}] = {};\n", d++, m.sizes->text(extent, "a->"));
    out += fmt::format("    if (!sinter_tensor_fits(t[{}], {}, {})) return sinter_bad_tensor;\n  }}\n", i,
                       a.shape.empty() ? "NULL" : "extents", !a.is_strided());
    out += fmt::format("  a->{0} = ({1}{2} *)sinter_tensor_data(t[{3}]);\n", a.name,
                       i < m.outputs.size() ? "" : "const ", memory_type(a.dtype), i);
    if (a.is_strided()) out += fmt::format("  a->{}_strides_given = t[{}]->strides;\n", a.name, i);
  }
  return out + "  return sinter_ok;\n}\n\n";
}

std::string public_function(const Model& m, const std::string& name, bool of_launch) {
  std::string out = fmt::format("int {}_{}_dlpack({}) {{\n", name, of_launch ? "launch" : "cpu",
                                fmt::join(dlpack_parameters(m, of_launch), ", "));
  const std::vector<const Array*> all = arrays_of(m);
  out += fmt::format("  {}_arguments sinter_a;\n  const sinter_tensor *sinter_t[{}];\n  int sinter_result;\n", m.name,
                     all.size());
  if (of_launch)
    out += fmt::format("  sinter_call sinter_c = {{stream, {}, NULL, 0}};\n", m.may_fault() ? "fault" : "NULL");
  out += "  memset(&sinter_a, 0, sizeof sinter_a);\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    out += fmt::format("  sinter_t[{}] = (const sinter_tensor *){};\n", i, all[i]->name);
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty()) out += fmt::format("  sinter_a.{0} = {0};\n", n.name);
  out += fmt::format(
      "  sinter_result = {}_dlpack(&sinter_a, sinter_t, {});\n  if (sinter_result != sinter_ok) return "
      "sinter_result;\n",
      m.name, of_launch);
  if (!of_launch) return out + fmt::format("  return {}_run_on_cpu(&sinter_a);\n}}\n\n", m.name);
  return out + fmt::format("  return {}_run(&sinter_a, &sinter_c{});\n}}\n\n", m.name,
                           m.has_workspace() ? ", (char *)workspace, workspace_bytes" : "");
}

}  // namespace

std::vector<std::string> dlpack_parameters(const Model& model, bool of_launch) {
  std::vector<std::string> out;
  if (of_launch) out.emplace_back("void *stream");
  for (const Array* a : arrays_of(model)) out.push_back("const void *" + a->name);
  add_other_parameters(model, of_launch, out);
  return out;
}

std::string c_dlpack_functions(const Model& m, const std::string& name) {
  return take(m) + (m.launches ? public_function(m, name, true) : "") + public_function(m, name, false);
}

}  // namespace sinter::inline v1::jit::exporting
