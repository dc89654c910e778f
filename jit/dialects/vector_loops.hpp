// Which instructions are printed as loops over the elements of vectors, since C-like languages have no vector
// arithmetic.
#pragma once
#include <vector>

#include "../loops/loops.hpp"

namespace sinter::inline v1::jit::dialects {

struct VectorLoops {
  explicit VectorLoops(const loops::LoopProgram& program);

  /// By instruction: the index of the vector loop that it is in, or none.
  std::vector<int> loop;
  /// Whether a vector outlives its loop, so that it is an array.
  std::vector<bool> outlives;
  std::vector<int> uses;
  std::vector<loops::Value> last_use;
};

}  // namespace sinter::inline v1::jit::dialects
