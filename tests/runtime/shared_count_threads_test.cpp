#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <sinter/runtime/shared_count.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace {

using sinter::runtime::SharedCount;

/// A reference of either kind.
enum class Kind { Handle, Hold };

void add(SharedCount& count, Kind kind) { kind == Kind::Handle ? count.retain() : count.hold(); }
bool remove(SharedCount& count, Kind kind) { return kind == Kind::Handle ? count.release() : count.drop(); }

/// Enough holds of another thread to open the stripes.
void open_stripes(SharedCount& count) {
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) {
      count.hold();
      EXPECT_FALSE(count.drop());
    }
  }).join();
}

template <class F>
auto elsewhere(F f) {
  bool result = false;
  std::thread([&] { result = f(); }).join();
  return result;
}

TEST(SharedCount, TheLastReferenceIsKnown) {
  for (const bool stripes : {false, true})
    for (const Kind last : {Kind::Handle, Kind::Hold})
      for (const bool away : {false, true}) {
        SCOPED_TRACE(testing::Message() << stripes << static_cast<int>(last) << away);
        SharedCount count;
        if (stripes) open_stripes(count);
        add(count, last);
        EXPECT_FALSE(count.release());
        EXPECT_TRUE(away ? elsewhere([&] { return remove(count, last); }) : remove(count, last));
      }
}

TEST(SharedCount, AHoldMayBeDroppedInAnyThread) {
  for (const bool stripes : {false, true}) {
    SharedCount count;
    if (stripes) open_stripes(count);
    count.hold();
    EXPECT_FALSE(elsewhere([&] { return count.drop(); }));
    EXPECT_FALSE(elsewhere([&] {
      count.hold();
      return false;
    }));
    EXPECT_FALSE(count.drop());
    EXPECT_FALSE(elsewhere([&] {
      count.hold();
      return count.release();
    }));
    EXPECT_TRUE(count.drop());
  }
}

/// An object that another thread made and held, which has ended or goes on until `f` returns.
template <class F>
void with_count_made_elsewhere(bool goes_on, F f) {
  std::promise<SharedCount*> made;
  std::promise<void> done;
  std::thread maker([&] {
    auto* const count = new SharedCount;
    count->hold();
    made.set_value(count);
    if (goes_on) done.get_future().wait();
  });
  if (!goes_on) maker.join();
  const std::unique_ptr<SharedCount> count(made.get_future().get());
  f(*count);
  done.set_value();
  if (goes_on) maker.join();
}

TEST(SharedCount, HoldsAtHomeAreKnownElsewhere) {
  for (const bool goes_on : {false, true}) {
    SCOPED_TRACE(goes_on);
    with_count_made_elsewhere(goes_on, [](SharedCount& count) {
      EXPECT_GE(count.owners(), 2u);
      EXPECT_FALSE(count.release());
      EXPECT_EQ(count.owners(), 1u);
      EXPECT_TRUE(count.drop());
    });
    with_count_made_elsewhere(goes_on, [](SharedCount& count) {
      EXPECT_FALSE(count.drop());
      EXPECT_TRUE(count.release());
    });
  }
}

/// Another thread takes the place of one that has ended.
TEST(SharedCount, HomesAreInherited) {
  SharedCount* made = nullptr;
  std::thread([&] {
    made = new SharedCount;
    made->hold();
  }).join();
  const std::unique_ptr<SharedCount> count(made);
  for (int i = 0; i < 3; ++i)
    std::thread([&] {
      const SharedCount own;
      count->hold();
      EXPECT_GE(count->owners(), 3u);
    }).join();
  EXPECT_FALSE(count->release());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(count->drop());
  EXPECT_TRUE(count->drop());
}

TEST(SharedCount, ObjectsOfAThreadThatEnds) {
  struct MakesOneLate {
    ~MakesOneLate() {
      SharedCount late;
      late.hold();
      EXPECT_EQ(late.owners(), 2u);
      EXPECT_FALSE(late.release());
      EXPECT_TRUE(late.drop());
    }
  };
  std::thread([] {
    thread_local const MakesOneLate last;
    const SharedCount own;  // its home ends first
  }).join();
}

/// The maker, which has a hold, takes and drops others all the time. For a second, in which there are 10^5 last handles
/// on an idle machine.
TEST(SharedCount, ItsMakerCountsWhileTheLastHandleGoes) {
  std::atomic<SharedCount*> shared{nullptr};
  std::atomic<int> released{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop)
      if (SharedCount* const count = shared.exchange(nullptr)) {
        EXPECT_FALSE(count->release());
        ++released;
      }
  });
  int made = 0, early = 0, leaked = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (SharedCount* count; std::chrono::steady_clock::now() < end; delete count) {
    count = new SharedCount;
    ++made;
    count->hold();
    shared = count;
    while (released != made) {
      count->hold();
      early += count->drop();
    }
    leaked += !count->drop();
  }
  stop = true;
  other.join();
  EXPECT_EQ(early, 0) << made;
  EXPECT_EQ(leaked, 0) << made;
}

std::atomic<SharedCount*> released_in_child{nullptr};
void release_in_child() {
  if (SharedCount* const count = released_in_child.exchange(nullptr)) {
    alarm(20);  // must end, whatever the maker was doing
    (void)count->release();
  }
}
/// Before libraries register theirs, so that Sinter does not know yet that the parent's threads do not exist.
[[gnu::section(".preinit_array"), gnu::used]] void (*const register_early)() = [] {
  pthread_atfork(nullptr, nullptr, release_in_child);
};

TEST(SharedCount, AChildOfAForkReleasesWhatItsParentHeld) {
  std::atomic<bool> stop{false};
  std::atomic<SharedCount*> made{nullptr};
  std::thread maker([&] {
    SharedCount count;
    made = &count;
    while (!stop) {
      count.hold();
      EXPECT_FALSE(count.drop());
    }
  });
  while (made == nullptr) std::this_thread::yield();
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0) released_in_child = made.load();
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      if (i % 2 == 1) (void)made.load()->release();
      _exit(0);
    }
    released_in_child = nullptr;
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  maker.join();
}

TEST(SharedCount, StripesOpenOnce) {
  SharedCount count;
  open_stripes(count);
  count.hold();
  EXPECT_FALSE(count.release());  // closes them
  count.retain();
  open_stripes(count);
  EXPECT_FALSE(count.drop());
  EXPECT_EQ(count.owners(), 1u);
  EXPECT_TRUE(count.release());
}

TEST(SharedCount, OneOwnerIsNeverClaimedWrongly) {
  SharedCount count;
  EXPECT_EQ(count.owners(), 1u);
  count.hold();
  EXPECT_EQ(count.owners(), 2u);
  EXPECT_FALSE(count.drop());
  EXPECT_EQ(count.owners(), 1u);
  EXPECT_TRUE(elsewhere([&] { return count.owners() >= 2; }));  // not known
  open_stripes(count);
  EXPECT_GE(count.owners(), 2u);
  EXPECT_TRUE(elsewhere([&] {
    count.hold();
    return count.owners() >= 2;
  }));
  EXPECT_FALSE(count.release());
  EXPECT_EQ(count.owners(), 1u);
  EXPECT_TRUE(count.drop());
}

/// Another thread, with the only handle, exchanges it for a hold while the maker, which has a hold, asks.
TEST(SharedCount, AnOwnerIsNotAloneWhileTheHomeIsClosed) {
  std::atomic<SharedCount*> shared{nullptr};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop)
      if (SharedCount* const count = shared.exchange(nullptr)) {
        count->hold();
        EXPECT_FALSE(count->release());
      }
  });
  int wrong = 0;
  std::vector<std::unique_ptr<SharedCount>> all;  // the other thread may still be using them
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end) {
    all.push_back(std::make_unique<SharedCount>());
    all.back()->hold();
    shared = all.back().get();
    for (int i = 0; i < 20 || shared != nullptr; ++i) wrong += all.back()->owners() < 2;
  }
  stop = true;
  other.join();
  EXPECT_EQ(wrong, 0) << all.size();
}

/// An object whose references are counted a second time.
class Object {
 public:
  void make() { count_ = new SharedCount; }
  void take(Kind kind) {
    ++references_;
    add(*count_, kind);
  }
  void give_up(Kind kind) {
    --references_;
    if (!remove(*count_, kind)) return;
    EXPECT_EQ(references_, 0);
    ++last_;
    if (references_ == 0) delete std::exchange(count_, nullptr);  // sanitizers see what comes later
  }
  bool was_destroyed_once() const { return references_ == 0 && last_ == 1; }

 private:
  SharedCount* count_ = nullptr;
  std::atomic<int> references_{1}, last_{0};
};

constexpr int objects = 64;

/// References of one thread to each object.
struct Stash {
  std::vector<Kind> of[objects];
};

/// Takes and gives up references at random until it is told to stop, then gives up all. At least one of each object
/// stays until then.
void play(Object* all, Stash stash, unsigned seed, const std::atomic<bool>& stop) {
  std::mt19937 random(seed);
  while (!stop.load(std::memory_order_relaxed)) {
    const unsigned drawn = random();
    const unsigned which = drawn / 16 % objects;
    std::vector<Kind>& mine = stash.of[which];
    if (drawn % 16 < 8) {
      mine.push_back(drawn >> 22 == 0 ? Kind::Handle : Kind::Hold);
      all[which].take(mine.back());
    } else if (mine.size() > 1) {
      std::swap(mine[drawn / 1024 % mine.size()], mine.back());
      all[which].give_up(mine.back());
      mine.pop_back();
    }
  }
  for (int o = 0; o < objects; ++o)
    for (const Kind k : stash.of[o]) all[o].give_up(k);
}

/// The last handles go, most of them in this thread, while other threads take and drop holds. Half of the objects were
/// made by this thread, and half by one of these.
TEST(SharedCount, ThreadsDestroyOnce) {
  const unsigned first = std::random_device()() % 1'000'000;
  for (unsigned seed = first; seed < first + 100; ++seed) {
    Object all[objects];
    for (int o = 0; o < objects; o += 2) all[o].make();
    std::atomic<bool> stop{false};
    std::barrier made(4), held(4);
    std::vector<std::thread> players;
    for (unsigned t = 0; t < 3; ++t)
      players.emplace_back([&, t] {
        if (t == 0)
          for (int o = 1; o < objects; o += 2) all[o].make();
        made.arrive_and_wait();
        Stash stash;
        for (int o = 0; o < objects; ++o) {
          stash.of[o] = {(seed + t + static_cast<unsigned>(o)) % 50 == 0 ? Kind::Handle : Kind::Hold};
          all[o].take(stash.of[o][0]);
        }
        held.arrive_and_wait();
        play(all, std::move(stash), 10 * seed + t, stop);
      });
    made.arrive_and_wait();
    held.arrive_and_wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(seed % 8));
    for (Object& o : all) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      o.give_up(Kind::Handle);
    }
    stop = true;
    for (std::thread& p : players) p.join();
    for (const Object& o : all) ASSERT_TRUE(o.was_destroyed_once()) << "seed " << seed;
  }
}

TEST(SharedCount, ThreadsHoldATensorThatAnotherOneMade) {
  using sinter::runtime::TensorRef;
  TensorRef shared = sinter::runtime::empty(sinter::Shape{4}, sinter::DType::Float32, sinter::Device());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t = shared] {
      for (int i = 0; i < 1000; ++i) {
        sinter::runtime::TensorImpl* const leaf = held(t);
        EXPECT_EQ(leaf->numel, 4);
        leaf->drop();
      }
    });
  shared = TensorRef();
  for (std::thread& t : threads) t.join();
}

}  // namespace
