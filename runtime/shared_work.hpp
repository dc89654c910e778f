// Where work may be given to other threads.
#pragma once

namespace sinter::inline v1::runtime {

/// Whether this process may use oneTBB. False in the child of one that did: its threads are not here, and one may have
/// held a lock.
bool may_share_work() noexcept;

}  // namespace sinter::inline v1::runtime
