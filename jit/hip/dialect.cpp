#include "dialect.hpp"

#include <runtime/fork.hpp>

#include "../cuda/prelude.hpp"

namespace sinter::inline v1::jit::hip {
namespace {

std::string prelude_for(std::string_view text) {
  static constinit runtime::NoDestructor<const cuda::Prelude> known;
  static constexpr cuda::Macro macros[]{{"__HIP__", true}, {"__CUDA_ARCH__", false}, {"SINTER_VIRTUAL_GPU", false}};
  return known.get([] { return new cuda::Prelude(macros); }).used_by(text);
}

}  // namespace

/// HIP's argument is the minimum number of waves per SIMD; a compute unit has four SIMDs. Waves are assumed to have 64
/// lanes: on GPUs with waves of 32, this requests less than it could.
int HipDialect::min_blocks_argument(const loops::LoopProgram& program) const {
  constexpr int lanes_of_unit = 4 * 64;
  return (program.min_blocks_per_multiprocessor * program.max_threads_per_block + lanes_of_unit - 1) / lanes_of_unit;
}

/// hipRTC has HIP's header built in. By default, HIP's compilers make multiply-adds of products and sums.
std::string HipDialect::prelude(std::string_view text) const {
  return "#ifndef __HIPCC_RTC__\n#include <hip/hip_runtime.h>\n#endif\n\n#pragma clang fp contract(off)\n\n"
         "namespace sinter {\n\n" +
         prelude_for(text) + "}  // namespace sinter\n\n";
}

}  // namespace sinter::inline v1::jit::hip
