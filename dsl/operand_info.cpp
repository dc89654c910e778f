#include <sinter/dsl/operand_info.hpp>

#include <fmt/format.h>

namespace sinter::inline v1::detail {

DType result_dtype(const jit::Recorded& e) { return e.graph[e.graph.outputs()[0]].dtype; }

std::string describe(const OperandInfo& f) {
  return fmt::format("{} {} on {}", name(f.dtype), to_string(f.shape), to_string(f.device));
}

}  // namespace sinter::inline v1::detail
