#include <sinter/jit/cache.hpp>

#include "../cache/kernel_cache.hpp"
#include "../mesh/mesh_plans.hpp"
#include "../run/compiled_graph.hpp"

namespace sinter::inline v1 {

void clear_cache() {
  jit::drop_mesh_plans();
  jit::drop_compiled_graphs();
  jit::evict_kernels();
}

}  // namespace sinter::inline v1
