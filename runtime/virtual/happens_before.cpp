#include "happens_before.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "../streams.hpp"

namespace sinter::inline v1::runtime::vgpu {

void Clock::merge(const Clock& other) {
  if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size());
  for (std::size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
}

void Clock::set(std::uint32_t stream, std::uint32_t tick) {
  if (ticks_.size() <= stream) ticks_.resize(stream + std::size_t{1});
  ticks_[stream] = tick;
}

bool Clock::covers(std::uint32_t stream, std::uint32_t tick) const noexcept {
  return stream < ticks_.size() && ticks_[stream] >= tick;
}

bool Clock::covers(const Clock& other) const noexcept {
  for (std::uint32_t i = 0; i < other.ticks_.size(); ++i)
    if (other.ticks_[i] != 0 && !covers(i, other.ticks_[i])) return false;
  return true;
}

HappensBefore& HappensBefore::instance() {
  static constinit NoDestructor<HappensBefore> only;  // buffers with static storage may outlive everything else
  return only.get();
}

StreamName::StreamName(const StreamImpl& stream) : StreamName(stream.owner.device().index(), stream.native) {}

HappensBefore::Timeline& HappensBefore::timeline(StreamName stream) {
  const auto [it, is_new] = streams_.try_emplace(stream, Timeline{.number = numbers_, .before = {}});
  if (is_new) ++numbers_;
  return it->second;
}

HappensBefore::Issued HappensBefore::issue(const StreamImpl& stream, std::string what) {
  std::string where = runtime::describe(stream);
  const std::lock_guard lock(mutex_);
  Timeline& t = timeline(StreamName(stream));
  t.before.merge(host_);
  t.before.set(t.number, ++t.tick);
  t.asked = false;
  const Point point{t.number, t.tick, number_of(std::move(what)), number_of(std::move(where))};
  return {add({&point, 1}), t.before};
}

Clock HappensBefore::before_next(StreamName stream) {
  const std::lock_guard lock(mutex_);
  Clock clock = timeline(stream).before;
  clock.merge(host_);
  return clock;
}

bool HappensBefore::is_before(Work work, const Clock& now) {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(points(work), [&](const Point& p) { return p.is_before(now); });
}

std::uint32_t HappensBefore::number_of(std::string name) {
  const auto [it, is_new] = numbers_of_names_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(it->first);
  return it->second;
}

std::span<const HappensBefore::Point> HappensBefore::points(Work work) const noexcept {
  const Points& p = works_[static_cast<std::size_t>(work)];
  return std::span(points_).subspan(p.first, p.count);
}

Work HappensBefore::add(std::span<const Point> points) {
  works_.push_back({points_.size(), points.size()});
  points_.insert(points_.end(), points.begin(), points.end());
  return Work(works_.size() - 1);
}

Work HappensBefore::joined(Work a, const Issued& b) {
  const std::lock_guard lock(mutex_);
  const Point own = points(b.work).front();
  if (std::ranges::any_of(points(a), [&](const Point& p) { return p.stream == own.stream && p.tick == own.tick; }))
    return a;
  const auto [it, is_new] = joined_.try_emplace({a, b.work});
  if (is_new) {
    std::vector<Point> both{own};
    std::ranges::copy_if(points(a), std::back_inserter(both), [&](const Point& p) { return !p.is_before(b.before); });
    it->second = add(both);
  }
  return it->second;
}

std::string HappensBefore::describe(Work work, const Clock& now) {
  const std::lock_guard lock(mutex_);
  for (const Point& p : points(work))
    if (!p.is_before(now)) return fmt::format("{} on {}", names_[p.what], names_[p.where]);
  return {};
}

void HappensBefore::wait(StreamName stream, const Clock& event) {
  const std::lock_guard lock(mutex_);
  timeline(stream).before.merge(event);
}

void HappensBefore::host_waits(StreamName stream) {
  const std::lock_guard lock(mutex_);
  host_.merge(timeline(stream).before);
}

void HappensBefore::host_waits(const Clock& event) {
  const std::lock_guard lock(mutex_);
  host_.merge(event);
}

bool HappensBefore::is_seen_over(StreamName stream) {
  Clock end;
  bool asked = false;
  {
    const std::lock_guard lock(mutex_);
    Timeline& t = timeline(stream);
    end = t.before;
    asked = std::exchange(t.asked, true);
  }
  return is_seen_over(end, asked);
}

bool HappensBefore::is_seen_over(const Clock& event, bool& asked) {
  const std::lock_guard lock(mutex_);
  if (!host_.covers(event) && !std::exchange(asked, true)) return false;
  host_.merge(event);
  return true;
}

void HappensBefore::forget(StreamName stream) noexcept {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

namespace {

std::mutex& turns() {
  static constinit NoDestructor<ForkLocal<std::mutex>> mutex;  // held while a kernel runs
  return mutex.get().get();
}

}  // namespace

StreamOrder::StreamOrder(const StreamImpl& stream, std::string what)
    : turn_(turns()),
      where_(runtime::describe(stream)),
      issued_(HappensBefore::instance().issue(stream, std::move(what))) {}

bool StreamOrder::is_after(Work before) {
  if (before == Work::None || before == work() || before == known_before_) return true;
  if (!HappensBefore::instance().is_before(before, issued_.before)) return false;
  known_before_ = before;
  return true;
}

Work StreamOrder::joined(Work before) {
  if (known_joined_.first != before) known_joined_ = {before, HappensBefore::instance().joined(before, issued_)};
  return known_joined_.second;
}

std::string StreamOrder::why_not_after(Work before) const {
  return fmt::format("{}: no event or wait makes {} wait for it",
                     HappensBefore::instance().describe(before, issued_.before), where_);
}

}  // namespace sinter::inline v1::runtime::vgpu
