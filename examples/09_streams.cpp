// Streams: the next batch is uploaded while the GPU works on this one.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [prefetch]
  const sn::Stream copies;                          // a stream of the current GPU, in addition to its default stream
  auto staged = sn::zeros({1000, 8}).pin_memory();  // a CPU tensor in pinned memory, which the GPU reads directly
  auto upload = [&](int i) {
    staged.assign(i);                     // waits only until the previous upload has read it
    const sn::StreamGuard guard(copies);  // for this thread, in this scope
    return staged.cuda();                 // returns at once
  };
  auto total = sn::zeros({1000, 8}, sn::cuda<>);
  auto x = upload(0);
  for (int i = 1; i <= 3; ++i) {
    auto next = upload(i);
    total += (x + 1) * 2;  // on the default stream, which waits for x but not for next
    x = next;
  }
  std::cout << total[0] << "\n";
  // [/prefetch]

  // [events]
  const sn::Event begin = copies.record(sn::Timing::On);
  auto y = upload(4);
  const sn::Event end = copies.record(sn::Timing::On);
  end.synchronize();
  std::cout << std::boolalpha << (begin.elapsed_ms(end) >= 0) << "\n";
  // [/events]

  // [memory]
  sn::reset_peak_memory(sn::cuda<>);
  const auto before = sn::memory_stats(sn::cuda<>);
  {
    auto large = sn::zeros({1 << 20}, sn::cuda<>);
  }
  const auto after = sn::memory_stats(sn::cuda<>);
  std::cout << (after.peak_in_use - before.in_use) / 1024 << " KiB at most, " << after.in_use - before.in_use
            << " left\n";
  // [/memory]
}
