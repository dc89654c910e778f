// Evaluation of what is on a mesh.
#pragma once
#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// As run(), for leaves on a mesh. What each position can compute from its pieces is one evaluation for each of them.
/// Where it needs those of others - a sum along the dim that is in pieces - the graph is cut there: each position
/// evaluates its part, the mesh's communicator joins the parts, and the graph goes on with the result as a leaf. A
/// result is in pieces along the axis that its operands are in pieces along; without such operands every position has
/// it. Throws what run() and place() throw, and what communicators throw.
void run_on_mesh(const Recipe& recipe, const Call& call);

}  // namespace sinter::inline v1::jit
