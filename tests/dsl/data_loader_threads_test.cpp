// DataLoader with workers: the same batches in the same order, errors at the right batch, and loops that end early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include <sinter/data.hpp>
#include "devices.hpp"

namespace sinter {
namespace {

using ::testing::HasSubstr;
using Batch = std::pair<std::vector<std::int64_t>, std::vector<float>>;

/// Samples made one by one; some fail and some take long.
struct Slow {
  std::int64_t count = 23;
  std::int64_t failing = -1;
  std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);

  std::int64_t size() const { return count; }
  std::pair<Tensor<std::int64_t, Cpu>, Tensor<float, Cpu>> operator[](std::int64_t i) const {
    ++*made;
    if (i == failing) throw std::out_of_range("sample " + std::to_string(i) + " is broken");
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the others overtake it
    return {full({}, i), full({3}, static_cast<float>(i))};
  }
};

template <class D>
std::vector<Batch> batches(const D& data, const DataLoaderOptions& options) {
  DataLoader loader(data, options);
  std::vector<Batch> all;
  for (int pass = 0; pass < 2; ++pass)
    for (const auto& [number, x] : loader) all.emplace_back(number.to_vector(), x.to_vector());
  return all;
}

TEST(DataLoaderThreads, AnyNumberOfWorkersGivesTheSame) {
  const TensorDataset tensors(arange(23), arange(69).to<float>().reshape({23, 3}));
  for (const bool shuffle : {false, true})
    for (const std::int64_t size : {1, 2, 5, 40}) {
      DataLoaderOptions options{.batch_size = size, .shuffle = shuffle, .seed = 9};
      const auto slow = batches(Slow(), options), rows = batches(tensors, options);
      for (const int workers : {1, 4, 30}) {
        options.workers = workers;
        EXPECT_EQ(batches(Slow(), options), slow) << workers << " workers, batches of " << size;
        EXPECT_EQ(batches(tensors, options), rows) << workers << " workers, batches of " << size;
      }
    }
}

TEST(DataLoaderThreads, AnErrorIsThrownAtItsBatch) {
  for (const int workers : {0, 1, 4}) {
    Slow data{.failing = 7};
    int seen = 0;
    try {
      for (const auto& batch : DataLoader(data, {.batch_size = 2, .workers = workers})) {
        EXPECT_EQ(batch.first.size(0), 2);
        ++seen;
      }
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "sample 7 is broken");
    }
    EXPECT_EQ(seen, 3);
  }
}

TEST(DataLoaderThreads, ItGoesOnBehindAnError) {
  DataLoader loader(Slow{.count = 6, .failing = 0}, {.batch_size = 2, .workers = 2});
  EXPECT_THROW(loader.begin(), std::out_of_range);
  DataLoader later(Slow{.count = 6, .failing = 2}, {.batch_size = 2, .workers = 2});
  auto it = later.begin();
  EXPECT_THROW(++it, std::out_of_range);
  ++it;
  EXPECT_EQ(it->first.to_vector(), (std::vector<std::int64_t>{4, 5}));
}

TEST(DataLoaderThreads, LeavingTheLoopEarly) {
  const TensorDataset tensors(arange(64));
  for (int round = 0; round < 1000; ++round) {
    DataLoader loader(tensors, {.batch_size = 2, .shuffle = true, .workers = 1 + round % 3, .seed = 1});
    int left = round % 4;
    for (const auto& x : loader) {
      ASSERT_EQ(x.numel(), 2);
      if (left-- == 0) break;
    }
  }
}

TEST(DataLoaderThreads, NoMoreIsMadeAheadThanThereAreSlots) {
  const Slow data{.count = 100};
  DataLoader loader(data, {.workers = 2});
  {
    const auto it = loader.begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_LE(*data.made, 1 + 4);
  }
  EXPECT_LE(*data.made, 1 + 4);
}

TEST(DataLoaderThreads, WorkersRunAhead) {
  const Slow data{.count = 100};
  DataLoader loader(data, {.workers = 2});
  const auto it = loader.begin();
  while (*data.made < 5) std::this_thread::yield();  // hangs if nothing is prefetched
}

TEST(DataLoaderThreads, SeveralLoadersAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      const auto expected = batches(Slow(), {.batch_size = 4});
      EXPECT_EQ(batches(Slow(), {.batch_size = 4, .workers = 2}), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

struct OnGpu {
  std::int64_t size() const { return 8; }
  Tensor<std::int64_t, Cuda<>> operator[](std::int64_t i) const { return full({2}, i, cuda<>); }
};

TEST(DataLoaderThreads, WorkersHaveTheCurrentGpu) {
  if (device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  set_device(1);
  for (const auto& x : DataLoader(OnGpu(), {.batch_size = 4, .workers = 2})) EXPECT_EQ(x.device(), Device(1));
  set_device(0);
}

TEST(DataLoaderThreads, PinnedBatches) {
  if (!cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  for (const auto& [number, x] : DataLoader(Slow(), {.batch_size = 4, .workers = 2, .pin_memory = true}))
    EXPECT_TRUE(number.is_pinned() && x.is_pinned());
}

TEST(DataLoaderThreads, AChildOfAForkHasNoWorkers) {
  DataLoader loader(Slow(), {.batch_size = 2, .workers = 2});
  auto it = std::make_unique<DataLoader<Slow>::Iterator>(loader.begin());
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      ++*it;
    } catch (const Error& error) {
      text = error.what();
    }
    it.reset();  // does not wait for threads that do not exist
    ::_exit(text.find("before a fork") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ++*it;
  EXPECT_EQ((*it)->first.to_vector(), (std::vector<std::int64_t>{2, 3}));
}

}  // namespace
}  // namespace sinter
