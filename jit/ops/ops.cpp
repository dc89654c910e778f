#include <sinter/jit/ops.hpp>

namespace sinter::inline v1 {
namespace {

struct OpText {
  std::string_view body, doc;
};

OpText text(Op op) noexcept {
  switch (op) {
    case Op::cast:
      return {"convert<T>(a)", "a converted to another dtype; floats to integers truncate and saturate, NaN becomes 0"};
    case Op::matmul: return {"", "the matrix product of a and b"};
#define SINTER_OP(name, arity, rule, cost, traits, body, derivative, doc) \
  case Op::name: return {#body, doc};
#define SINTER_COMPOSITE_OP(name, arity, rule, body, derivative, doc) \
  case Op::name: return {#body, doc};
#include "ops.def"
#define SINTER_REDUCTION(name, arity, rule, identity, combine, derivative, doc) \
  case Op::name: return {#combine, doc};
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind, body, derivative, doc) \
  case Op::name: return {#body, doc};
#include "reductions.def"
    default: return {};
  }
}

}  // namespace

std::string_view doc(Op op) noexcept { return text(op).doc; }
std::string_view body(Op op) noexcept { return text(op).body; }

}  // namespace sinter::inline v1
