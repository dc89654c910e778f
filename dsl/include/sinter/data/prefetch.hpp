// Threads that make numbered things ahead of who takes them in order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sinter::inline v1::detail {

class Prefetch {
 public:
  /// Stores thing `number` in a slot of the caller's.
  using Make = std::function<void(std::int64_t number, std::size_t slot)>;
  /// Finds it there.
  using Take = std::function<void(std::size_t slot)>;

  static constexpr std::size_t slots_per_thread = 2;
  /// How many slots the caller has: made, but not taken yet.
  static std::size_t slots(int threads) { return slots_per_thread * static_cast<std::size_t>(threads); }

  /// Things 0 to count - 1. The threads have the caller's current GPU. Throws Error where there are no threads to be
  /// had.
  Prefetch(std::int64_t count, int threads, Make make);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  /// Waits for what is being made; makes nothing more. In the child of a fork, which has no such threads, lets them be.
  ~Prefetch();

  /// Waits for the next thing; throws what making it threw. Throws Error in the child of a fork.
  void next(const Take& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinter::inline v1::detail
