// Where work may be given to other threads.
#pragma once

namespace sinter::inline v1::runtime {

/// Whether this process may use oneTBB, which it then counts as having done. False in the child of one that did: its
/// threads are not here, and one may have held a lock.
bool claim_shared_work() noexcept;

}  // namespace sinter::inline v1::runtime
