// Whether work may be given to other threads.
#pragma once

namespace sinter::inline v1::runtime {

/// Whether this process may use oneTBB; if so, it counts as used from then on. False in the child of a process that
/// used it, since the parent's threads do not exist there and one may have held a lock.
bool claim_tbb() noexcept;

}  // namespace sinter::inline v1::runtime
