#include "c_loops.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../plan/row_passes.hpp"
#include "c_expression.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

/// What both kinds of steps ask for: operands, their names and where an element of them lies.
class Operands {
 public:
  Operands(const Model& model, const Step& step) : kernel(*step.kernel), nest(step.loops.back().nest) {
    for (const Slot& s : kernel.outputs) dtypes.push_back(model.array(s).dtype);
    for (const Slot& s : kernel.inputs) {
      is_position.resize(dtypes.size());
      is_position.push_back(model.is_positions(s));
      dtypes.push_back(is_position.back() ? DType::Int64 : model.array(s).dtype);
    }
    is_position.resize(dtypes.size());
  }

  bool is_output(std::size_t k) const { return k < kernel.outputs.size(); }
  std::string name(std::size_t k) const {
    return is_output(k) ? fmt::format("y{}", k) : fmt::format("x{}", k - kernel.outputs.size());
  }
  /// Pointers to all of them.
  std::string pointers() const {
    std::string out;
    for (std::size_t k = 0; k < dtypes.size(); ++k)
      if (!is_position[k])
        out += fmt::format("  {0}{1} *const {2}_data = ({0}{1} *)n->data[{3}];\n", is_output(k) ? "" : "const ",
                           element_type(dtypes[k]), name(k), k);
    return out;
  }
  /// The element at i<first>, ... of these dims.
  std::string element(std::size_t k, int first, int last) const {
    std::string place;
    for (int d = first; d < last; ++d) {
      const std::int64_t stride = nest.operands[k].strides[d];
      if (stride == 0) continue;
      if (!place.empty()) place += " + ";
      place += stride == 1 ? fmt::format("i{}", d) : fmt::format("i{} * n->strides[{}][{}]", d, k, d);
    }
    if (place.empty()) place = "0";
    return is_position[k] ? place : fmt::format("{}_data[{}]", name(k), place);
  }
  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) names.push_back(fmt::format("x{}", i));
    return names;
  }
  /// What memory holds of an output's value.
  std::string stored(std::size_t k, const std::string& value) const {
    return dtypes[k] == DType::Bool ? fmt::format("(uint8_t){}", value) : value;
  }
  std::string read(std::size_t k, int first, int last) const {
    return fmt::format("const {} {} = {};\n", element_type(dtypes[k]), name(k), element(k, first, last));
  }

  const Kernel& kernel;
  const LoopNest& nest;
  std::vector<DType> dtypes;
  std::vector<bool> is_position;
};

/// Of elements that a loop reads, or of their positions.
bool is_passed(const Node& n) noexcept { return n.op == Op::leaf || n.op == Op::index; }

/// Heads of loops over dims; the innermost body is indented by `indent`.
std::string loops(int first, int last, std::string& indent) {
  std::string out;
  for (int d = first; d < last; ++d) {
    out +=
        fmt::format("{}for (i{} = 0; i{} < n->extents[{}]; ++i{}){}\n", indent, d, d, d, d, d + 1 == last ? " {" : "");
    indent += "  ";
  }
  return out;
}

std::string closing(std::string& indent, int levels) {
  indent.resize(indent.size() - 2 * static_cast<std::size_t>(levels));
  return indent + std::string(2 * static_cast<std::size_t>(levels - 1), ' ') + "}\n";
}

std::string counters(int ndim) {
  std::string out = "  int64_t ";
  for (int d = 0; d < ndim; ++d) out += fmt::format("{}i{}", d == 0 ? "" : ", ", d);
  return out + ";\n";
}

std::string elementwise_loops(const Model& model, const Step& step) {
  const Operands o(model, step);
  const Graph& graph = step.kernel->graph;
  std::string indent = "  ";
  std::string out =
      o.pointers() + counters(o.nest.ndim) + "  (void)a;\n  (void)faults;\n" + loops(0, o.nest.ndim, indent);
  std::vector<bool> read(step.kernel->inputs.size());
  for (const Node& n : graph.nodes())
    if (is_passed(n) && !read[n.attribute]) {
      read[n.attribute] = true;
      out += indent + o.read(step.kernel->outputs.size() + n.attribute, 0, o.nest.ndim);
    }
  CWriter writer(model, *step.kernel, o.input_names(), indent);
  writer.write(std::vector<bool>(graph.nodes().size(), true));
  out += writer.take();
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    out +=
        fmt::format("{}{} = {};\n", indent, o.element(k, 0, o.nest.ndim), o.stored(k, writer.name(graph.outputs()[k])));
  return out + closing(indent, o.nest.ndim);
}

/// A reduction's accumulator: before the pass, for each element, and the result.
struct Accumulator {
  std::string begin, add, result;
};

std::string_view lowest(DType dtype, bool largest) {
  switch (dtype) {
    case DType::Bool: return largest ? "false" : "true";
    case DType::Int32: return largest ? "INT32_MIN" : "INT32_MAX";
    case DType::Int64: return largest ? "INT64_MIN" : "INT64_MAX";
    default: return largest ? "-INFINITY" : "INFINITY";
  }
}

/// The accumulator of each reduction: r names its variables, `value` is the element.
struct Accumulators {
  const DType dtype;
  const std::string &r, &value;
  const std::string_view type = value_type(dtype);
  const bool is_float = category(dtype) == Category::Float;

  Accumulator sum() const {
    if (dtype == DType::Float64)
      return {fmt::format("double {0}_sum = 0, {0}_lost = 0;", r),
              fmt::format("sinter_add_exactly(&{0}_sum, &{0}_lost, {1});", r, value),
              fmt::format("{0}_sum + {0}_lost", r)};
    if (is_float)
      return {fmt::format("double {}_sum = 0;", r), fmt::format("{}_sum += {};", r, value),
              fmt::format("(float){}_sum", r)};
    return {fmt::format("uint64_t {}_sum = 0;", r), fmt::format("{}_sum += (uint64_t){};", r, value),
            fmt::format("(int64_t){}_sum", r)};
  }
  Accumulator prod() const {
    if (is_float)
      return {fmt::format("double {}_product = 1;", r), fmt::format("{}_product *= {};", r, value),
              fmt::format("({}){}_product", type, r)};
    return {fmt::format("uint64_t {}_product = 1;", r), fmt::format("{}_product *= (uint64_t){};", r, value),
            fmt::format("(int64_t){}_product", r)};
  }
  Accumulator amax() const { return extreme("maximum", lowest(dtype, true)); }
  Accumulator amin() const { return extreme("minimum", lowest(dtype, false)); }
  Accumulator any() const {
    return {fmt::format("bool {}_any = false;", r), fmt::format("{0}_any = {0}_any || {1};", r, value), r + "_any"};
  }
  Accumulator all() const {
    return {fmt::format("bool {}_all = true;", r), fmt::format("{0}_all = {0}_all && {1};", r, value), r + "_all"};
  }
  Accumulator argmax() const { return position(Op::argmax, '>'); }
  Accumulator argmin() const { return position(Op::argmin, '<'); }

 private:
  Accumulator extreme(std::string_view function, std::string_view identity) const {
    return {fmt::format("{} {}_best = {};", type, r, identity),
            fmt::format("{0}_best = sinter_{1}_{2}({0}_best, {3});", r, function, short_name(dtype), value),
            r + "_best"};
  }
  Accumulator position(Op op, char comparison) const {
    const std::string wins =
        is_float ? c_operation(op, dtype, {r + "_best", value}) : fmt::format("{} {} {}_best", value, comparison, r);
    return {fmt::format("int64_t {0}_at = 0;\n{1} {0}_best = 0;", r, type),
            fmt::format("if (at == 0 || ({1})) {{ {0}_best = {2}; {0}_at = at; }}", r, wins, value), r + "_at"};
  }
};

/// A reduction of the table that Accumulators lacks does not compile.
Accumulator accumulator(Op op, DType dtype, const std::string& r, const std::string& value) {
  const Accumulators of{dtype, r, value};
  switch (op) {
#define SINTER_REDUCTION(name, arity, rule, identity, combine, doc) \
  case Op::name: return of.name();
#define SINTER_SHAPE_REDUCTION(name, arity, rule, identity, combine, doc)
#include "../ops/reductions.def"
    default: return {};
  }
}

class RowLoops {
 public:
  RowLoops(const Model& model, const Step& step)
      : kernel_(*step.kernel),
        graph_(kernel_.graph),
        o_(model, step),
        passes_(kernel_),
        rows_(o_.nest.row_dims()),
        ndim_(o_.nest.ndim),
        needed_(made_of(graph_, graph_.outputs(), [](std::size_t) { return false; })),
        row_writer_(model, kernel_, o_.input_names(), "  ") {}

  std::string text() {
    out_ = o_.pointers() + counters(passes_.passes.empty() ? rows_ : ndim_) + "  int64_t at, columns = 1;\n";
    for (int d = rows_; d < ndim_; ++d) out_ += fmt::format("  columns *= n->extents[{}];\n", d);
    out_ += "  (void)a;\n  (void)faults;\n  (void)at;\n  (void)columns;\n";
    std::string indent = "  ";
    out_ += loops(0, rows_, indent);
    indent_ = indent;
    read_row_inputs();
    for (std::size_t w = 0; w < passes_.passes.size(); ++w) pass(w);
    write_row_values(passes_.stages.count);
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
      if (!passes_.is_element_output(k))
        line(fmt::format("{} = {};", o_.element(k, 0, rows_), o_.stored(k, row_writer_.name(graph_.outputs()[k]))));
    return out_ + closing(indent, rows_);
  }

 private:
  void line(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      out_ += indent_ + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }

  void read_row_inputs() {
    std::vector<bool> read(kernel_.inputs.size());
    for (const Node& n : graph_.nodes())
      if (is_passed(n) && !passes_.is_element_input(n.attribute) && !read[n.attribute] &&
          needed_[static_cast<std::size_t>(&n - graph_.nodes().data())]) {
        read[n.attribute] = true;
        out_ += indent_ + o_.read(kernel_.outputs.size() + n.attribute, 0, rows_);
      }
  }

  /// Values of a row that can be computed after so many stages.
  void write_row_values(int stages) {
    std::vector<bool> ready(graph_.nodes().size());
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const Node& n = graph_.nodes()[i];
      ready[i] = needed_[i] && passes_.stages.per_row[i] && !combines(n) && passes_.stages.stage[i] <= stages;
    }
    row_writer_.set_indent(indent_);
    row_writer_.write(ready);
    out_ += row_writer_.take();
  }

  void pass(std::size_t w) {
    const RowPass& pass = passes_.passes[w];
    write_row_values(static_cast<int>(w));
    std::vector<Accumulator> accumulators;
    CWriter writer = row_writer_;
    const auto needed = made_of(graph_, pass.wanted, [&](std::size_t i) { return passes_.stages.per_row[i]; });
    writer.set_indent(indent_ + std::string(2 * static_cast<std::size_t>(ndim_ - rows_), ' '));
    writer.write(needed);
    const std::string body = writer.take();
    for (const Operand r : pass.reductions) {
      const Operand of = graph_.operands(graph_[r])[0];
      accumulators.push_back(accumulator(graph_[r].op, graph_[of].dtype, fmt::format("r{}", r.node), writer.name(of)));
      line(accumulators.back().begin);
    }
    line("at = 0;");
    out_ += loops(rows_, ndim_, indent_);
    for (std::size_t i = 0; i < pass.inputs.size(); ++i)
      if (pass.inputs[i]) out_ += indent_ + o_.read(kernel_.outputs.size() + i, 0, ndim_);
    out_ += body;
    for (const Accumulator& a : accumulators) line(a.add);
    if (pass.reductions.empty())
      for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
        if (passes_.is_element_output(k))
          line(fmt::format("{} = {};", o_.element(k, 0, ndim_), o_.stored(k, writer.name(graph_.outputs()[k]))));
    line("++at;");
    out_ += closing(indent_, ndim_ - rows_);
    for (std::size_t i = 0; i < accumulators.size(); ++i) {
      const Operand r = pass.reductions[i];
      line(fmt::format("const {} r{} = {};", value_type(graph_[r].dtype), r.node, accumulators[i].result));
      row_writer_.know(r, fmt::format("r{}", r.node));
    }
  }

  const Kernel& kernel_;
  const Graph& graph_;
  const Operands o_;
  const RowPasses passes_;
  const int rows_, ndim_;
  const std::vector<bool> needed_;  // a count needs its operand's shape alone
  CWriter row_writer_;
  std::string out_, indent_;
};

}  // namespace

std::string c_loops(const Model& model, std::size_t step) {
  const Step& s = model.steps[step];
  const std::string body = s.kernel->rows ? RowLoops(model, s).text() : elementwise_loops(model, s);
  return fmt::format("static void {0}_cpu_{1}(const {0}_arguments *a, const sinter_nest *n, int *faults) {{\n{2}}}\n",
                     model.name, step, body);
}

}  // namespace sinter::inline v1::jit::exporting
