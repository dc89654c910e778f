// A description of an evaluation as data: explain() writes it as text, explain_html() as a page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include "../run/runner.hpp"
#include "boundaries.hpp"

namespace sinter::inline v1::jit::report {

/// An input of a kernel.
struct Input {
  Slot::Kind kind;
  std::uint32_t number;   // of the leaf or the temporary
  std::string name = {};  // "z", "leaf 0", "temporary 3"
  DType dtype;
  Shape shape = {};
  std::string layout = {};  // "contiguous", "broadcast", ...; empty for a temporary
  double bytes = 0;         // that the kernel reads of it
  int uses = 1;             // how often the whole expression uses the leaf
};

/// An output of a kernel.
struct Output {
  enum class Kind : std::uint8_t { Result, Temporary, Value } kind;  // Value: a mesh's, or a rank's part of it
  std::uint32_t number;
  std::string name = {};  // "output 0", "temporary 3", "part of value 0"
  DType dtype;
  Shape shape = {};
  double bytes = 0;
  int step = 0;  // that computes it
};

/// A node of a kernel's graph.
struct GraphNode {
  std::string name;                // "add", "cast to float32", "2.5"
  std::vector<int> operands = {};  // other steps
  int input = -1;                  // of the kernel, if the step is one
  bool is_computed = false;
  bool is_repeated = false;  // other kernels compute the same value
};

struct Kernel {
  std::string name;
  Shape shape;               // that it runs over
  std::string library = {};  // that computes it, for a product
  std::vector<GraphNode> steps = {};
  std::vector<Input> inputs = {};
  std::size_t numbers = 0;  // passed at each launch
  std::vector<Output> outputs = {};
  std::optional<RowReport> rows = {};  // for a kernel that reduces
  bool has_compiled_loops = false;     // on the CPU
  double bytes_read = 0, bytes_written = 0;
  double operations = 0;       // as Arithmetic counts them
  double arithmetic_rate = 0;  // of the device, for this kernel's dtype; 0 if unknown

  double bytes() const noexcept { return bytes_read + bytes_written; }
  /// Operations per byte; 0 if nothing moves.
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
  std::size_t kernels = 0, operations = 0;  // that compute it; that it depends on
  double bytes = 0;                         // of all its elements
  double spared = 0;                        // operations saved by storing it
};

/// Numbers of operations, as a user counts them.
struct Counts {
  std::size_t written = 0;     // in the expression
  std::size_t in_all = 0;      // with composite and complex ones expanded
  std::size_t fused = 0;       // left in kernels
  std::size_t merged = 0;      // common subexpressions
  std::size_t contracted = 0;  // products contracted to fma
  std::size_t composite = 0, on_complex = 0;
};

struct Report {
  Device device;
  bool runs_on_cpu = true;  // on a mesh: whether its first rank does
  std::vector<Result> results;
  std::vector<Kernel> kernels;
  std::vector<Boundary> boundaries;
  std::size_t temporaries = 0;
  double temporary_bytes = 0;
  double peak_bytes = 0;  // of temporaries and results that are allocated at the same time
  std::vector<Repeated> repeated;
  Counts counts;
  double bandwidth = 0;        // bytes per second; 0 if unknown
  double arithmetic_rate = 0;  // float32 operations per second
  double eager_bytes = 0;      // that one kernel per operation would move; 0 on a mesh
  std::size_t eager_kernels = 0;
  int ranks = 0;  // of the mesh, where the kernels are those of one rank; 0: no mesh
  std::vector<Collective> collectives;

  double bytes() const noexcept;
};

/// Throws what an evaluation would throw before it runs anything.
Report report_of(const Recorded& expression);

/// Whether arithmetic or memory bounds a kernel, if both rates are known.
enum class Bound : std::uint8_t { Unknown, Memory, Compute };
Bound bound_of(const Report& report, const Kernel& kernel) noexcept;

}  // namespace sinter::inline v1::jit::report
