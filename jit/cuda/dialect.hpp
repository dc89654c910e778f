// The loop IR as CUDA source; HIP shares it except for the overrides in HipDialect. The source needs no header; its
// entry point is LoopProgram::name, whose one parameter is a struct of 8-byte words in the order of the program's
// Params.
#pragma once
#include "../dialects/dialect.hpp"

namespace sinter::inline v1::jit::cuda {

class CudaDialect : public dialects::Dialect {
 public:
  std::string_view type(DType dtype) const final;
  std::string_view memory_type(DType dtype) const final;
  std::string_view type(loops::Kind kind, bool wide) const final;
  std::string literal(DType dtype, std::uint64_t bits) const final;
  std::string comment(DType dtype, std::uint64_t bits) const final;
  std::string operation(Op op, DType compute, std::vector<std::string> operands) const final;
  std::string conversion(DType from, DType to, const std::string& value) const final;
  std::string cast(std::string_view type, const std::string& value) const final;
  std::string pointer_cast(std::string_view type, const std::string& value) const final;
  std::string call(std::string_view function, std::span<const std::string> operands) const final;
  std::string parallel(const loops::LoopProgram& program, const loops::Instruction& i,
                       std::span<const std::string> operands) const final;
  std::string report(const std::string& fault_word, const std::string& code) const final;
  dialects::ParamText param(const loops::LoopProgram& program, const loops::Instruction& param) const final;
  std::string kernel(const loops::LoopProgram& program, const std::string& body) const final;

 protected:
  virtual std::string_view warp_barrier() const { return "__syncwarp()"; }
  /// The second argument of __launch_bounds__.
  virtual int min_blocks_argument(const loops::LoopProgram& program) const {
    return program.min_blocks_per_multiprocessor;
  }
  /// Qualifiers of a kernel's parameter, which is never written.
  virtual std::string_view param_qualifiers() const { return "const __grid_constant__"; }
  /// The declarations that precede the kernel `text`.
  virtual std::string prelude(std::string_view text) const;

 private:
  std::string member_type(const loops::Instruction& param, bool wide) const;
};

}  // namespace sinter::inline v1::jit::cuda
