// A graph as steps over tiles: loops with their operands and results.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "chain.hpp"
#include "function_loop.hpp"
#include "fused_work.hpp"
#include "loop_table.hpp"

namespace sinter::inline v1::jit::cpu {

using ValueId = std::uint32_t;
inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// How often a value is computed.
enum class Level : std::uint8_t { Once, EachRow, EachTile };

/// Which leaves are one element for the whole nest, or for a row, which index leaves count up by one along a row, and
/// of which every second element in memory is taken: bit i is leaf i. Leaves past 63 are not tracked.
struct LeafPatterns {
  std::uint64_t nest = 0;
  std::uint64_t row = 0;
  std::uint64_t counting = 0;
  std::uint64_t every_second = 0;
  bool per_short_row = false;  // `row` and `counting` are about short rows, of which a row of tiles consists
  bool few_in_row = false;     // rows have few elements, and a leaf is one element for a row
  friend bool operator==(const LeafPatterns&, const LeafPatterns&) = default;
};

/// What a step checks in its operands before it computes.
enum class Check : std::uint8_t {
  None,
  Divisor,   // in[1] must not be 0
  Position,  // in[0] must be a position of in[1], from the end if negative
  Class,     // the same, not negative
};

/// One pass over a tile: an operation, or a chain of them.
struct Step {
  Group group = Group::count;
  std::uint8_t arity = 0;
  std::uint8_t form = 0;  // of the operation's loops
  Check check = Check::None;
  std::uint16_t row = 0;
  ValueId out = 0;
  ValueId in[max_arity] = {};
  std::uint32_t chain = none;
};

struct Chain {
  ChainLoop loop = nullptr;  // compiled; otherwise the code is interpreted
  std::vector<ChainInstruction> code;
  std::vector<ValueId> operands;       // numbered from the first; its own blocks from the last
  std::vector<ValueId> reads, writes;  // values among the operands
  std::uint32_t blocks = 0;            // of the chain itself
  std::uint32_t prefetches = 0;        // at the start of the code, for runs that exceed the cache
};

/// Elements of an array that are consecutive along a row, as in an embedding: they begin at `start`, of which each row
/// has one, plus the positions of a counting leaf. They are read in place; those of short rows are first copied to a
/// tile.
struct Run {
  ValueId value, array, start;
  std::uint32_t leaf;
};

/// An operand of the only step of a program: an array of the nest, a scalar or a constant.
struct DirectOperand {
  enum class Kind : std::uint8_t { Array, Scalar, Constant } kind;
  std::uint8_t size;     // bytes of an element
  std::uint32_t number;  // of the array among the nest's operands
};

/// Something that steps read or write: a node of the graph, or, numbered after the nodes, one that is spread.
struct Value {
  enum class Kind : std::uint8_t { Unused, Leaf, Array, Scalar, Constant, Result, Run, Spread } kind = Kind::Unused;
  std::uint8_t size = 8;  // bytes of an element
  Level level = Level::Once;
  bool output = false;        // written to an array or to its own tile, not to a slot
  std::uint32_t number = 0;   // of the leaf or array, the scalar, or the constant; the value that is spread
  std::uint32_t slot = none;  // of a result
};

/// Whether the nest has the states of these reductions, beside its outputs and leaves.
bool has_states(const LeafPatterns& leaves, std::span<const OutputReduction> reductions) noexcept;

/// An OutputReduction in a program's steps.
struct ValueReduction {
  Op op;
  ValueId of;
  bool is_stored;
  ValueId state;
};

struct Steps {
  std::vector<Value> values;
  std::vector<std::uint64_t> constants;
  std::vector<Step> once, rows, tiles;  // in this order
  std::vector<Chain> chains;
  std::vector<FunctionLoop> functions;
  std::vector<ValueId> inputs;  // the leaves and indices in use
  std::vector<ValueId> arrays;  // gathered from
  std::vector<Run> runs;
  std::vector<ValueId> outputs;
  std::vector<ValueId> spread;             // repeat each element of another value along its short row
  std::vector<ValueId> places;             // the other values that are in memory at some time
  std::vector<std::uint8_t> slots;         // the element size of each
  std::vector<DirectOperand> direct;       // if the program is one step that needs no tiles; see DirectRun
  std::uint32_t chain_blocks = 0;          // the most that a chain needs
  double nanoseconds = 0;                  // per element, estimated
  double row_nanoseconds = 0;              // per row
  std::int64_t tile = 0;                   // elements, such that a tile's values fit L1
  std::vector<ValueReduction> reductions;  // of the only loop, which reduces whole rows
  std::vector<std::uint32_t> prefetched;   // as FusedWork::prefetched, in compiled loops
  std::string text;                        // C++ of the chains' loops, if these are to be compiled

  /// Whether each output is computed for each element, and no two are the same value.
  bool writes_outputs_once() const noexcept {
    for (auto o = outputs.begin(); o != outputs.end(); ++o)
      if (values[*o].kind != Value::Kind::Result || values[*o].level != Level::EachTile ||
          std::find(outputs.begin(), o, *o) != o)
        return false;
    return true;
  }
  /// Whether these are one loop that reduces rows.
  bool reduces() const noexcept { return !reductions.empty() && !direct.empty(); }
  /// Whether the output's elements are written.
  bool is_stored(ValueId output) const noexcept {
    for (const ValueReduction& r : reductions)
      if (r.of == output) return r.is_stored;
    return true;
  }
};

/// What the steps are grouped into.
enum class Grouping : std::uint8_t {
  Interpreted,  // chains of operations on floats
  Compiled,     // loops of operations on any dtypes, which must be compiled before the steps run
};

/// Time and memory are linear in the graph. `uses` below counts how often each value is read. Functions are made ready
/// before the first run. Compiled steps reduce outputs if they are one loop and the nest has the states.
Steps make_steps(const Graph& graph, LeafPatterns leaves, Grouping grouping = Grouping::Interpreted,
                 const FusedWork& fused = {});

/// Orders the tiles' steps so that a value is computed shortly before it is read.
void order_steps(Steps& steps);

/// Turns consecutive operations on floats into chains.
void make_chains(Steps& steps, const std::vector<std::uint32_t>& uses);

/// Turns consecutive operations into chains with loops, whose text is compiled later.
void make_loops(Steps& steps, const Graph& graph, const std::vector<std::uint32_t>& uses, const LeafPatterns& leaves);

}  // namespace sinter::inline v1::jit::cpu
