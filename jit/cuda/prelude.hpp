// Chunks of prelude/*.cuh by the names that they define.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conditions.hpp"

namespace sinter::inline v1::jit::cuda {

/// The identifiers of a piece of C++, in order: none of comments, numbers, members or the global namespace (`::expf`).
std::vector<std::string_view> identifiers(std::string_view text);

/// The prelude as a dialect has it: conditions on macros that it knows are decided.
class Prelude {
 public:
  explicit Prelude(std::span<const Macro> known);
  Prelude(const Prelude&) = delete;
  Prelude& operator=(const Prelude&) = delete;

  /// The chunks that define names used in `text`, and those that they use in turn, in the prelude's order.
  std::string used_by(std::string_view text) const;

 private:
  struct Chunk {
    std::string_view text;
    std::vector<int> uses;  // other chunks
  };

  const std::string text_;
  std::vector<Chunk> chunks_;
  std::unordered_map<std::string_view, int> defined_in_;
};

/// The parts of CUDA's prelude that `text` needs.
std::string prelude_for(std::string_view text);

}  // namespace sinter::inline v1::jit::cuda
