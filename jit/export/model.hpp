// An exported kernel before it is written: its parameters, and its launches with the variants of each.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sinter/jit/export.hpp>
#include "../plan/class_key.hpp"
#include "../plan/nest.hpp"
#include "../run/compiled_graph.hpp"
#include "shape_dependencies.hpp"
#include "sizes.hpp"

namespace sinter::inline v1::jit::exporting {

/// An array that the functions take, or a temporary in the workspace.
struct Array {
  std::string name;
  DType dtype;
  SymbolicShape shape;
  SymbolicShape strides = {};  // names of those that a caller gives; none: it is contiguous
  bool indexed = false;        // it is indexed, so it must not be empty

  bool is_strided() const noexcept { return !strides.empty(); }
};

/// An operand whose elements are their own positions: it reads no memory.
struct IotaOperand {
  std::uint32_t leaf;
  SymbolicShape shape, strides;
};

/// A C++ scalar of the expression.
struct ScalarArgument {
  std::uint32_t index;  // in Recorded::scalars
  Category category;    // as which it arrives
  std::string name;     // empty: it keeps its value
  Scalar value;
  DType narrowest = DType::Int64;     // of the integer dtypes that it is used as
  std::optional<Extent> extent = {};  // where it is an extent or a stride
};

/// A compiled form of a step.
struct Variant {
  KernelClass kernel_class;
  std::string text;
  std::size_t image = 0;  // which of the library's texts
};

/// Selects a variant for at most this many rows and columns; the first matching rule wins.
struct Rule {
  std::int64_t rows, columns;
  std::size_t variant;
};

/// Memory layout of the arrays: all contiguous; strided ones contiguous along their last axis; or arbitrary strides.
enum class Layout : std::uint8_t { Contiguous, Padded, Strided };

/// One version of a step, for one layout of its arrays.
struct LayoutVersion {
  Layout layout;
  SymbolicNest nest;
  KernelClass base;
  std::vector<Rule> rules;
  std::vector<Variant> variants;
};

/// One kernel of the plan.
struct Step {
  const Kernel* kernel;
  std::shared_ptr<const KernelTraits> traits;
  SymbolicShape domain;
  std::vector<LayoutVersion> versions;  // one for each layout
  bool has_final_pass = false;
};

struct Model {
  std::string name;
  Graph recorded;
  std::shared_ptr<const CompiledGraph> compiled;  // keeps the plan
  const Plan* plan = nullptr;
  std::vector<std::uint32_t> leaves;  // by input, its index in the expression
  std::vector<Array> inputs, outputs, temporaries;
  std::vector<IotaOperand> iotas;
  std::vector<ScalarArgument> scalars;  // in the order of the expression
  std::shared_ptr<Sizes> sizes;
  std::vector<Step> steps;
  bool in_place = false, one_variant = false;
  bool launches = true;                        // on GPUs, too
  std::vector<std::vector<bool>> may_be_same;  // outputs by inputs: whether both may be one array

  bool may_fault() const noexcept;
  bool may_divide_by_0() const noexcept;
  bool takes_indices() const noexcept;
  bool has_workspace() const noexcept;    // of a launch
  bool has_empty_error() const noexcept;  // looks for the largest of a row, which may have no element
  bool is_strided() const noexcept;
  const Array& array(const Slot& slot) const;  // not for iotas
  bool is_iota(const Slot& slot) const noexcept;
  const ScalarArgument& scalar(std::uint32_t index) const;
};

/// Prefix of the C names of a step for one layout: fused_0, fused_0_strided.
std::string kernel_name(const Model& model, std::size_t step, const LayoutVersion& version);

/// Throws Error for what cannot be exported.
Model make_model(const Export& from);

/// Fills the rules and variants of a version, whose nest is set.
void add_variants(const Model& model, const Step& step, LayoutVersion& version);

/// Whether an input of the plan may be read where this output is written.
bool writes_in_place(const Plan& plan, std::uint32_t output);

}  // namespace sinter::inline v1::jit::exporting
