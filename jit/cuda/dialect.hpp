// What CUDA calls things. The text needs no header; its entry is loops.name, whose one parameter is a struct of 8-byte
// words in the order of the program's Params.
#pragma once
#include "../dialects/dialect.hpp"

namespace sinter::inline v1::jit::cuda {

class CudaDialect final : public dialects::Dialect {
 public:
  std::string_view type(DType dtype) const override;
  std::string_view memory_type(DType dtype) const override;
  std::string_view type(loops::Kind kind, bool wide) const override;
  std::string literal(DType dtype, std::uint64_t bits) const override;
  std::string comment(DType dtype, std::uint64_t bits) const override;
  std::string operation(Op op, DType compute, std::vector<std::string> operands) const override;
  std::string conversion(DType from, DType to, const std::string& value) const override;
  std::string cast(std::string_view type, const std::string& value) const override;
  std::string pointer_cast(std::string_view type, const std::string& value) const override;
  std::string call(std::string_view function, std::span<const std::string> operands) const override;
  std::string parallel(const loops::Loops& loops, const loops::Instruction& i,
                       std::span<const std::string> operands) const override;
  std::string report(const std::string& fault_word, const std::string& code) const override;
  dialects::ParamText param(const loops::Loops& loops, const loops::Instruction& param) const override;
  std::string kernel(const loops::Loops& loops, const std::string& body) const override;

 private:
  std::string member_type(const loops::Instruction& param, bool wide) const;
};

}  // namespace sinter::inline v1::jit::cuda
