// Which instructions are printed as loops over lanes, since C-like languages have no vector arithmetic.
#pragma once
#include <vector>

#include "../loops/loops.hpp"

namespace sinter::inline v1::jit::dialects {

struct LaneLoops {
  explicit LaneLoops(const loops::Loops& loops);

  /// By instruction: the number of the lane loop that it is in; none where it is in none.
  std::vector<int> loop;
  /// Whether a vector outlives its loop, so that it is an array.
  std::vector<bool> outlives;
  std::vector<int> uses;
  std::vector<loops::Value> last_use;
};

}  // namespace sinter::inline v1::jit::dialects
