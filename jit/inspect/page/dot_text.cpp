#include <fmt/format.h>

#include "../dot.hpp"
#include "drawing.hpp"

namespace sinter::inline v1::jit::page {
namespace {

/// Laid out and shown in a font that every system has, so that labels fit even if Graphviz has other fonts.
constexpr std::string_view head =
    "digraph plan {\n"
    "  graph [newrank=true, bgcolor=transparent, rankdir=TB, nodesep=0.3, ranksep=0.4, fontname=monospace, "
    "fontsize=11];\n"
    "  node [fontname=monospace, fontsize=11, shape=box, style=rounded, margin=\"0.14,0.07\", height=0.3];\n"
    "  edge [fontname=monospace, fontsize=10, arrowsize=0.6];\n";

std::string label(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return dot_string(text);
}

std::string node_text(const Drawing& d, std::size_t i) {
  const Drawing::Node& n = d.nodes[i];
  return fmt::format("n{} [label={}, class={}];\n", i, label(n.lines), css_class(n.kind));
}

}  // namespace

std::string dot_text(const Drawing& d) {
  std::string text(head);
  for (std::size_t i = 0; i < d.nodes.size(); ++i)
    if (d.nodes[i].kernel < 0) text += "  " + node_text(d, i);
  for (std::size_t b = 0; b < d.boxes.size(); ++b) {
    const Drawing::Box& box = d.boxes[b];
    text += fmt::format(
        "  subgraph cluster_{0} {{\n    class=kernel; labeljust=l; margin=14; label={1}; URL=\"#kernel-{0}\"; "
        "tooltip={1};\n",
        box.number, dot_string(box.title));
    for (std::size_t i = 0; i < d.nodes.size(); ++i)
      if (d.nodes[i].kernel == static_cast<int>(b)) text += "    " + node_text(d, i);
    text += "  }\n";
  }
  for (const Drawing::Edge& e : d.edges)
    text += fmt::format("  n{} -> n{}{};\n", e.from, e.to,
                        e.label.empty() ? "" : fmt::format(" [label={}]", dot_string(" " + e.label + " ")));
  return text + "}\n";
}

}  // namespace sinter::inline v1::jit::page
