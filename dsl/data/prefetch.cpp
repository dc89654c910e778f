#include <sinter/data/prefetch.hpp>

#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <runtime/fork.hpp>
#include <sinter/runtime/device.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

struct Prefetch::State {
  struct Slot {
    bool full = false;
    std::exception_ptr error;
  };
  State(std::int64_t things, int workers, Make how)
      : make(std::move(how)), count(things), slots(Prefetch::slots(workers)) {}

  std::size_t slot_of(std::int64_t number) const { return static_cast<std::size_t>(number) % slots.size(); }
  bool done() const { return stopped || begun == count; }
  bool has_room() const { return begun - taken < static_cast<std::int64_t>(slots.size()); }
  void work(int device);
  void stop();

  const Make make;
  const std::int64_t count;
  const unsigned made_in = runtime::generation();
  std::mutex mutex;
  std::condition_variable room, filled;
  std::int64_t begun = 0, taken = 0;
  bool stopped = false;
  std::vector<Slot> slots;
  std::vector<std::thread> threads;
};

void Prefetch::State::work(int device) {
  std::unique_lock lock(mutex);
  while (true) {
    room.wait(lock, [&] { return done() || has_room(); });
    if (done()) return;
    const std::int64_t number = begun++;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (current_device() != device) set_device(device);
      make(number, slot_of(number));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    slots[slot_of(number)] = {true, std::move(error)};
    filled.notify_one();
  }
}

void Prefetch::State::stop() {
  {
    const std::lock_guard lock(mutex);
    stopped = true;
  }
  room.notify_all();
  for (std::thread& thread : threads) thread.join();
}

Prefetch::Prefetch(std::int64_t count, int threads, Make make)
    : state_(std::make_unique<State>(count, threads, std::move(make))) {
  state_->threads.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i)
      state_->threads.emplace_back([state = state_.get(), device = current_device()] { state->work(device); });
  } catch (const std::system_error& error) {
    state_->stop();
    throw Error(fmt::format("DataLoader: only {1} of {0} worker threads could be started: {2}", threads,
                            state_->threads.size(), error.what()));
  } catch (...) {  // out of memory
    state_->stop();
    throw;
  }
}

Prefetch::~Prefetch() {
  if (state_->made_in == runtime::generation())
    state_->stop();
  else
    std::ignore = state_.release();  // its locks may be held by threads that do not exist here
}

void Prefetch::next(const Take& take) {
  State& s = *state_;
  if (s.made_in != runtime::generation())
    throw Error(
        "DataLoader: this loop began before a fork, and the child has none of its workers: begin it in the child");
  std::exception_ptr error;
  {
    std::unique_lock lock(s.mutex);
    const std::size_t at = s.slot_of(s.taken);
    s.filled.wait(lock, [&] { return s.slots[at].full; });
    error = std::exchange(s.slots[at], {}).error;
    if (!error) take(at);
    ++s.taken;
  }
  s.room.notify_all();
  if (error) std::rethrow_exception(std::move(error));
}

}  // namespace sinter::inline v1::detail
