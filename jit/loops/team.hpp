// Combines the partial results of the threads that share a row; each of them gets the result.
#pragma once
#include "reducer.hpp"

namespace sinter::inline v1::jit::loops {

class Team {
 public:
  /// Declares the shared memory of all stages.
  Team(const LoweringContext& context, Builder& b);

  bool shares_memory() const noexcept { return shares_memory_; }
  Partial combine(const Reducer& reducer, int stage, Partial a) const;

 private:
  using Shared = std::vector<Value>;  // an array for each value of a partial result

  Partial warp_reduce(const Reducer& reducer, Partial a, int threads) const;
  Partial block_reduce(const Reducer& reducer, const Shared& shared, Partial a) const;
  Partial reduce_in_shared_memory(const Reducer& reducer, const Shared& shared, Partial a) const;
  Partial load(const Reducer& reducer, const Shared& shared, Value position, Value guard = none) const;
  void store(const Shared& shared, Value position, const Partial& a) const;

  const LoweringContext& context_;
  Builder& b_;
  const bool shares_memory_;
  std::vector<Shared> shared_;  // by stage
};

}  // namespace sinter::inline v1::jit::loops
