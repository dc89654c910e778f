// The elementwise part of a kernel: its graph as flat assignments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../plan/plan.hpp"

namespace sinter::inline v1::jit::cuda {

/// How a value lies in memory: bools as bytes, of which all but 0 are true.
std::string_view storage_type(DType dtype) noexcept;

/// A type as one word, so that T(2) can be written.
std::string_view word_type(DType dtype) noexcept;

/// The body of ops.def, or what reductions.def says of two parts, for these operands. Integers wrap.
std::string operation(Op op, DType compute, std::vector<std::string> operands);

/// Writes nodes of a kernel in their order, each as an assignment to a name of its own.
class Writer {
 public:
  /// `inputs` are the names of the kernel's inputs; scalars are members of `p`.
  Writer(const Kernel& kernel, std::vector<std::string> inputs);

  /// A value that has a name already.
  void know(Operand a, std::string name) { names_[static_cast<std::size_t>(a.node)] = std::move(name); }
  /// Writes those of the nodes that have no name.
  void write(const std::vector<bool>& nodes);
  void line(std::string_view statement) { out_.append("  ").append(statement).append("\n"); }
  const std::string& name(Operand a) const { return names_[static_cast<std::size_t>(a.node)]; }
  std::string take() { return std::move(out_); }

 private:
  void node(std::size_t i);
  void check_position(const Node& n);
  std::string load(const Node& n) const;
  std::string elementwise(const Node& n) const;
  void assign(std::size_t i, std::string_view value, std::string_view comment = {});

  const Graph& graph_;
  std::vector<std::string> inputs_;
  std::vector<std::string> names_;
  std::string out_;
  int temporaries_ = 0;
};

/// `element(p, x0, ..., y0, ...)`: the outputs y of one element from the inputs x and the parameters' scalars s.
std::string element_function(const Kernel& kernel, std::string_view params);

}  // namespace sinter::inline v1::jit::cuda
