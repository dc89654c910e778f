#include <fmt/format.h>

#include <cstring>

#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../evaluate/evaluator.hpp"
#include "../functions/functions.hpp"
#include "../plan/plan.hpp"
#include "dot.hpp"

namespace sinter::inline v1::jit {

namespace {

std::string label(const Node& n, std::span<runtime::TensorImpl* const> leaves) {
  switch (n.op) {
    case Op::leaf:
    case Op::iota:
    case Op::array: {
      std::string text = fmt::format("{} {}\n{}", name(n.op), n.attribute, name(n.dtype));
      if (n.attribute < leaves.size()) text += " " + to_string(leaves[n.attribute]->shape);
      return text;
    }
    case Op::scalar: return fmt::format("scalar {}\n{}", scalar_use(n).number, name(n.dtype));
    case Op::constant: return fmt::format("{}\n{}", constant_text(n), name(n.dtype));
    default: return fmt::format("{}\n{}", operation_name(n), name(n.dtype));
  }
}

}  // namespace

std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '&': out += "&amp;"; break;  // or it would begin an entity
      default: out += c;
    }
  return out + '"';
}

std::string constant_text(const Node& n) {
  return visit(n.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if constexpr (complex_element<T>) {
      return {};  // no constant is complex
    } else {
      T value{};
      std::memcpy(&value, &n.attribute, sizeof value);
      if constexpr (category(dtype_of<T>) == Category::Float)
        return fmt::format("{}", static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
      else
        return fmt::format("{}", value);
    }
  });
}

std::string to_dot(const Graph& graph, std::span<runtime::TensorImpl* const> leaves) {
  std::string text = "digraph sinter {\n  rankdir=TB;\n  node [fontname=\"monospace\"];\n";
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& n = graph.nodes()[i];
    const std::string_view shape = n.arity > 0 ? "ellipse" : "box";
    text += fmt::format("  n{} [shape={}, label={}];\n", i, shape, dot_string(label(n, leaves)));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    text += fmt::format("  output{0} [shape=doubleoctagon, label=\"output {0}\"];\n", i);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i)
    for (int place = 0; Operand o : graph.operands(graph.nodes()[i])) {
      const bool ordered = graph.nodes()[i].arity > 1;
      text +=
          fmt::format("  n{} -> n{}{};\n", o.node, i, ordered ? fmt::format(" [label=\"{:c}\"]", 'a' + place++) : "");
    }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    text += fmt::format("  n{} -> output{};\n", graph.outputs()[i].node, i);
  return text + "}\n";
}

std::string to_dot(const Recorded& expression) {
  const runtime::DefaultFloatEnvironment floats;  // constants are folded, and printed
  (void)inspect(expression);                      // throws what an evaluation would
  return to_dot(simplify(expression.graph), expression.leaves);
}

}  // namespace sinter::inline v1::jit
