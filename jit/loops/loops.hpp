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

/// The number of the instruction that computes it.
using Value = std::int32_t;
inline constexpr Value none = -1;

enum class Kind : std::uint8_t {
  None,     // of an instruction without a result
  Element,  // a number of a dtype
  Word,     // unsigned, 32 bits: threads
  Index,    // unsigned, 32 or 64 bits (Loops::wide): positions in the domain
  Offset,   // signed, as wide: distances within the domain
  Long,     // signed, 64 bits: rows, and distances between them
  Divider,  // what a Quotient divides an Index by
  LongDivider,
  Pointer,    // to elements of a dtype
  FaultWord,  // the pointer through which faults are reported
  Unused,     // a word of the launch that nothing reads
};

struct Type {
  Kind kind = Kind::None;
  DType dtype = DType::Bool;  // of elements, and of those that a pointer points to
  int lanes = 1;
  friend bool operator==(const Type&, const Type&) = default;
};

constexpr Type element_type(DType dtype, int lanes = 1) noexcept { return {Kind::Element, dtype, lanes}; }
constexpr Type pointer_type(DType dtype) noexcept { return {Kind::Pointer, dtype, 1}; }
constexpr Type index_type(Kind kind, int lanes = 1) noexcept { return {kind, DType::Bool, lanes}; }
/// How elements lie in memory: bools as bytes.
constexpr DType storage(DType dtype) noexcept { return dtype == DType::Bool ? DType::UInt8 : dtype; }
constexpr Type bool_type(int lanes = 1) noexcept { return element_type(DType::Bool, lanes); }

/// Operands stand in this order. An operand of one lane is broadcast where other operands have several. A warp is
/// 32 threads of consecutive numbers, whatever the hardware executes in step.
enum class Code : std::uint8_t {
  Param,     // of the launch, by name
  Constant,  // attribute: the bits of an element, or an integer
  Thread,
  Block,
  Blocks,
  Threads,  // the numbers of the thread in its block and of the block; of blocks, of threads of a block
  // Lane by lane:
  Alu,     // an Op of the tables, of elements
  Select,  // condition, if true, if false
  Less,
  Equal,
  And,  // a Bool
  Add,
  Sub,
  Mul,        // of indices of one kind
  Remainder,  // of indices; b is a power of two
  Quotient,   // of an index by a divider, a constant, or (64 bits, slow) another index
  Convert,    // an index to another kind, or to an element of an integer dtype
  Splat,      // one value for several lanes
  Ramp,       // first, step: first + lane * step
  Low,
  High,     // half of the lanes
  Shuffle,  // the value of the lane whose number is this one's XOR the attribute
  // Memory:
  Advance,   // pointer, elements
  View,      // pointer, bytes: a pointer of another dtype to that byte offset
  Load,      // pointer, position, guard or none, stride of lanes or none; attribute: Access. 0 where the guard is false
  Store,     // pointer, position, value, guard or none, stride of lanes or none; attribute: Access
  Shared,    // a pointer to static shared memory; attribute: the number of elements
  RowCache,  // a pointer to dynamic shared memory
  Barrier,   // of the threads of a block
  WarpBarrier,  // of a warp
  // Variables of a thread:
  Local,   // attribute: the number of values; operand: the initial value, or none
  Get,     // local, position or none
  Column,  // local, position: the lane at the position of each of the local's vectors
  Set,     // local, position or none, value
  Call,    // a function of the prelude (name), which may change the locals among its operands
  Opaque,  // a copy that the target compiler cannot see through
  // Flow:
  Range,  // begin, end, step: an index that counts up; attribute: Unroll
  If,     // a Bool of one lane
  End,    // of the innermost Range or If
  // Faults:
  Flag,    // condition, guard or none; attribute: the Fault that is recorded if both are true
  Report,  // pointer to the fault word, code; attribute: the Fault that is reported if it was recorded
};

/// Whether a compiler is to unroll a Range.
enum class Unroll : std::uint8_t { None, All, CompilerDefault };

/// How the lanes of a Load or Store lie in memory.
enum class Access : std::uint8_t {
  Elements,  // contiguous from the position, at any alignment
  Vector,    // contiguous from the position, aligned to the vector's size
  Vectors,   // the same, and the position counts vectors
  Strided,   // a stride apart
  Gather,    // at a position for each lane
};

struct Instruction {
  Code code;
  Type type;
  Op op = {};
  std::uint64_t attribute = 0;
  boost::container::small_vector<Value, 4> operands;
  std::string name;  // of a parameter or a called function; else what a text may call the result
};

struct Loops {
  std::string name;
  int block = 256;          // maximum threads per block
  int resident_blocks = 1;  // minimum blocks per multiprocessor
  bool wide = false;        // whether an Index has 64 bits
  bool aliased = false;     // an input may share memory with an output
  std::vector<Instruction> code;

  const Instruction& operator[](Value v) const noexcept { return code[static_cast<std::size_t>(v)]; }
};

/// Names of codes and kinds in the textual form.
std::string_view name(Code code) noexcept;
std::string to_string(Type type);

/// The program as text, an instruction a line: "%7 = add.index %5 %6".
std::string to_string(const Loops& loops);

}  // namespace sinter::inline v1::jit::loops
