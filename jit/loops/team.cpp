#include "team.hpp"

#include <fmt/format.h>

namespace sinter::inline v1::jit::loops {
namespace {

constexpr int warp = 32;

}  // namespace

Team::Team(const LoweringContext& context, Builder& b)
    : context_(context),
      b_(b),
      shares_memory_(context.scheme.row_per_element ? context.scheme.team > 1 : context.scheme.team == 0) {
  const int count = context.scheme.row_per_element ? context.c.vector_width * context.scheme.block : warp;
  for (int s = 0; shares_memory_ && s < context.stages(); ++s) {
    shared_.emplace_back();
    const Reducer reducer(context, b, s);
    for (const DType dtype : reducer.dtypes())
      shared_.back().push_back(b.shared(storage(dtype), count, fmt::format("shared{}_{}", s, shared_.back().size())));
  }
}

Partial Team::combine(const Reducer& reducer, int stage, Partial a) const {
  const RowConfig& scheme = context_.scheme;
  if (shares_memory_ && scheme.row_per_element)
    return reduce_in_shared_memory(reducer, shared_[static_cast<std::size_t>(stage)], std::move(a));
  if (shares_memory_) return block_reduce(reducer, shared_[static_cast<std::size_t>(stage)], std::move(a));
  return scheme.row_per_element ? a : warp_reduce(reducer, std::move(a), scheme.team);
}

/// Butterfly reduction over groups of consecutive lanes of a warp.
Partial Team::warp_reduce(const Reducer& reducer, Partial a, int threads) const {
  for (int lane_mask = threads / 2; lane_mask > 0; lane_mask /= 2) {
    Partial other;
    for (const Value v : a) other.push_back(b_.shuffle_xor(v, lane_mask));
    a = reducer.combine(a, other);
  }
  return a;
}

/// Reduces within each warp; then every warp reduces the per-warp results.
Partial Team::block_reduce(const Reducer& reducer, const Shared& shared, Partial a) const {
  a = warp_reduce(reducer, std::move(a), warp);
  const Value thread = b_.builtin(Opcode::ThreadIdx);
  const Value lane = b_.named(b_.rem_by(thread, warp), "lane");
  b_.emit_if(b_.equal(lane, b_.integer(Kind::UInt32, 0)), [&] { store(shared, b_.div_by(thread, warp), a); });
  b_.barrier();
  const Value is_warp = b_.less(lane, b_.div_by(b_.builtin(Opcode::BlockDim), warp));
  const Partial of_warps = load(reducer, shared, lane, is_warp), identity = reducer.identity();
  return warp_reduce(reducer, reducer.select(is_warp, of_warps, identity), warp);
}

/// Tree reduction in shared memory over threads whose indices differ by multiples of teams_per_block.
Partial Team::reduce_in_shared_memory(const Reducer& reducer, const Shared& shared, Partial a) const {
  const Value thread = b_.builtin(Opcode::ThreadIdx);
  store(shared, thread, a);
  for (int distance = context_.scheme.block / 2; distance >= context_.teams_per_block(); distance /= 2) {
    b_.barrier();
    b_.emit_if(b_.less(thread, b_.integer(Kind::UInt32, distance)), [&] {
      const Partial mine = load(reducer, shared, thread);
      const Partial other = load(reducer, shared, b_.add(thread, b_.integer(Kind::UInt32, distance)));
      store(shared, thread, reducer.combine(mine, other));
    });
  }
  b_.barrier();
  return load(reducer, shared, b_.rem_by(thread, context_.teams_per_block()));
}

Partial Team::load(const Reducer& reducer, const Shared& shared, Value position, Value guard) const {
  Partial a;
  for (std::size_t i = 0; i < shared.size(); ++i)
    a.push_back(b_.cast(b_.load(shared[i], position, context_.rows_of_thread(), Access::AlignedIndexed, guard),
                        reducer.dtypes()[i]));
  return a;
}

void Team::store(const Shared& shared, Value position, const Partial& a) const {
  for (std::size_t i = 0; i < a.size(); ++i)
    b_.store(shared[i], position, b_.splat(b_.to_storage(a[i]), context_.rows_of_thread()), Access::AlignedIndexed);
}

}  // namespace sinter::inline v1::jit::loops
