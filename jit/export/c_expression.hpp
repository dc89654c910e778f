// Graphs as C99: the same flat assignments as in CUDA text, over the C library's functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// The type of what arrays are of in functions' parameters (uint16_t of a half, the parts' of a complex number), of an
/// element in memory, of a value that is computed with, and its short name.
std::string_view memory_type(DType dtype) noexcept;
std::string_view element_type(DType dtype) noexcept;
std::string_view value_type(DType dtype) noexcept;
std::string_view short_name(DType dtype) noexcept;

/// Bytes that its address is a multiple of, on the CPU; on a GPU that is its size.
std::size_t cpu_alignment(DType dtype) noexcept;

/// The operation of ops.def or reductions.def on these operands.
std::string c_operation(Op op, DType compute, const std::vector<std::string>& operands);

/// A conversion as executors have it.
std::string c_conversion(DType from, DType to, const std::string& value);

/// Writes nodes of a kernel in their order.
class CWriter {
 public:
  /// `inputs` are the names of the kernel's inputs, which are elements. Numbers are parameters in `a`, or literals.
  CWriter(const Model& model, const Kernel& kernel, std::vector<std::string> inputs, std::string indent);

  void know(Operand a, std::string name) { names_[static_cast<std::size_t>(a.node)] = std::move(name); }
  bool knows(std::size_t node) const { return !names_[node].empty(); }
  const std::string& name(Operand a) const { return names_[static_cast<std::size_t>(a.node)]; }
  /// Writes those of the nodes that have no name.
  void write(const std::vector<bool>& nodes);
  void set_indent(std::string indent) { indent_ = std::move(indent); }
  std::string take() { return std::exchange(out_, {}); }

 private:
  void node(std::size_t i);
  void assign(std::size_t i, const std::string& value, std::string_view comment = {});

  const Model& model_;
  const Graph& graph_;
  std::vector<std::string> inputs_, names_;
  std::string indent_, out_;
  int temporaries_ = 0;
};

/// A number of the expression as a kernel uses it, in C: a parameter that is converted, or its value.
std::string c_number(const Model& model, const Node& scalar);

/// The helpers that a text uses, and those that they use in turn.
std::string helpers_for(std::string_view text);

}  // namespace sinter::inline v1::jit::exporting
