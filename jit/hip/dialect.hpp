// HIP's overrides of CUDA's dialect. Waves may have 32 or 64 lanes: a warp of the program is 32 of them.
#pragma once
#include "../cuda/dialect.hpp"

namespace sinter::inline v1::jit::hip {

class HipDialect final : public cuda::CudaDialect {
 protected:
  std::string_view warp_barrier() const override { return "sync_warp()"; }
  int min_blocks_argument(const loops::LoopProgram& program) const override;
  std::string_view param_qualifiers() const override { return "const"; }
  std::string prelude(std::string_view text) const override;
};

}  // namespace sinter::inline v1::jit::hip
