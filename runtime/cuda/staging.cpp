#include "staging.hpp"

#include <algorithm>
#include <cstring>

namespace sinter::inline v1::runtime {
namespace {

using driver::CUresult;
using driver::success;

constexpr std::size_t ring_bytes = std::size_t(8) << 20;
constexpr std::size_t piece_bytes = std::size_t(2) << 20;  // copying one piece overlaps with sending another
constexpr std::size_t grain = 256;

}  // namespace

CUresult Staging::upload(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!ring_ && !refused_) {
    void* memory = nullptr;
    refused_ = driver_.cuMemHostAlloc(&memory, ring_bytes, 0) != success;
    ring_ = static_cast<std::byte*>(memory);
  }
  if (refused_) return direct(to, host, bytes);
  while (bytes) {
    const std::size_t n = std::min(bytes, piece_bytes);
    if (const CUresult result = piece(to, host, n); result != success) return result;
    to += n;
    host += n;
    bytes -= n;
  }
  return success;
}

CUresult Staging::direct(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes) {
  if (const CUresult result = driver_.cuMemcpyHtoDAsync(to, host, bytes, stream_); result != success) return result;
  return driver_.cuStreamSynchronize(stream_);
}

CUresult Staging::piece(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes) {
  const std::size_t offset = head_ % ring_bytes;
  if (offset + bytes > ring_bytes) head_ += ring_bytes - offset;  // a piece does not wrap
  const std::uint64_t end = head_ + (bytes + grain - 1) / grain * grain;
  if (const CUresult result = make_room(end); result != success) return result;
  std::byte* staged = ring_ + head_ % ring_bytes;
  std::memcpy(staged, host, bytes);
  if (const CUresult result = driver_.cuMemcpyHtoDAsync(to, staged, bytes, stream_); result != success) return result;
  const CUresult result = record();
  head_ = end;
  return result;
}

CUresult Staging::make_room(std::uint64_t end) {
  while (!pieces_.empty() && pieces_.front().begin + ring_bytes < end) {
    const driver::CUevent done = pieces_.front().done;
    if (const CUresult result = driver_.cuEventSynchronize(done); result != success) return result;
    idle_events_.push_back(done);
    pieces_.pop_front();
  }
  return success;
}

CUresult Staging::record() {
  driver::CUevent event = nullptr;
  if (idle_events_.empty()) {
    if (const CUresult result = driver_.cuEventCreate(&event, driver::event_disable_timing); result != success)
      return result;
  } else {
    event = idle_events_.back();
    idle_events_.pop_back();
  }
  pieces_.push_back({head_, event});
  return driver_.cuEventRecord(event, stream_);
}

void Staging::clear() noexcept {
  for (const Piece& piece : pieces_) driver_.cuEventDestroy(piece.done);
  for (const driver::CUevent event : idle_events_) driver_.cuEventDestroy(event);
  pieces_.clear();
  idle_events_.clear();
  if (ring_) driver_.cuMemFreeHost(ring_);
  ring_ = nullptr;
}

}  // namespace sinter::inline v1::runtime
