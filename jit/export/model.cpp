#include "model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "../functions/c_names.hpp"
#include "../graph/arguments.hpp"
#include "../infer/shapes.hpp"
#include "../passes/common_subexpressions.hpp"
#include "../plan/faults.hpp"
#include "../plan/nest.hpp"
#include "../plan/plan_shapes.hpp"
#include "../plan/product.hpp"
#include "../plan/row_passes.hpp"
#include "../run/checks.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

[[noreturn]] void refuse(const Export& from, std::string_view why) {
  throw Error(fmt::format("{} cannot be exported: {}", runtime::quote(from.options.name), why));
}

/// Refuses operations that exported C does not support.
void check_operations(const Export& from) {
  for (const Node& n : from.expression.graph.nodes()) {
    if (n.op == Op::matmul)
      refuse(from,
             "it multiplies matrices, which a BLAS does. Export what comes before and after the product as kernels of "
             "their own, and call the BLAS of your program between them");
  }
  if (from.expression.graph.outputs().empty()) refuse(from, "it has no result");
}

/// The product of a leaf's extents.
Extent extent_of(const Model& m, const LeafExtents& e) {
  const SymbolicShape& shape = m.sizes->shape(e.leaf);
  return SymbolicShape(shape.begin() + e.first, shape.begin() + e.last).numel();
}

std::string name_or(const std::vector<std::string>& names, std::size_t i, std::string fallback) {
  return i < names.size() && !names[i].empty() ? names[i] : std::move(fallback);
}

/// Adds the operands that read no memory.
void add_iotas(Model& m, const ShapeDependencies& dependencies) {
  for (const IotaLeaf& p : dependencies.leaves) {
    const SymbolicShape& shape = m.sizes->shape(p.leaf);
    IotaOperand iota{p.leaf, shape, contiguous_strides(shape)};
    for (std::size_t d = 0; d < shape.size() && p.array >= 0; ++d) {
      const int axis = p.axes[d];
      const auto array = static_cast<std::uint32_t>(p.array);
      iota.strides[d] = axis < 0 ? 0 : extent_of(m, {array, axis + 1, m.sizes->shape(array).ndim()});
    }
    m.iotas.push_back(std::move(iota));
  }
}

void add_inputs(Model& m, const Export& from, const ShapeDependencies& dependencies) {
  const Graph& graph = from.expression.graph;
  for (const Node& n : graph.nodes())
    if ((n.op == Op::leaf || n.op == Op::array) && std::ranges::find(m.leaves, n.attribute) == m.leaves.end())
      m.leaves.push_back(static_cast<std::uint32_t>(n.attribute));
  std::ranges::sort(m.leaves);
  if (from.options.inputs.size() > m.leaves.size())
    refuse(from, fmt::format("{} inputs are named, but the expression has {}: {}", from.options.inputs.size(),
                             m.leaves.size(), fmt::join(from.options.inputs, ", ")));
  std::vector<Shape> shapes(from.expression.leaves.size());
  std::vector<std::vector<std::string>> names(shapes.size());
  for (std::size_t i = 0; i < m.leaves.size(); ++i) {
    shapes[m.leaves[i]] = from.expression.leaves[m.leaves[i]]->shape;
    if (i < from.options.sizes.size()) names[m.leaves[i]] = from.options.sizes[i];
    if (names[m.leaves[i]].size() > shapes[m.leaves[i]].size())
      refuse(from, fmt::format("input {} has {} axes, but {} sizes are named: {}", i, shapes[m.leaves[i]].ndim(),
                               names[m.leaves[i]].size(), fmt::join(names[m.leaves[i]], ", ")));
  }
  for (const IotaLeaf& p : dependencies.leaves) shapes[p.leaf] = from.expression.leaves[p.leaf]->shape;
  m.sizes = std::make_shared<Sizes>(simplify(graph, true), shapes, names, dependencies.equal);
  for (std::size_t i = 0; i < m.leaves.size(); ++i) {
    const TensorImpl& leaf = *from.expression.leaves[m.leaves[i]];
    m.inputs.push_back(
        {name_or(from.options.inputs, i, fmt::format("x{}", i)), leaf.dtype, m.sizes->shape(m.leaves[i])});
  }
  for (std::size_t i = 0; i < m.leaves.size(); ++i)
    m.inputs[i].indexed = std::ranges::find(dependencies.arrays, m.leaves[i]) != dependencies.arrays.end();
  for (const std::string& strided : from.options.strided) {
    const auto found = std::ranges::find(m.inputs, strided, &Array::name);
    if (found == m.inputs.end()) refuse(from, fmt::format("`strided` names {}, but there is no such input", strided));
    if (found->indexed) refuse(from, fmt::format("{} is gathered from, so it must be contiguous", strided));
    if (found->shape.numel() == 1) continue;
    for (std::size_t d = 0; d < found->shape.size(); ++d)
      found->strides.push_back(m.sizes->stride(fmt::format("{}_strides[{}]", strided, d)));
  }
}

void add_scalars(Model& m, const Export& from, const ShapeDependencies& dependencies) {
  for (const Node& n : from.expression.graph.nodes()) {
    if (n.op != Op::scalar) continue;
    const ScalarUse use = scalar_use(n);
    auto known = std::ranges::find(m.scalars, use.number, &ScalarArgument::index);
    if (known == m.scalars.end())
      known = m.scalars.insert(m.scalars.end(), {use.number, use.arrives_as, "", from.expression.scalars[use.number]});
    if (category(n.dtype) == Category::Int && size_of(n.dtype) < size_of(known->narrowest)) known->narrowest = n.dtype;
  }
  std::ranges::sort(m.scalars, {}, &ScalarArgument::index);
  for (ScalarArgument& n : m.scalars)
    if (const auto known = dependencies.scalars.find(n.index); known != dependencies.scalars.end())
      n.extent = extent_of(m, known->second);
  const std::vector<std::uint32_t> free = nameable_numbers(from);
  if (from.options.numbers.size() > free.size())
    refuse(from,
           fmt::format("{} numbers are named, but the expression has {}", from.options.numbers.size(), free.size()));
  for (std::size_t i = 0; i < from.options.numbers.size(); ++i)
    std::ranges::find(m.scalars, free[i], &ScalarArgument::index)->name = from.options.numbers[i];
  for (const ScalarArgument& n : m.scalars)
    if (n.name.empty() && !n.extent && n.category == Category::Int)
      check_fits(static_cast<std::int64_t>(n.value.bits), n.narrowest);
}

void check_names(const Model& m, const Export& from) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const std::string& what) {
    check_name(name, what);
    if (name.starts_with(m.name + "_"))
      refuse(from, fmt::format("its {} {} starts with \"{}_\", which is reserved for its own functions: choose another "
                               "name",
                               what, name, m.name));
    if (!seen.insert(name).second) refuse(from, fmt::format("two of its parameters are called {}", name));
  };
  check_name(m.name, "kernel");
  for (const Array& a : m.outputs) add(a.name, "output");
  for (const Array& a : m.inputs) {
    add(a.name, "input");
    if (a.is_strided()) add(a.name + "_strides", "parameter"), add(a.name + "_strides_given", "parameter");
  }
  for (const std::string& size : m.sizes->names()) add(size, "size");
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty()) add(n.name, "number");
  for (const Array& a : m.temporaries) add(a.name, "temporary");
}

/// An address that all vectors are aligned to. Nothing is read or written.
std::byte* somewhere() noexcept { return reinterpret_cast<std::byte*>(std::uintptr_t{4096}); }

/// An operand in the given layout.
SymbolicTensor symbolic(const Array& array, Layout layout) {
  SymbolicTensor t{.shape = array.shape, .strides = contiguous_strides(array.shape), .numel = array.shape.numel()};
  t.data = somewhere();
  if (!array.is_strided()) return t;
  const std::size_t given = layout == Layout::Strided  ? array.shape.size()
                            : layout == Layout::Padded ? array.shape.size() - 1
                                                       : 0;
  std::ranges::copy_n(array.strides.begin(), static_cast<std::ptrdiff_t>(given), t.strides.begin());
  t.contiguous = layout == Layout::Contiguous;
  return t;
}

/// Iotas have no address.
SymbolicTensor symbolic(const IotaOperand& iota) {
  SymbolicTensor t{.shape = iota.shape, .strides = iota.strides, .numel = iota.shape.numel()};
  const SymbolicShape contiguous = contiguous_strides(t.shape);
  for (std::size_t d = 0; d < t.shape.size(); ++d)
    t.contiguous = t.contiguous && (t.shape[d] == 1 || t.strides[d] == contiguous[d]);
  return t;
}

/// A tensor of example extents.
TensorRef example(const Model& m, const SymbolicTensor& symbolic, DType dtype) {
  const Shape shape = m.sizes->example(symbolic.shape);
  check_shape(shape, size_of(dtype));
  TensorRef t = runtime::iota_tensor(shape, Device());
  t->dtype = dtype;
  t->data = symbolic.data;
  t->strides = m.sizes->example(symbolic.strides);
  t->contiguous = symbolic.contiguous;
  return t;
}

/// Subexpressions that are equal for the scalars that are fixed at export are computed once.
void merge_equal_scalars(Model& m, const Export& from) {
  std::set<std::uint32_t> vary;
  for (const ScalarArgument& n : m.scalars)
    if (!n.name.empty() || n.extent) vary.insert(n.index);
  const EqualScalars equal(m.recorded, vary);
  if (std::optional<Graph> merged = equal.specialize(m.recorded, equal.pattern(from.expression.scalars.data())))
    m.recorded = std::move(*merged);
}

/// The plan for the stand-ins, and the shapes of what it writes.
void add_plan(Model& m, const Export& from) {
  std::vector<TensorRef> held;
  std::vector<TensorImpl*> leaves(from.expression.leaves.size());
  const auto hold = [&](std::uint32_t leaf, const SymbolicTensor& symbolic, DType dtype) {
    leaves[leaf] = held.emplace_back(example(m, symbolic, dtype)).get();
  };
  for (std::size_t i = 0; i < m.inputs.size(); ++i)
    hold(m.leaves[i], symbolic(m.inputs[i], Layout::Contiguous), m.inputs[i].dtype);
  for (const IotaOperand& p : m.iotas) hold(p.leaf, symbolic(p), DType::Int64);
  // The graph may leave out leaves of the tree: what is no input has some shape.
  const TensorRef other = runtime::iota_tensor({}, Device());
  for (TensorImpl*& leaf : leaves)
    if (!leaf) leaf = other.get();
  merge_equal_scalars(m, from);
  m.compiled = std::make_shared<const CompiledGraph>(m.recorded, false);
  const CompiledGraph& compiled = *m.compiled;
  std::vector<Shape> shapes;
  if (!compiled.depends_on_shapes())
    for (std::size_t i = 0; i < compiled.outputs(); ++i) shapes.push_back(output_shape(compiled, i, leaves));
  for (const Shape& s : shapes)
    if (!(s == shapes[0]))
      refuse(from, "its outputs have different shapes. Export each of them as a kernel of its own");
  const RowValues rows = reduces(m.recorded) ? RowValues::Recomputed : RowValues::StoredOnCpu;  // for any size
  const ExecutablePlan& ready =
      compiled.depends_on_shapes() ? compiled.plan_for(leaves, rows) : compiled.plan_for_one_shape();
  m.plan = &ready.plan;
  const PlanShapes found = plan_shapes(ready.plan, compiled.depends_on_shapes() ? nullptr : shapes.data(), leaves);
  const std::size_t outputs = compiled.outputs();
  if (from.options.outputs.size() > outputs)
    refuse(from, fmt::format("{} outputs are named, but there are {}", from.options.outputs.size(), outputs));
  for (std::size_t i = 0; i < outputs; ++i)
    m.outputs.push_back({name_or(from.options.outputs, i, outputs == 1 ? "out" : fmt::format("out{}", i)),
                         compiled.dtype(i), m.sizes->of_example(found.outputs[i])});
  for (std::size_t i = 0; i < ready.plan.temporaries.size(); ++i)
    m.temporaries.push_back(
        {fmt::format("temporary{}", i), ready.plan.temporaries[i], m.sizes->of_example(found.temporaries[i])});
  for (std::size_t k = 0; k < ready.plan.kernels.size(); ++k)
    m.steps.push_back({.kernel = &ready.plan.kernels[k], .domain = m.sizes->of_example(found.kernels[k])});
}

/// What a slot of a kernel stands for.
SymbolicTensor operand(const Model& m, const Slot& slot, Layout layout) {
  const auto iota = std::ranges::find(m.iotas, slot.number, &IotaOperand::leaf);
  return m.is_iota(slot) ? symbolic(*iota) : symbolic(m.array(slot), layout);
}

void add_version(const Model& m, const Export& from, Step& step, Layout layout) {
  const Kernel& kernel = *step.kernel;
  std::vector<SymbolicTensor> tensors;
  for (const Slot& s : kernel.outputs) tensors.push_back(operand(m, s, layout));
  for (const Slot& s : kernel.inputs) tensors.push_back(operand(m, s, layout));
  std::vector<SymbolicTensor*> operands;
  for (SymbolicTensor& t : tensors) operands.push_back(&t);
  if (operands.size() > ClassKey::max_operands)
    refuse(from, fmt::format("one of its kernels has {} operands; {} are possible", operands.size(),
                             std::size_t{ClassKey::max_operands}));
  LayoutVersion version{.layout = layout};
  if (kernel.rows)
    make_row_nest(version.nest, operands, kernel, step.domain);
  else
    make_nest(version.nest, operands, static_cast<int>(kernel.outputs.size()), kernel.arrays);
  add_variants(m, step, version);
  step.versions.push_back(std::move(version));
}

void add_steps(Model& m, const Export& from) {
  for (Step& step : m.steps) {
    step.traits = std::make_shared<const KernelTraits>(*step.kernel);
    step.has_final_pass = step.traits->rows && step.traits->rows->has_final_pass;
    const Layout most_general = m.is_strided() ? Layout::Strided : Layout::Contiguous;
    for (const Layout layout : {Layout::Contiguous, Layout::Padded, Layout::Strided})
      if (layout == most_general || (layout < most_general && !m.one_variant)) add_version(m, from, step, layout);
  }
}

/// Where an input has an output's shape and elements of its size, each of which is read before it is written.
void add_sharing(Model& m) {
  for (std::uint32_t o = 0; o < m.outputs.size(); ++o) {
    m.may_be_same.emplace_back();
    for (const Array& input : m.inputs)
      m.may_be_same.back().push_back(m.in_place && !input.indexed && input.shape == m.outputs[o].shape &&
                                     size_of(input.dtype) == size_of(m.outputs[o].dtype) &&
                                     writes_in_place(*m.plan, o));
  }
}

}  // namespace

bool writes_in_place(const Plan& plan, std::uint32_t output) {
  const Kernel& last = plan.kernels.back();
  for (std::size_t i = 0; i < last.outputs.size(); ++i)
    if (last.outputs[i] == Slot{Slot::Kind::Output, output})
      return !last.rows || last.rows->axis_mapping[i] == AxisMapping::Domain;
  return false;
}

std::string kernel_name(const Model& model, std::size_t step, const LayoutVersion& version) {
  constexpr std::string_view layouts[] = {"", "_padded", "_strided"};
  return fmt::format("{}_{}{}", model.name, step, layouts[static_cast<int>(version.layout)]);
}

bool Model::may_fault() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.any(); });
}

bool Model::may_divide_by_0() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.division_by_zero; });
}

bool Model::takes_indices() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.index_out_of_range; });
}

bool Model::is_iota(const Slot& slot) const noexcept {
  return (slot.kind == Slot::Kind::Leaf || slot.kind == Slot::Kind::Array) &&
         std::ranges::find(iotas, slot.number, &IotaOperand::leaf) != iotas.end();
}

bool Model::has_workspace() const noexcept {
  const auto splits = [](const LayoutVersion& l) {
    return std::ranges::any_of(l.variants, [](const Variant& v) { return v.kernel_class.rows.split; });
  };
  return launches && (!temporaries.empty() || std::ranges::any_of(steps, [&](const Step& s) {
           return std::ranges::any_of(s.versions, splits);
         }));
}

bool Model::has_empty_error() const noexcept {
  return std::ranges::any_of(recorded.nodes(), [](const Node& n) { return traits_of(n.op).lacks_identity; });
}

bool Model::is_strided() const noexcept { return std::ranges::any_of(inputs, &Array::is_strided); }

const Array& Model::array(const Slot& slot) const {
  switch (slot.kind) {
    case Slot::Kind::Output: return outputs[slot.number];
    case Slot::Kind::Temporary: return temporaries[slot.number];
    default: break;
  }
  return inputs[static_cast<std::size_t>(std::ranges::find(leaves, slot.number) - leaves.begin())];
}

const ScalarArgument& Model::scalar(std::uint32_t index) const {
  return *std::ranges::find(scalars, index, &ScalarArgument::index);
}

Model make_model(const Export& from) {
  check_operations(from);
  Model m{.name = from.options.name,
          .recorded = from.expression.graph,
          .in_place = from.options.in_place,
          .one_variant = from.options.one_variant};
  const ShapeDependencies dependencies = find_shape_dependencies(from.expression, m.name);
  add_inputs(m, from, dependencies);
  add_iotas(m, dependencies);
  add_scalars(m, from, dependencies);
  add_plan(m, from);
  check_names(m, from);
  add_steps(m, from);
  add_sharing(m);
  return m;
}

}  // namespace sinter::inline v1::jit::exporting
