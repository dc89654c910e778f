// A plan as a drawing: a box for each kernel, and the data flow between them.
#pragma once
#include <string>
#include <vector>

#include "../report.hpp"

namespace sinter::inline v1::jit::page {

/// The kinds of nodes.
struct Drawing {
  enum class Kind : std::uint8_t { Leaf, Output, Temporary, Step, Repeated, Summary };
  struct Node {
    Kind kind;
    std::vector<std::string> lines;
    int kernel = -1;  // whose box contains it
  };
  struct Edge {
    int from, to;       // nodes
    std::string label;  // bytes, at most
  };
  struct Box {
    std::size_t number;  // of the kernel, from 1
    std::string title;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Box> boxes;    // by kernel
  std::size_t left_out = 0;  // kernels that are not drawn
};

enum class Detail : std::uint8_t {
  Steps,    // each operation is a node, if there are few enough; temporaries are edges
  Kernels,  // a box lists its operations; temporaries are nodes
};

/// Its size is bounded, however large the plan is.
Drawing drawing_of(const report::Report& report, Detail detail);

/// The CSS class of a kind of node.
std::string_view css_class(Drawing::Kind kind) noexcept;

/// In the DOT language, with links to #kernel-1.
std::string dot_text(const Drawing& drawing);

/// As SVG, with a layered layout: a node's layer is its longest path from the top.
std::string layered_svg(const Drawing& drawing);

}  // namespace sinter::inline v1::jit::page
