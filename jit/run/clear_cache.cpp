#include <sinter/jit/cache.hpp>

#include "../cache/kernel_cache.hpp"
#include "recipe.hpp"

namespace sinter::inline v1 {

void clear_cache() {
  jit::drop_recipes();
  jit::evict_kernels();
}

}  // namespace sinter::inline v1
