// The mesh plans of recent evaluations.
#pragma once
#include <memory>

#include "mesh_plan.hpp"

namespace sinter::inline v1::jit {

/// The plan for these leaves and outputs: one made for others of the same shapes and placements, or a new one. Throws
/// what plan_on_mesh throws. Thread-safe.
std::shared_ptr<const MeshPlan> mesh_plan_for(const CompiledGraph& compiled, const Call& call);

/// Forgets all plans. Those in use stay alive.
void drop_mesh_plans();

}  // namespace sinter::inline v1::jit
