// Staging memory for uploads: the caller's buffer is free at once, whatever kind of memory it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "driver.hpp"

namespace sinter::inline v1::runtime {

/// A ring of page-locked memory, shared by a device's streams. Thread-safe. Every call needs the device's context to be
/// current.
class Staging {
 public:
  explicit Staging(const driver::Driver& driver) : driver_(driver) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Issues the copy of `bytes` bytes; waits only while the ring is full. Returns the first error.
  driver::CUresult upload(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream);
  /// Frees the ring. The streams must be idle.
  void clear() noexcept;

 private:
  struct Chunk {
    std::uint64_t begin;  // position in the ring, counted without wrapping
    driver::CUevent done;
  };
  driver::CUresult direct(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream);
  driver::CUresult chunk(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream);
  driver::CUresult make_room(std::uint64_t end);
  driver::CUresult take_event(driver::CUevent& event);
  driver::CUresult send(const Chunk& chunk, driver::CUdeviceptr to, const std::byte* host, std::size_t bytes,
                        driver::CUstream stream);

  const driver::Driver& driver_;
  std::mutex mutex_;
  std::byte* ring_ = nullptr;
  bool refused_ = false;    // the driver has no page-locked memory left
  std::uint64_t head_ = 0;  // where the next chunk may begin
  std::deque<Chunk> chunks_;
  std::vector<driver::CUevent> idle_events_;
};

}  // namespace sinter::inline v1::runtime
