// Warp operations: each lane waits until every lane of its mask that has not returned is at the same operation.
#include <algorithm>
#include <bit>

#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr bool has(std::uint32_t mask, unsigned lane) { return mask >> lane & 1; }

}  // namespace

unsigned long long Worker::warp(WarpOp op, unsigned mask, unsigned long long value, int argument, int width, int line) {
  return of_this_thread()->wait_at_warp({op, mask, value, argument, width, line});
}

std::uint64_t Worker::wait_at_warp(const WarpCall& call) {
  const unsigned lane = me_ % warp_lanes;
  if (!has(call.mask, lane))
    fail_synchronisation(me_, call.line, "the mask %#010x of a warp operation does not include its own lane %u",
                         call.mask, lane);
  if (call.width < 1 || call.width > static_cast<int>(warp_lanes) ||
      !std::has_single_bit(static_cast<unsigned>(call.width)))
    fail_synchronisation(me_, call.line, "a shuffle of width %d: it must be 1, 2, 4, 8, 16 or 32", call.width);
  call_[me_] = call;
  status_[me_] = Status::AtWarp;
  warp_[me_ / warp_lanes].waiting |= 1u << lane;
  if (!complete_warp(me_)) suspend();
  return call_[me_].value;
}

/// Performs the operation that `thread` waits for if all lanes have arrived: the last one continues, the others wake.
bool Worker::complete_warp(unsigned thread) {
  const unsigned first = thread / warp_lanes * warp_lanes;
  Warp& w = warp_[thread / warp_lanes];
  const WarpCall& call = call_[thread];
  const unsigned lanes = call.mask & w.present;
  if ((w.waiting & lanes) != lanes) return false;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    const WarpCall& other = call_[first + l];
    if (has(lanes, l) && (other.op != call.op || other.mask != call.mask))
      fail_synchronisation(
          thread, call.line,
          "different warp operations: thread %u at line %d with mask %#010x, thread %u at line %d with mask %#010x",
          thread, call.line, call.mask, first + l, other.line, other.mask);
  }
  compute_warp(first, lanes);
  w.waiting &= ~lanes;
  if (call.op == WarpOp::Sync && lanes == w.present) ++w.interval;
  for (unsigned l = 0; l < warp_lanes; ++l)
    if (has(lanes, l) && first + l != me_) wake(first + l);
  if (status_[me_] == Status::AtWarp) status_[me_] = Status::Ready;
  return true;
}

/// A lane has returned: operations that waited for it may be complete now.
void Worker::recheck_warp(unsigned warp) {
  for (unsigned l = 0; l < warp_lanes; ++l)
    if (has(warp_[warp].waiting, l)) complete_warp(warp * warp_lanes + l);
}

unsigned Worker::source_lane(const WarpCall& call, unsigned lane) const noexcept {
  const unsigned width = static_cast<unsigned>(call.width), by = static_cast<unsigned>(call.argument) % warp_lanes;
  const unsigned first = lane & ~(width - 1), end = first + width;
  switch (call.op) {
    case WarpOp::Shuffle: return first + (by & (width - 1));
    case WarpOp::ShuffleUp: return lane < first + by ? lane : lane - by;
    case WarpOp::ShuffleDown: return lane + by >= end ? lane : lane + by;
    case WarpOp::ShuffleXor: return (lane ^ by) >= end ? lane : lane ^ by;
    default: return lane;
  }
}

void Worker::compute_warp(unsigned first, unsigned lanes) {
  std::uint64_t result[warp_lanes];
  std::uint64_t ballot = 0, sum = 0, all = ~std::uint64_t{0}, any = 0, odd = 0;
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!has(lanes, l)) continue;
    const std::uint64_t v = call_[first + l].value;
    ballot |= std::uint64_t{v != 0} << l;
    sum += v, all &= v, any |= v, odd ^= v;
    least = std::min(least, static_cast<std::int64_t>(v));
    most = std::max(most, static_cast<std::int64_t>(v));
  }
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!has(lanes, l)) continue;
    const WarpCall& call = call_[first + l];
    const unsigned from = source_lane(call, l);
    if (!has(lanes, from))
      fail_synchronisation(
          first + l, call.line, "a shuffle reads lane %u, %s (mask %#010x)", from,
          has(call.mask, from) ? "which has returned or does not exist" : "which its mask does not include", call.mask);
    switch (call.op) {
      case WarpOp::Ballot: result[l] = ballot; break;
      case WarpOp::Add: result[l] = sum; break;
      case WarpOp::And: result[l] = all; break;
      case WarpOp::Or: result[l] = any; break;
      case WarpOp::Xor: result[l] = odd; break;
      case WarpOp::Min: result[l] = static_cast<std::uint64_t>(least); break;
      case WarpOp::Max: result[l] = static_cast<std::uint64_t>(most); break;
      case WarpOp::MatchAny:
        result[l] = 0;
        for (unsigned k = 0; k < warp_lanes; ++k)
          if (has(lanes, k) && call_[first + k].value == call.value) result[l] |= std::uint64_t{1} << k;
        break;
      default: result[l] = call_[first + from].value;
    }
  }
  for (unsigned l = 0; l < warp_lanes; ++l)
    if (has(lanes, l)) call_[first + l].value = result[l];
}

}  // namespace sinter::inline v1::runtime::vgpu
