// What there is to tell of an evaluation, as plain facts: explain() writes them as text, explain_html() as a page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "../run/runner.hpp"
#include "boundaries.hpp"

namespace sinter::inline v1::jit::report {

/// What a kernel reads.
struct Input {
  Slot::Kind kind;
  std::uint32_t number;   // of the leaf or the temporary
  std::string name = {};  // "z", "leaf 0", "temporary 3"
  DType dtype;
  Shape shape = {};
  std::string layout = {};  // "contiguous", "broadcast", ...; empty of a temporary
  double bytes = 0;         // that the kernel reads of it
  int uses = 1;             // of the leaf in the whole expression
};

/// What a kernel writes.
struct Output {
  enum class Kind : std::uint8_t { Result, Temporary, Part } kind;  // Part: what other positions of a mesh are told
  std::uint32_t number;
  std::string name = {};  // "output 0", "temporary 3", "part 0"
  DType dtype;
  Shape shape = {};
  double bytes = 0;
  int step = 0;  // that computes it
};

/// A node of a kernel's graph.
struct Step {
  std::string name;                // "add", "cast to float32", "2.5"
  std::vector<int> operands = {};  // other steps
  int input = -1;                  // of the kernel, where the step is one
  bool is_computed = false;
  bool is_repeated = false;  // other kernels compute the same value
};

struct Kernel {
  std::string name;
  Shape shape;               // that it runs over
  std::string library = {};  // of a product: what computes it
  std::vector<Step> steps = {};
  std::vector<Input> inputs = {};
  std::size_t numbers = 0;  // given at each launch
  std::vector<Output> outputs = {};
  std::optional<RowPlan> rows = {};  // of one that reduces
  double bytes_read = 0, bytes_written = 0;
  double operations = 0;       // as Arithmetic counts them
  double arithmetic_rate = 0;  // of the device, for this kernel's dtype; 0 where it is not known

  double bytes() const noexcept { return bytes_read + bytes_written; }
  /// Operations for each byte; 0 where nothing moves.
  double intensity() const noexcept { return bytes() > 0 ? operations / bytes() : 0; }
};

/// A result of the evaluation.
struct Result {
  DType dtype;
  Shape shape;
};

/// A value that several kernels compute.
struct Repeated {
  std::string name;
  std::size_t kernels = 0, operations = 0;  // that compute it; that lead to it
  double bytes = 0;                         // of all its elements
  double spared = 0;                        // operations that are not done again once it is stored
};

/// Numbers of operations, as a user counts them.
struct Counts {
  std::size_t written = 0;     // in the expression
  std::size_t in_all = 0;      // with those that composite and complex ones are made of
  std::size_t fused = 0;       // left in kernels
  std::size_t merged = 0;      // common subexpressions
  std::size_t contracted = 0;  // products, to fma
  std::size_t composite = 0, on_complex = 0;
};

struct Report {
  Device device;
  bool runs_on_cpu = true;  // of a mesh, its first position does
  std::vector<Result> results;
  std::vector<Kernel> kernels;
  std::vector<Boundary> boundaries;
  std::size_t temporaries = 0;
  double temporary_bytes = 0;
  std::vector<Repeated> repeated;
  Counts counts;
  double bandwidth = 0;        // bytes a second; 0 where it is not known
  double arithmetic_rate = 0;  // operations a second, of those in float32
  double eager_bytes = 0;      // that one kernel for each operation would move; 0 on a mesh
  std::size_t eager_kernels = 0;
  int positions = 0;  // of the mesh, of which the kernels are those of one; 0: there is no mesh
  std::vector<Collective> collectives;

  double bytes() const noexcept;
};

/// Throws what evaluating would throw before it runs anything.
Report report_of(const Recorded& expression);

/// Whether arithmetic, or memory, bounds a kernel where both rates are known.
enum class Bound : std::uint8_t { Unknown, Memory, Compute };
Bound bound_of(const Report& report, const Kernel& kernel) noexcept;

}  // namespace sinter::inline v1::jit::report
