#include "tbb_guard.hpp"

#include <atomic>

#include "fork.hpp"

namespace sinter::inline v1::runtime {

bool claim_tbb() noexcept {
  constexpr unsigned nobody = ~0u;
  static constinit std::atomic<unsigned> user{nobody};  // the first process that used it
  const unsigned self = generation();
  unsigned known = user.load(std::memory_order_relaxed);
  if (known == nobody && user.compare_exchange_strong(known, self, std::memory_order_relaxed)) return true;
  return known == self;
}

}  // namespace sinter::inline v1::runtime
