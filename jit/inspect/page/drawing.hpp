// A plan as a drawing: boxes around what kernels compute, and what passes between them.
#pragma once
#include <string>
#include <vector>

#include "../report.hpp"

namespace sinter::inline v1::jit::page {

/// What a drawing shows.
struct Drawing {
  enum class Kind : std::uint8_t { Leaf, Output, Temporary, Step, Repeated, Summary };
  struct Node {
    Kind kind;
    std::vector<std::string> lines;
    int kernel = -1;  // whose box it is in
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
  Steps,    // each operation is a node, where there are few enough; temporaries are edges
  Kernels,  // a box lists its operations; temporaries are nodes
};

/// Bounded, however large the plan is.
Drawing drawing_of(const report::Report& report, Detail detail);

/// How CSS calls a kind of node.
std::string_view css_class(Drawing::Kind kind) noexcept;

/// In Graphviz's language, with links to #kernel-1.
std::string dot_text(const Drawing& drawing);

/// As SVG, laid out here: by the longest way to each node from the top.
std::string layered_svg(const Drawing& drawing);

}  // namespace sinter::inline v1::jit::page
