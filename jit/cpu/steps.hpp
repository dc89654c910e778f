// A graph as steps over tiles: which loop, from which values, to which.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "rows.hpp"
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit::cpu {

using ValueId = std::uint32_t;
inline constexpr int max_inputs = 2 + horner_longest;
inline constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();

/// One pass over a tile.
struct Step {
  Group group;
  std::uint8_t arity;
  std::uint16_t row;
  ValueId out;
  struct Forms {
    std::uint8_t first, count;  // the operands whose being uniform chooses the loop's form
  } forms;
  ValueId in[max_inputs];
};

/// Something that steps read or write: a node of the graph, or a constant that fusing needed.
struct Value {
  enum class Kind : std::uint8_t { Leaf, Index, Scalar, Constant, Result } kind = Kind::Constant;
  std::uint8_t size = 8;                // bytes of an element
  bool uniform = false;                 // whatever the leaves: made of scalars and constants alone
  bool output = false;                  // written to an array or to a tile of its own, not to a slot
  std::uint32_t number = 0;             // of the leaf, the scalar, or the constant
  std::uint32_t slot = no_slot;         // of a result
};

struct Steps {
  std::vector<Value> values;
  std::vector<std::uint64_t> constants;
  std::vector<Step> once;                 // of uniform values
  std::vector<Step> tiles;                // for each tile, in this order
  std::vector<ValueId> inputs;            // the leaves and indices in use
  std::vector<ValueId> outputs;
  std::vector<std::uint8_t> slots;        // the element size of each
  std::uint32_t leaves = 0;               // how many the graph numbers
  double cost = 0;                        // nanoseconds for an element, roughly
  std::int64_t tile = 0;                  // elements: so many that a tile's values fit the first cache
  std::int64_t output_bytes = 0;          // of one element of all outputs
};

/// Neighbouring operations become one step where `fuse` is set and a row for both exists. Time is linear.
Steps make_steps(const Graph& graph, bool fuse);

/// Replaces steps by fused ones; the absorbed ones stay behind with arity 0.
void fuse_steps(Steps& steps, std::vector<std::uint32_t>& uses);

}  // namespace sinter::inline v1::jit::cpu
