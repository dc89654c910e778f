#include "model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
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

/// What C source of ours cannot hold.
void check_operations(const Export& from) {
  for (const Node& n : from.expression.graph.nodes()) {
    if (n.op == Op::matmul)
      refuse(from,
             "it multiplies matrices, which a BLAS does. Export what comes before and after the product as kernels of "
             "their own, and call the BLAS of your program between them");
  }
  if (from.expression.graph.outputs().empty()) refuse(from, "it has no result");
}

/// The product of a leaf's extents, as primes.
std::int64_t extent_of(const Model& m, const LeafExtents& e) {
  std::int64_t product = 1;
  for (int d = e.first; d < e.last; ++d) product *= m.sizes->shape(e.leaf)[d];
  return product;
}

std::string name_or(const std::vector<std::string>& names, std::size_t i, std::string otherwise) {
  return i < names.size() && !names[i].empty() ? names[i] : std::move(otherwise);
}

/// Those that nothing is read for.
void add_positions(Model& m, const Places& places) {
  for (const PositionLeaf& p : places.leaves) {
    Positions positions{p.leaf, m.sizes->shape(p.leaf), {}};
    const int ndim = positions.shape.ndim();
    std::int64_t step = 1;
    positions.strides = Shape(positions.shape);
    for (int d = ndim - 1; d >= 0; step *= positions.shape[d--]) positions.strides[d] = step;
    for (int d = 0; d < ndim && p.array >= 0; ++d) {
      const int axis = p.axes[static_cast<std::size_t>(d)];
      const auto array = static_cast<std::uint32_t>(p.array);
      positions.strides[d] = axis < 0 ? 0 : extent_of(m, {array, axis + 1, m.sizes->shape(array).ndim()});
    }
    m.positions.push_back(std::move(positions));
  }
}

void add_inputs(Model& m, const Export& from, const Places& places) {
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
  for (const PositionLeaf& p : places.leaves) shapes[p.leaf] = from.expression.leaves[p.leaf]->shape;
  m.sizes = std::make_shared<const Sizes>(simplify(graph, true), shapes, names, places.equal);
  for (std::size_t i = 0; i < m.leaves.size(); ++i) {
    const TensorImpl& leaf = *from.expression.leaves[m.leaves[i]];
    m.inputs.push_back(
        {name_or(from.options.inputs, i, fmt::format("x{}", i)), leaf.dtype, m.sizes->shape(m.leaves[i])});
  }
  for (std::size_t i = 0; i < m.leaves.size(); ++i)
    m.inputs[i].indexed = std::ranges::find(places.arrays, m.leaves[i]) != places.arrays.end();
  for (const std::string& strided : from.options.strided) {
    const auto found = std::ranges::find(m.inputs, strided, &Array::name);
    if (found == m.inputs.end())
      refuse(from, fmt::format("{} comes with strides, but no input has this name", strided));
    if (found->indexed)
      refuse(from, fmt::format("{} is read at places that indices give, and comes without strides", strided));
    found->strided = found->shape.numel() != 1;
  }
}

void add_numbers(Model& m, const Export& from, const Places& places) {
  for (const Node& n : from.expression.graph.nodes()) {
    if (n.op != Op::scalar) continue;
    const ScalarUse use = scalar_use(n);
    auto known = std::ranges::find(m.numbers, use.number, &Number::number);
    if (known == m.numbers.end())
      known = m.numbers.insert(m.numbers.end(), {use.number, use.arrives_as, "", from.expression.scalars[use.number]});
    if (category(n.dtype) == Category::Int && size_of(n.dtype) < size_of(known->narrowest)) known->narrowest = n.dtype;
  }
  std::ranges::sort(m.numbers, {}, &Number::number);
  for (Number& n : m.numbers)
    if (const auto known = places.numbers.find(n.number); known != places.numbers.end())
      n.extent = extent_of(m, known->second);
  const std::vector<std::uint32_t> free = nameable_numbers(from);
  if (from.options.numbers.size() > free.size())
    refuse(from,
           fmt::format("{} numbers are named, but the expression has {}", from.options.numbers.size(), free.size()));
  for (std::size_t i = 0; i < from.options.numbers.size(); ++i)
    std::ranges::find(m.numbers, free[i], &Number::number)->name = from.options.numbers[i];
  for (const Number& n : m.numbers)
    if (n.name.empty() && n.extent == 0 && n.category == Category::Int)
      check_fits(static_cast<std::int64_t>(n.value.bits), n.narrowest);
}

void check_names(const Model& m, const Export& from) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const std::string& what) {
    check_name(name, what);
    if (name.starts_with(m.name + "_"))
      refuse(from, fmt::format("its {} {} begins as its own functions do, with {}_: choose another name", what, name,
                               m.name));
    if (!seen.insert(name).second) refuse(from, fmt::format("two of its parameters are called {}", name));
  };
  check_name(m.name, "kernel");
  for (const Array& a : m.outputs) add(a.name, "output");
  for (const Array& a : m.inputs) {
    add(a.name, "input");
    if (a.strided) add(a.name + "_strides", "parameter"), add(a.name + "_strides_given", "parameter");
  }
  for (const std::string& size : m.sizes->names()) add(size, "size");
  for (const Number& n : m.numbers)
    if (!n.name.empty()) add(n.name, "number");
  for (const Array& a : m.temporaries) add(a.name, "temporary");
}

/// A tensor of an array's shape that lies so. It has an address, which decides on vectors, and no memory.
TensorRef stand_in(const Array& array, Layout layout, std::size_t& strides) {
  constexpr std::uintptr_t aligned_address = 4096;
  TensorRef t = runtime::index_tensor(array.shape, Device());
  t->dtype = array.dtype;
  t->data = reinterpret_cast<std::byte*>(aligned_address);
  if (!array.strided) return t;
  const int ndim = array.shape.ndim();
  for (int a = 0; a < ndim; ++a) {
    const std::int64_t prime = stride_prime(strides + static_cast<std::size_t>(ndim - 1 - a));
    if (layout == Layout::Strided || (layout == Layout::Padded && a < ndim - 1)) t->strides[a] = prime;
  }
  strides += static_cast<std::size_t>(ndim);
  t->contiguous = layout == Layout::Contiguous;
  return t;
}

std::vector<TensorRef> stand_ins(const std::vector<Array>& arrays, Layout layout) {
  std::vector<TensorRef> out;
  std::size_t strides = 0;
  for (const Array& a : arrays) out.push_back(stand_in(a, layout, strides));
  return out;
}

/// The same for positions, which have no address.
TensorRef stand_in(const Positions& positions) {
  TensorRef t = runtime::index_tensor(positions.shape, Device());
  t->strides = positions.strides;
  std::int64_t step = 1;
  for (int d = positions.shape.ndim() - 1; d >= 0; step *= positions.shape[d--])
    t->contiguous = t->contiguous && (positions.shape[d] == 1 || positions.strides[d] == step);
  return t;
}

/// Parts that are equal for the numbers that the library holds for good are computed once.
void merge_equal_scalars(Model& m, const Export& from) {
  std::set<std::uint32_t> vary;
  for (const Number& n : m.numbers)
    if (!n.name.empty() || n.extent != 0) vary.insert(n.number);
  const EqualScalars equal(m.recorded, vary);
  if (std::optional<Graph> merged = equal.merged(m.recorded, equal.pattern(from.expression.scalars.data())))
    m.recorded = std::move(*merged);
}

/// The plan for the stand-ins, and the shapes of what it writes.
void add_plan(Model& m, const Export& from) {
  std::vector<TensorRef> held = stand_ins(m.inputs, Layout::Contiguous);
  std::vector<TensorImpl*> leaves(from.expression.leaves.size());
  for (std::size_t i = 0; i < m.inputs.size(); ++i) leaves[m.leaves[i]] = held[i].get();
  for (const Positions& p : m.positions) {
    held.push_back(stand_in(p));
    leaves[p.leaf] = held.back().get();
  }
  // The graph may leave out leaves of the tree: what is no input has some shape.
  const TensorRef other = runtime::index_tensor({}, Device());
  for (TensorImpl*& leaf : leaves)
    if (!leaf) leaf = other.get();
  merge_equal_scalars(m, from);
  m.compiled = std::make_shared<const CompiledGraph>(m.recorded, false);
  const CompiledGraph& compiled = *m.compiled;
  std::vector<Shape> shapes;
  if (!compiled.reshapes())
    for (std::size_t i = 0; i < compiled.outputs(); ++i) shapes.push_back(output_shape(compiled, i, leaves));
  for (const Shape& s : shapes)
    if (!(s == shapes[0]))
      refuse(from, "its outputs have different shapes. Export each of them as a kernel of its own");
  const ReadyPlan& ready = compiled.reshapes() ? compiled.plan_for(leaves) : compiled.together();
  m.plan = &ready.plan;
  const PlanShapes found = plan_shapes(ready.plan, compiled.reshapes() ? nullptr : shapes.data(), leaves);
  const std::size_t outputs = compiled.outputs();
  if (from.options.outputs.size() > outputs)
    refuse(from, fmt::format("{} outputs are named, but there are {}", from.options.outputs.size(), outputs));
  for (std::size_t i = 0; i < outputs; ++i)
    m.outputs.push_back({name_or(from.options.outputs, i, outputs == 1 ? "out" : fmt::format("out{}", i)),
                         compiled.dtype(i), found.outputs[i]});
  for (std::size_t i = 0; i < ready.plan.temporaries.size(); ++i)
    m.temporaries.push_back({fmt::format("temporary{}", i), ready.plan.temporaries[i], found.temporaries[i]});
  for (std::size_t k = 0; k < ready.plan.kernels.size(); ++k)
    m.steps.push_back({.kernel = &ready.plan.kernels[k], .domain = found.kernels[k]});
}

void add_loops(Model& m, const Export& from, Step& step, Layout layout) {
  const std::vector<TensorRef> inputs = stand_ins(m.inputs, layout), outputs = stand_ins(m.outputs, layout),
                               temporaries = stand_ins(m.temporaries, layout);
  const Kernel& kernel = *step.kernel;
  std::vector<TensorRef> positions;
  for (const Positions& p : m.positions) positions.push_back(stand_in(p));
  std::vector<TensorImpl*> operands;
  const auto add = [&](const Slot& s) {
    switch (s.kind) {
      case Slot::Kind::Output: return operands.push_back(outputs[s.number].get());
      case Slot::Kind::Temporary: return operands.push_back(temporaries[s.number].get());
      default: break;
    }
    const auto place = std::ranges::find(m.positions, s.number, &Positions::leaf);
    if (place != m.positions.end())
      return operands.push_back(positions[static_cast<std::size_t>(place - m.positions.begin())].get());
    const auto input = std::ranges::find(m.leaves, s.number) - m.leaves.begin();
    operands.push_back(inputs[static_cast<std::size_t>(input)].get());
  };
  std::ranges::for_each(kernel.outputs, add);
  std::ranges::for_each(kernel.inputs, add);
  if (operands.size() > ClassKey::max_operands)
    refuse(from, fmt::format("one of its kernels has {} operands; {} are possible", operands.size(),
                             std::size_t{ClassKey::max_operands}));
  Loops loops{.layout = layout};
  if (kernel.rows)
    make_row_nest(loops.nest, operands, kernel, step.domain);
  else
    make_nest(loops.nest, operands, static_cast<int>(kernel.outputs.size()), kernel.arrays);
  add_variants(kernel, *step.traits, m.in_place, loops);
  step.loops.push_back(std::move(loops));
}

void add_steps(Model& m, const Export& from) {
  for (Step& step : m.steps) {
    step.traits = std::make_shared<const KernelTraits>(*step.kernel);
    step.writes_elements = step.traits->rows && step.traits->rows->writes_elements;
    add_loops(m, from, step, Layout::Contiguous);
    if (!m.is_strided()) continue;
    add_loops(m, from, step, Layout::Padded);
    add_loops(m, from, step, Layout::Strided);
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
    if (last.outputs[i] == Slot{Slot::Kind::Output, output}) return !last.rows || last.rows->over[i] == Over::Domain;
  return false;
}

bool Model::may_fault() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.any(); });
}

bool Model::may_divide_by_0() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.division; });
}

bool Model::takes_indices() const noexcept {
  return std::ranges::any_of(steps, [](const Step& s) { return s.traits->faults.position; });
}

bool Model::is_positions(const Slot& slot) const noexcept {
  return (slot.kind == Slot::Kind::Leaf || slot.kind == Slot::Kind::Array) &&
         std::ranges::find(positions, slot.number, &Positions::leaf) != positions.end();
}

bool Model::has_workspace() const noexcept {
  const auto splits = [](const Loops& l) {
    return std::ranges::any_of(l.variants, [](const Variant& v) { return v.kernel_class.rows.split; });
  };
  return !temporaries.empty() ||
         std::ranges::any_of(steps, [&](const Step& s) { return std::ranges::any_of(s.loops, splits); });
}

bool Model::has_empty_error() const noexcept {
  return std::ranges::any_of(recorded.nodes(), [](const Node& n) { return facts(n.op).lacks_identity; });
}

bool Model::is_strided() const noexcept { return std::ranges::any_of(inputs, &Array::strided); }

const Array& Model::array(const Slot& slot) const {
  switch (slot.kind) {
    case Slot::Kind::Output: return outputs[slot.number];
    case Slot::Kind::Temporary: return temporaries[slot.number];
    default: break;
  }
  return inputs[static_cast<std::size_t>(std::ranges::find(leaves, slot.number) - leaves.begin())];
}

const Number& Model::number(std::uint32_t number) const { return *std::ranges::find(numbers, number, &Number::number); }

Model make_model(const Export& from) {
  check_operations(from);
  Model m{.name = from.options.name, .recorded = from.expression.graph, .in_place = from.options.in_place};
  const Places places = find_places(from.expression, m.name);
  add_inputs(m, from, places);
  add_positions(m, places);
  add_numbers(m, from, places);
  add_plan(m, from);
  check_names(m, from);
  add_steps(m, from);
  add_sharing(m);
  return m;
}

}  // namespace sinter::inline v1::jit::exporting
