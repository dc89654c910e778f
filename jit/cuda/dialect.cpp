#include "dialect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "../functions/functions.hpp"
#include "expression.hpp"
#include "prelude.hpp"

namespace sinter::inline v1::jit::cuda {

using dialects::is_input;
using loops::Instruction;
using loops::Kind;
using loops::LoopProgram;
using loops::Opcode;

std::string_view CudaDialect::type(DType dtype) const { return value_type(dtype); }
std::string_view CudaDialect::memory_type(DType dtype) const { return storage_type(dtype); }

std::string_view CudaDialect::type(Kind kind, bool wide) const {
  switch (kind) {
    case Kind::UInt32: return "unsigned";
    case Kind::Index: return wide ? "unsigned long long" : "unsigned";
    case Kind::Offset: return wide ? "long long" : "int";
    case Kind::Int64: return "long long";
    case Kind::FastDivisor: return wide ? "FastDivisor64" : "FastDivisor";
    case Kind::FastDivisor64: return "FastDivisor64";
    case Kind::FaultWord: return "unsigned*";
    case Kind::Padding: return "void*";
    case Kind::None:
    case Kind::Element:
    case Kind::Pointer: break;
  }
  __builtin_unreachable();
}

std::string CudaDialect::literal(DType dtype, std::uint64_t bits) const { return cuda::literal(dtype, bits); }
std::string CudaDialect::comment(DType dtype, std::uint64_t bits) const { return "// " + decimal(dtype, bits); }

std::string CudaDialect::operation(Op op, DType compute, std::vector<std::string> operands) const {
  return cuda::operation(op, compute, std::move(operands));
}

std::string CudaDialect::conversion(DType, DType to, const std::string& value) const {
  return fmt::format("convert<{}>({})", value_type(to), value);
}

std::string CudaDialect::cast(std::string_view type, const std::string& value) const {
  return fmt::format("static_cast<{}>({})", type, dialects::without_parentheses(value));
}

std::string CudaDialect::pointer_cast(std::string_view type, const std::string& value) const {
  return fmt::format("reinterpret_cast<{}>({})", type, value);
}

std::string CudaDialect::call(std::string_view function, std::span<const std::string> operands) const {
  return fmt::format("{}({})", function, fmt::join(operands, ", "));
}

std::string CudaDialect::parallel(const LoopProgram& program, const Instruction& i,
                                  std::span<const std::string> operands) const {
  switch (i.code) {
    case Opcode::ThreadIdx: return "threadIdx.x";
    case Opcode::BlockIdx: return "blockIdx.x";
    case Opcode::GridDim: return "gridDim.x";
    case Opcode::BlockDim: return "blockDim.x";
    case Opcode::Div: {
      const bool is_narrow = i.type.kind == Kind::Index && !program.wide;
      return fmt::format("{}({}, {})", is_narrow ? "fast_divide" : "fast_divide64",
                         dialects::without_parentheses(operands[0]), operands[1]);
    }
    case Opcode::ShuffleXor: return fmt::format("shuffle_xor({}, {})", operands[0], i.attribute);
    case Opcode::Opaque: return fmt::format("hide_from_optimizer({})", operands[0]);
    case Opcode::Barrier: return "__syncthreads()";
    case Opcode::WarpBarrier: return std::string(warp_barrier());
    case Opcode::Shared: return fmt::format("__shared__ __align__(16) {}", storage_type(i.type.dtype));
    case Opcode::RowCache: return "row_cache";
    default: return Dialect::parallel(program, i, operands);
  }
}

std::string CudaDialect::report(const std::string& fault_word, const std::string& code) const {
  return fmt::format("report({}, {})", fault_word, code);
}

dialects::ParamText CudaDialect::param(const LoopProgram& program, const Instruction& i) const {
  if (i.type.kind != Kind::Pointer) return {"p." + i.name, ""};
  const std::string name = i.name + "_memory";
  return {name, fmt::format("{}{}* {}{} = p.{};", is_input(i) ? "const " : "", storage_type(i.type.dtype),
                            program.aliased ? "" : "__restrict__ ", name, i.name)};
}

/// Every member takes 8 bytes.
std::string CudaDialect::member_type(const Instruction& param, bool wide) const {
  const Kind kind = param.type.kind;
  if (kind == Kind::Pointer)
    return fmt::format("{}{}*", is_input(param) ? "const " : "", storage_type(param.type.dtype));
  if (kind == Kind::FaultWord || kind == Kind::Padding) return std::string(type(kind, wide));
  return fmt::format("alignas(8) {}", kind == Kind::Element ? type(param.type.dtype) : type(kind, wide));
}

std::string CudaDialect::kernel(const LoopProgram& program, const std::string& body) const {
  std::string params;
  for (const Instruction& i : program.code)
    if (i.code == Opcode::Param) params += fmt::format("  {} {};\n", member_type(i, program.wide), i.name);
  // Always request at least one block: without the argument, ptxas may spill to raise occupancy.
  const std::string own = fmt::format(
      "namespace sinter {{\n\nstruct {0}_params {{\n{1}}};\n\nSINTER_DEVICE void run(const {0}_params& p) {{\n{2}}}\n\n"
      "}}  // namespace sinter\n\n"
      "extern \"C\" __global__ void __launch_bounds__({3}, {4}) {0}({5} sinter::{0}_params p) {{\n"
      "  sinter::run(p);\n}}\n",
      program.name, params, body, program.max_threads_per_block, min_blocks_argument(program), param_qualifiers());
  std::set<FunctionId> called;
  for (const Instruction& i : program.code)
    if (i.code == Opcode::Elementwise && i.op == Op::call) called.insert(FunctionId{i.attribute});
  const bool uses_row_cache =
      std::ranges::any_of(program.code, [](const Instruction& i) { return i.code == Opcode::RowCache; });
  const std::string functions = without_header_names(definitions(called, "static __device__ inline"));
  return prelude(own) + functions +
         (uses_row_cache ? "extern __shared__ __align__(16) unsigned char row_cache[];\n\n" : "") + own;
}

std::string CudaDialect::prelude(std::string_view text) const {
  return "namespace sinter {\n\n" + prelude_for(text) + "}  // namespace sinter\n\n";
}

}  // namespace sinter::inline v1::jit::cuda
