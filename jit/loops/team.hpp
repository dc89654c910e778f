// Combines the partial results of the threads that share a row; each of them gets the result.
#pragma once
#include "parts.hpp"

namespace sinter::inline v1::jit::loops {

class Team {
 public:
  /// Declares the shared memory of all stages.
  Team(const Frame& frame, Builder& b);

  bool shares_memory() const noexcept { return shares_memory_; }
  Part combine(const Parts& parts, int stage, Part a) const;

 private:
  using Shared = std::vector<Value>;  // an array for each value of a part

  Part in_warp(const Parts& parts, Part a, int threads) const;
  Part in_block(const Parts& parts, const Shared& shared, Part a) const;
  Part in_columns(const Parts& parts, const Shared& shared, Part a) const;
  Part load(const Parts& parts, const Shared& shared, Value position, Value guard = none) const;
  void store(const Shared& shared, Value position, const Part& a) const;

  const Frame& frame_;
  Builder& b_;
  const int side_;  // threads of a block that are in different rows, where lanes are rows
  const bool shares_memory_;
  std::vector<Shared> shared_;  // by stage
};

}  // namespace sinter::inline v1::jit::loops
