// Expressions known only at run time: built by a loop, parsed from text, or from another language.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// A node of a lazily built graph; immutable, and shared by everything built on it. Destroying a long chain does not
/// recurse.
class LazyNode : public runtime::Counted<LazyNode> {
 public:
  static void destroy(LazyNode* node) noexcept;
  DType dtype() const noexcept;
  Device device() const noexcept;

 private:
  friend struct LazyAccess;
  LazyNode();
  struct State;
  State* state_;
};
using LazyRef = runtime::Ref<LazyNode>;

struct Recorded;

/// The gradients with respect to a computation's inputs, in their order, for the gradient of its result; null for an
/// input that has none. Each is an expression of the input's shape and dtype, or one that broadcasts to the shape.
/// Copies share the function, which is called as const.
class Pullback {
 public:
  Pullback() = default;
  template <class F>
    requires std::is_invocable_r_v<std::vector<LazyRef>, const F&, const LazyRef&>
  Pullback(F function) : function_(std::make_shared<const Of<F>>(std::move(function))) {}

  explicit operator bool() const noexcept { return function_ != nullptr; }
  std::vector<LazyRef> operator()(const LazyRef& gradient) const { return function_->call(gradient); }

 private:
  // Not a std::function: every file of a user would compile <functional>, a tenth of the time of Sinter's headers.
  struct Function {
    virtual ~Function() = default;
    virtual std::vector<LazyRef> call(const LazyRef& gradient) const = 0;
  };
  template <class F>
  struct Of final : Function {
    explicit Of(F f) : function(std::move(f)) {}
    std::vector<LazyRef> call(const LazyRef& gradient) const override { return function(gradient); }
    F function;
  };
  std::shared_ptr<const Function> function_;
};

/// What a leaf is a view of: the result of a computation, through which gradients flow to its inputs.
struct Origin {
  std::vector<LazyRef> inputs;
  Pullback pullback;  // empty if the result is the value of the only input
  runtime::TensorRef result;
};

/// A tensor as a lazy expression. Evaluating throws Error if the tensor was written to in between.
LazyRef lazy(runtime::TensorImpl& leaf);
/// A view of a computation's result as a lazy expression, through which gradients flow. A value keeps what it was
/// computed from for this, up to max_history such results back.
LazyRef lazy(runtime::TensorImpl& leaf, Origin origin);
inline constexpr std::uint32_t max_history = 512;
/// A result whose address the program took (numpy(), data()) may be written to, so what is computed from it later reads
/// a copy. These copies, one of which the other is computed from, and what only they are computed from, hold at most
/// about this many bytes; what comes before them is forgotten.
inline constexpr std::uint64_t max_history_bytes = std::uint64_t{256} << 20;
/// The tensor of a leaf that was computed, if nothing else refers to it: its last owner need not copy it. Else null.
runtime::TensorRef uniquely_owned_result(const LazyRef& value);
/// The tensor of a lazy leaf under a name, which explain() shows; any other value as it is.
LazyRef named(const LazyRef& value, std::string_view name);
/// A C++ scalar: weak in promotion, a parameter of the kernel.
LazyRef lazy(Scalar value, Category category);
/// A typed tree (one output) with its current leaves.
LazyRef lazy(const Bound& tree);
/// A recorded expression (one output).
LazyRef lazy(const Recorded& recorded);
/// For each of its outputs.
std::vector<LazyRef> lazy_outputs(const Recorded& recorded);
/// Throws DTypeError, DeviceError. Past max_lazy_nodes operations the oldest part is evaluated first.
LazyRef lazy(Op op, std::span<const LazyRef> operands);
/// A reduction along these axes.
LazyRef lazy(Op op, std::span<const LazyRef> operands, ReduceAxes along);
LazyRef lazy_cast(const LazyRef& a, DType dtype);
/// A call of a device function, one of whose operands is a tensor or an expression. Throws DTypeError, DeviceError.
LazyRef lazy_call(FunctionId function, std::span<const LazyRef> operands);
/// The elements of an array at `offset` (int64), counted in elements from its first one. Throws DeviceError.
LazyRef lazy_load(runtime::TensorImpl& array, const LazyRef& offset);
/// As lazy_load(TensorImpl&, ...), for an array that is a lazy leaf.
LazyRef lazy_load(const LazyRef& array, const LazyRef& offset);

inline constexpr int max_lazy_nodes = 16384;

/// The graph of a value, for making another value from it, such as a view. Past max_copied_nodes operations the value
/// is evaluated first and the graph is a leaf, so a loop that views what it grows stays bounded.
Recorded record_for_copy(const LazyRef& value);
inline constexpr int max_copied_nodes = 256;

void evaluate(std::span<const LazyRef> values, runtime::TensorRef* outputs, Mode mode = Mode::Fused);
runtime::TensorRef evaluate_one(const LazyRef& value);

}  // namespace sinter::inline v1::jit
