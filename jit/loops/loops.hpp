// The loop IR: one kernel as a flat, typed list of instructions, between a plan's kernel and its text.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit::loops {

/// The index of the instruction that computes it.
using Value = std::int32_t;
inline constexpr Value none = -1;

enum class Kind : std::uint8_t {
  None,           // of an instruction without a result
  Element,        // of a dtype
  UInt32,         // threads
  Index,          // unsigned, 32 or 64 bits (LoopProgram::wide): positions in the domain
  Offset,         // signed, as wide as an Index: distances within the domain
  Int64,          // rows, and distances between them
  FastDivisor,    // a precomputed divisor of an Index
  FastDivisor64,  // a precomputed divisor of an Int64
  Pointer,        // to elements of a dtype
  FaultWord,      // the pointer through which faults are reported
  Padding,        // a word of the launch that nothing reads
};

struct Type {
  Kind kind = Kind::None;
  DType dtype = DType::Bool;  // of elements, and of those that a pointer points to
  int width = 1;              // of vectors: the number of elements
  friend bool operator==(const Type&, const Type&) = default;
};

constexpr Type element_type(DType dtype, int width = 1) noexcept { return {Kind::Element, dtype, width}; }
constexpr Type pointer_type(DType dtype) noexcept { return {Kind::Pointer, dtype, 1}; }
constexpr Type index_type(Kind kind, int width = 1) noexcept { return {kind, DType::Bool, width}; }
/// How elements lie in memory: bools as bytes.
constexpr DType storage(DType dtype) noexcept { return dtype == DType::Bool ? DType::UInt8 : dtype; }
constexpr Type bool_type(int width = 1) noexcept { return element_type(DType::Bool, width); }

/// The comments list each operation's operands in order. A scalar operand is broadcast where other operands are
/// vectors. A warp is 32 threads with consecutive indices, whatever the hardware executes in step.
enum class Opcode : std::uint8_t {
  Param,     // of the launch, by name
  Constant,  // attribute: the bits of an element, or an integer
  ThreadIdx,
  BlockIdx,
  GridDim,
  BlockDim,
  // Element by element:
  Elementwise,  // an Op of the tables. Or a call, attribute: its FunctionId, and behind the operands a guard, if it has
                // one: where that is false, the function does not run, and the result is 0
  Select,       // condition, if true, if false
  Less,
  Equal,
  And,  // a Bool
  Add,
  Sub,
  Mul,      // of indices of one kind
  Rem,      // of indices; b is a power of two
  Div,      // of an index by a fast divisor, a constant, or (64 bits, slow) another index
  Convert,  // an index to another kind, or to an element of an integer dtype
  Splat,    // a scalar as a vector
  Ramp,     // first, step: element i is first + i * step; attribute 1 if it is aligned (Builder::ramp)
  Low,
  High,        // half of a vector
  ShuffleXor,  // the value of the warp's lane whose index is this one's XOR the attribute
  // Memory:
  Advance,      // pointer, elements
  View,         // pointer, bytes: a pointer of another dtype to that byte offset
  Load,         // pointer, position, guard or none, stride or none; attribute: Access. 0 where the guard is false
  Store,        // pointer, position, value, guard or none, stride or none; attribute: Access
  Shared,       // a pointer to static shared memory; attribute: the number of elements
  RowCache,     // a pointer to dynamic shared memory
  Barrier,      // of the threads of a block
  WarpBarrier,  // of a warp
  // Variables of a thread:
  Local,          // attribute: the number of values; operand: the initial value, or none
  Get,            // local, position or none
  ExtractColumn,  // local, position: gathers the element at the position from each of the local's vectors
  Set,            // local, position or none, value
  Call,           // a function of the prelude (name), which may change the locals among its operands
  Opaque,         // a copy that the target compiler cannot see through
  // Flow:
  Range,  // begin, end, step: an index that counts up; attribute: LoopHint
  If,     // a scalar Bool
  End,    // of the innermost Range or If
  // Faults:
  RecordFault,  // condition, guard or none; attribute: the Fault that is recorded if both are true
  ReportFault,  // pointer to the fault word, code; attribute: the Fault that is reported if it was recorded
};

/// What a compiler is told about a Range: to unroll it or not, or that no iteration reads what another writes, so that
/// several can be computed as vectors, or by several threads. Lanes are vectors too, of the accumulators that each
/// iteration of an outer loop adds to: unrolled, they may stay in registers.
enum class LoopHint : std::uint8_t { Rolled, Unrolled, CompilerDefault, Vectors, Lanes, Parallel };

/// Layout in memory of the elements that a Load reads or a Store writes.
enum class Access : std::uint8_t {
  Unaligned,       // contiguous from the position, at any alignment
  Aligned,         // contiguous from the position, aligned to the vector's size
  AlignedIndexed,  // the same, and the position counts vectors
  Strided,         // a stride apart
  Gather,          // each at its own position, an element of an integer dtype
  Run,             // contiguous from such a position, at any alignment
};

struct Instruction {
  Opcode code;
  Type type;
  Op op = {};
  std::uint64_t attribute = 0;
  boost::container::small_vector<Value, 4> operands;
  std::string name;  // of a parameter or a called function; else a hint for the result's name
};

struct LoopProgram {
  std::string name;
  int max_threads_per_block = 256;
  int min_blocks_per_multiprocessor = 1;
  bool wide = false;     // whether an Index has 64 bits
  bool aliased = false;  // an input may share memory with an output
  bool serial = false;   // an iteration of the outermost loop reads what it has written to outputs
  std::vector<Instruction> code;

  const Instruction& operator[](Value v) const noexcept { return code[static_cast<std::size_t>(v)]; }
};

/// Names of codes and kinds in the textual form.
std::string_view name(Opcode code) noexcept;
std::string to_string(Type type);

/// The program as text, an instruction a line: "%7 = add.index %5 %6".
std::string to_string(const LoopProgram& program);

}  // namespace sinter::inline v1::jit::loops
