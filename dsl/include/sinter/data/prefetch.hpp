// Threads that produce numbered items ahead of a consumer that takes them in order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sinter::inline v1::detail {

class Prefetch {
 public:
  /// Stores item `number` in a slot that the caller provides.
  using Make = std::function<void(std::int64_t number, std::size_t slot)>;
  /// Takes the item from the slot.
  using Take = std::function<void(std::size_t slot)>;

  static constexpr std::size_t slots_per_thread = 2;
  /// Number of slots that the caller must provide, for items that are made but not taken.
  static std::size_t slots(int threads) { return slots_per_thread * static_cast<std::size_t>(threads); }

  /// Produces items 0 to count - 1. The threads use the caller's current GPU. Throws Error if no thread can be started.
  Prefetch(std::int64_t count, int threads, Make make);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  /// Waits for the items being made and makes no more. Does nothing in the child of a fork, which lacks the threads.
  ~Prefetch();

  /// Waits for the next item; rethrows what making it threw. Throws Error in the child of a fork.
  void next(const Take& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinter::inline v1::detail
