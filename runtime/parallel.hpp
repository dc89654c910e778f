// Work in parts, each done by one thread.
#pragma once
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <functional>

#include "tbb_guard.hpp"

namespace sinter::inline v1::runtime {

/// Calls f(part) for every part, on several threads if there are several parts.
template <class F>
void parallel_for(std::int64_t parts, F f) {
  const auto run = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) f(part);
  };
  if (parts < 2 || !claim_tbb()) return run(0, parts);
  // Isolated: while this thread waits it must not run another task of the caller, who may hold a lock.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, parts),
                      [&](const tbb::blocked_range<std::int64_t>& some) { run(some.begin(), some.end()); });
  });
}

/// parallel_for with a type-erased function, so that it is compiled only once.
inline void parallel_for_erased(std::int64_t parts, const std::function<void(std::int64_t)>& f) {
  parallel_for(parts, [&f](std::int64_t part) { f(part); });
}

}  // namespace sinter::inline v1::runtime
