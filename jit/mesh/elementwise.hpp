// The fast path of evaluation on a mesh, which almost all evaluations take.
#pragma once
#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// Runs an elementwise compiled graph of one kernel and one output that needs no communication: its leaves are
/// replicated or sharded along one axis. The graph is not traversed, and a loop nest is made once for each extent of
/// the shards, so each further rank costs only a launch. Returns false, without having run anything, if the graph is of
/// another form. Throws what run() throws.
bool run_elementwise_on_mesh(const CompiledGraph& compiled, const Call& call);

}  // namespace sinter::inline v1::jit
