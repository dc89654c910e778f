// Evaluation on a mesh.
#pragma once
#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// Like run(), for leaves on a mesh, by a plan for their shapes and placements (MeshPlan). Each rank evaluates what it
/// can compute from its shards. At a node that needs other ranks' shards, such as a sum along the sharded dim, the
/// graph is cut: each rank evaluates its part, the mesh's communicator combines the parts, and the result is a leaf of
/// the remaining graph. A result is sharded along the axis that its operands are sharded along, and replicated if there
/// are none. Throws what run() and place() throw, and what communicators throw.
void run_on_mesh(const CompiledGraph& compiled, const Call& call);

}  // namespace sinter::inline v1::jit
