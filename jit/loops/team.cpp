#include "team.hpp"

#include <fmt/format.h>

namespace sinter::inline v1::jit::loops {
namespace {

constexpr int warp = 32;

}  // namespace

Team::Team(const Frame& frame, Builder& b)
    : frame_(frame),
      b_(b),
      side_(frame.scheme.across ? frame.scheme.block / frame.scheme.team : 1),
      shares_memory_(frame.scheme.across ? side_ < frame.scheme.block : frame.scheme.team == 0) {
  const int count = frame.scheme.across ? frame.c.lanes * frame.scheme.block : warp;
  for (int s = 0; shares_memory_ && s < frame.stages(); ++s) {
    shared_.emplace_back();
    const Parts parts(frame, b, s);
    for (const DType dtype : parts.dtypes())
      shared_.back().push_back(b.shared(storage(dtype), count, fmt::format("shared{}_{}", s, shared_.back().size())));
  }
}

Part Team::combine(const Parts& parts, int stage, Part a) const {
  const RowConfig& scheme = frame_.scheme;
  if (shares_memory_ && scheme.across) return in_columns(parts, shared_[static_cast<std::size_t>(stage)], std::move(a));
  if (shares_memory_) return in_block(parts, shared_[static_cast<std::size_t>(stage)], std::move(a));
  return scheme.across ? a : in_warp(parts, std::move(a), scheme.team);
}

/// Butterfly reduction over groups of consecutive lanes of a warp.
Part Team::in_warp(const Parts& parts, Part a, int threads) const {
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    Part other;
    for (const Value v : a) other.push_back(b_.shuffle(v, distance));
    a = parts.combine(a, other);
  }
  return a;
}

/// Reduces within each warp; then every warp reduces the per-warp results.
Part Team::in_block(const Parts& parts, const Shared& shared, Part a) const {
  a = in_warp(parts, std::move(a), warp);
  const Value thread = b_.special(Code::Thread);
  const Value lane = b_.named(b_.remainder(thread, warp), "lane");
  b_.when(b_.equal(lane, b_.integer(Kind::Word, 0)));
  store(shared, b_.over(thread, warp), a);
  b_.end();
  b_.barrier();
  const Value is_warp = b_.less(lane, b_.over(b_.special(Code::Threads), warp));
  const Part of_warps = load(parts, shared, lane, is_warp), identity = parts.identity();
  return in_warp(parts, parts.select(is_warp, of_warps, identity), warp);
}

/// Tree reduction in shared memory over threads whose numbers differ by multiples of `side_`.
Part Team::in_columns(const Parts& parts, const Shared& shared, Part a) const {
  const Value thread = b_.special(Code::Thread);
  store(shared, thread, a);
  for (int distance = frame_.scheme.block / 2; distance >= side_; distance /= 2) {
    b_.barrier();
    b_.when(b_.less(thread, b_.integer(Kind::Word, distance)));
    const Part mine = load(parts, shared, thread);
    const Part other = load(parts, shared, b_.add(thread, b_.integer(Kind::Word, distance)));
    store(shared, thread, parts.combine(mine, other));
    b_.end();
  }
  b_.barrier();
  return load(parts, shared, b_.remainder(thread, side_));
}

Part Team::load(const Parts& parts, const Shared& shared, Value position, Value guard) const {
  Part a;
  for (std::size_t i = 0; i < shared.size(); ++i)
    a.push_back(
        b_.cast(b_.load(shared[i], position, frame_.rows_of_thread(), Access::Vectors, guard), parts.dtypes()[i]));
  return a;
}

void Team::store(const Shared& shared, Value position, const Part& a) const {
  for (std::size_t i = 0; i < a.size(); ++i)
    b_.store(shared[i], position, b_.splat(b_.stored(a[i]), frame_.rows_of_thread()), Access::Vectors);
}

}  // namespace sinter::inline v1::jit::loops
