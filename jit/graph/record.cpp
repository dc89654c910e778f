// Postfix bytes to a graph: a stack machine over operands.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <sinter/jit/device_function.hpp>
#include <sinter/jit/graph.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {

namespace {

class Recorder {
 public:
  Recorder(const Program& program, std::span<const DType> dtypes, std::span<const std::uint16_t> same_as,
           std::span<const bool> lacks_memory, std::span<const Scalar> scalars)
      : program_(program), dtypes_(dtypes), same_as_(same_as), lacks_memory_(lacks_memory), scalars_(scalars) {}

  Graph run() {
    check(dtypes_.size() >= program_.leaves && same_as_.size() >= program_.leaves, "has leaves that were not given");
    check(lacks_memory_.empty() || lacks_memory_.size() >= program_.leaves, "has leaves that were not given");
    leaf_nodes_.resize(program_.leaves);
    array_nodes_.resize(program_.leaves);
    graph_.reserve(program_.code.size(), program_.code.size());
    while (at_ < program_.code.size()) step(byte());
    check(stack_.size() == program_.outputs && program_.outputs > 0,
          "leaves a number of values that differs from its outputs");
    check(names_.empty(), "binds a name and does not unbind it");
    for (Operand o : stack_) graph_.output(value(o));
    return std::move(graph_);
  }

 private:
  void check(bool ok, std::string_view what) const {
    if (!ok) throw Error(fmt::format("malformed program: byte {} of {} {}", at_, program_.code.size(), what));
  }

  std::uint8_t byte() {
    check(at_ < program_.code.size(), "is missing");
    return program_.code[at_++];
  }

  DType dtype() {
    const std::uint8_t b = byte();
    check(b < dtype_count, "names a dtype that does not exist");
    return static_cast<DType>(b);
  }

  Operand pop() {
    check(!stack_.empty(), "takes a value that is not there");
    const Operand top = stack_.back();
    stack_.pop_back();
    return top;
  }

  /// An operand that is not an array.
  Operand value(Operand o) const {
    check(graph_[o].op != Op::array, "uses an array as a value");
    return o;
  }

  void step(std::uint8_t code) {
    switch (code) {
      case static_cast<std::uint8_t>(Op::leaf): return push_leaf(byte());
      case static_cast<std::uint8_t>(Op::iota): return push_leaf(static_cast<std::uint8_t>(DType::Int64));
      case static_cast<std::uint8_t>(Op::array): return push_array(byte());
      case static_cast<std::uint8_t>(Op::load): {
        const Operand offset = pop(), array = pop();
        check(graph_[array].op == Op::array && graph_[offset].dtype == DType::Int64,
              "loads from something other than an array");
        return stack_.push_back(graph_.load(array, offset));
      }
      case static_cast<std::uint8_t>(Op::scalar): return push_scalar(byte());
      case static_cast<std::uint8_t>(Op::constant): return push_constant(dtype());
      case static_cast<std::uint8_t>(Code::integer):
        return stack_.push_back(
            graph_.constant(DType::Int64, static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(byte())})));
      case static_cast<std::uint8_t>(Op::cast): {
        const DType to = dtype();
        return stack_.push_back(graph_.explicit_cast(value(pop()), to));
      }
      case static_cast<std::uint8_t>(Op::call): return call();
      case static_cast<std::uint8_t>(Code::bind): return names_.push_back(pop());
      case static_cast<std::uint8_t>(Code::reference): {
        const std::uint8_t name = byte();
        check(name < names_.size(), "refers to a name that is not bound");
        return stack_.push_back(names_[name]);
      }
      case static_cast<std::uint8_t>(Code::unbind):
        check(!names_.empty(), "unbinds a name that is not bound");
        return names_.pop_back();
      default:
        check(code < static_cast<std::uint8_t>(Op::broadcast_like), "is not a code");
        return apply(static_cast<Op>(code));
    }
  }

  /// The next leaf's number: that of the first leaf that is the same array.
  std::uint16_t next_leaf(std::uint8_t written) {
    check(leaf_ < program_.leaves, "refers to more leaves than the program has");
    const std::uint16_t first = same_as_[leaf_];
    const DType dtype = dtypes_[leaf_];
    check(first <= leaf_ && same_as_[first] == first && dtypes_[first] == dtype,
          "is a leaf whose same_as entry is invalid");
    check(written == any_dtype || written == static_cast<std::uint8_t>(dtype),
          "is a leaf whose dtype differs from the given one");
    ++leaf_;
    return first;
  }

  bool lacks_memory(std::uint16_t leaf) const { return !lacks_memory_.empty() && lacks_memory_[leaf]; }

  void push_leaf(std::uint8_t written) {
    const std::uint16_t first = next_leaf(written);
    Operand& known = leaf_nodes_[first];
    if (known.node < 0) {
      known = lacks_memory(first) ? without_memory(first) : graph_.leaf(dtypes_[first], first);
    }
    stack_.push_back(known);
  }

  /// An iota tensor, or an absent addend.
  Operand without_memory(std::uint16_t leaf) {
    if (dtypes_[leaf] == DType::Int64) return graph_.iota(leaf);
    check(category(dtypes_[leaf]) == Category::Float, "is an index that is not int64");
    absent_.push_back(graph_.constant(dtypes_[leaf], absent_addend_bits(dtypes_[leaf])));
    return absent_.back();
  }

  /// The other operand of a sum with an absent addend. It is dropped here, since products are scheduled on the graph
  /// before simplification.
  std::optional<Operand> without_absent(std::span<const Operand> operands) const {
    for (std::size_t i = 0; i < 2; ++i)
      if (std::ranges::find(absent_, operands[i]) != absent_.end() &&
          graph_[operands[1 - i]].dtype == graph_[operands[i]].dtype)
        return operands[1 - i];
    return std::nullopt;
  }

  void push_array(std::uint8_t written) {
    const std::uint16_t first = next_leaf(written);
    check(!lacks_memory(first), "is an array without memory");
    Operand& known = array_nodes_[first];
    if (known.node < 0) known = graph_.array(dtypes_[first], first);
    stack_.push_back(known);
  }

  std::uint16_t next_scalar() {
    check(scalar_ < program_.scalars, "refers to more scalars than the program has");
    return scalar_++;
  }

  void push_scalar(std::uint8_t category) {
    check(category <= static_cast<std::uint8_t>(Category::Float), "names a category that does not exist");
    const auto c = static_cast<Category>(category);
    stack_.push_back(graph_.scalar(default_dtype(c), c, next_scalar()));
  }

  void push_constant(DType dtype) {
    check(!is_complex(dtype), "is a constant of a complex dtype");
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(byte()) << (8 * i);
    // Bits past the dtype's size would make equal constants differ.
    stack_.push_back(graph_.constant(dtype, convert_bits(bits, dtype, dtype)));
  }

  std::uint64_t next_attribute() {
    const std::uint16_t number = next_scalar();
    check(number < scalars_.size(), "has an attribute that was not given");
    return scalars_[number].bits;
  }

  void apply(Op op) {
    const std::span<const Operand> operands = top(info(op).arity);
    const std::optional<Operand> other = op == Op::add ? without_absent(operands) : std::nullopt;
    const ReduceAxes along = is_reduction(op) ? ReduceAxes::of(next_attribute()) : ReduceAxes();
    replace_top(operands.size(), other ? *other : graph_.apply(op, operands, along));
  }

  void call() {
    const FunctionId function{next_attribute()};
    const std::span<const Operand> operands = top(source_of(function).parameters.size());
    replace_top(operands.size(), graph_.call(function, operands));
  }

  /// The last values on the stack.
  std::span<const Operand> top(std::size_t count) const {
    check(stack_.size() >= count, "takes a value that is not there");
    const std::span<const Operand> operands(stack_.data() + (stack_.size() - count), count);
    for (const Operand o : operands) value(o);
    return operands;
  }
  void replace_top(std::size_t count, Operand by) {
    stack_.resize(stack_.size() - count);
    stack_.push_back(by);
  }

  const Program& program_;
  std::span<const DType> dtypes_;
  std::span<const std::uint16_t> same_as_;
  std::span<const bool> lacks_memory_;
  std::span<const Scalar> scalars_;
  std::size_t at_ = 0;
  std::uint16_t leaf_ = 0;
  std::uint16_t scalar_ = 0;
  std::vector<Operand> leaf_nodes_, array_nodes_;  // by leaf number
  std::vector<Operand> stack_;
  std::vector<Operand> names_;
  std::vector<Operand> absent_;  // absent addends
  Graph graph_;
};

}  // namespace

Graph record(const Program& program, std::span<const DType> dtypes, std::span<const std::uint16_t> same_as,
             std::span<const bool> lacks_memory, std::span<const Scalar> scalars) {
  return Recorder(program, dtypes, same_as, lacks_memory, scalars).run();
}

}  // namespace sinter::inline v1::jit
