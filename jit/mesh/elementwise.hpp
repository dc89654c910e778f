// The short way of an evaluation on a mesh, which almost all of them take.
#pragma once
#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// Runs an elementwise recipe of one kernel and one output, where no position needs what another has: pieces along one
/// axis, and what every position has. There is no walk through the graph, and a loop nest is made once for each extent
/// that pieces have: a further position costs a launch. False: nothing was done. Throws what run() throws.
bool run_elementwise_on_mesh(const Recipe& recipe, const Call& call);

}  // namespace sinter::inline v1::jit
