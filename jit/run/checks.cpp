#include "checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <runtime/different_devices.hpp>
#include <sinter/runtime/error.hpp>
#include "../graph/arguments.hpp"
#include "../infer/check_shapes.hpp"
#include "../plan/overlap.hpp"
#include "memory_index.hpp"

namespace sinter::inline v1::jit {

using runtime::TensorImpl;

Shape output_shape(const CompiledGraph& compiled, std::size_t output, Leaves leaves) {
  if (compiled.depends_on_shapes()) return output_shape(compiled.graph(), compiled.graph().outputs()[output], leaves);
  return broadcast_shape(compiled.graph(), compiled.leaves(output), leaves);
}

namespace {

void check_operation(const CompiledGraph::ConstrainedOperation& operation, const Scalar* scalars) {
  std::array<std::optional<double>, max_arity> numbers;
  std::size_t count = 0;
  for (const auto& [scalar, constant] : operation.operands)
    numbers[count++] = scalar ? number_of(scalars[scalar->number].bits, arriving_dtype(scalar->arrives_as)) : constant;
  check_arguments(operation.op, std::span(numbers).first(count));
}

[[noreturn]] void throw_outputs_overlap(const runtime::TensorImpl& a, std::size_t i, const runtime::TensorImpl& b,
                                        std::size_t j) {
  throw Error(fmt::format(
      "unsupported operation: two outputs of one evaluation share memory\n  output {} is {}, strides {}\n  output {} "
      "is {}, strides {}\n  Write to tensors that do not overlap, or evaluate them one after the other",
      i, runtime::describe(a), to_string(a.strides), j, runtime::describe(b), to_string(b.strides)));
}

}  // namespace

void check_scalars(const CompiledGraph& compiled, const Scalar* scalars) {
  for (const auto [number, dtype] : compiled.narrow_scalars())
    check_fits(static_cast<std::int64_t>(scalars[number].bits), dtype);
  for (const CompiledGraph::ConstrainedOperation& operation : compiled.constrained_operations())
    check_operation(operation, scalars);
}

void check_castable(DType from, const TensorImpl& to) {
  if (can_cast(from, to.dtype)) return;
  throw DTypeError(
      fmt::format("result type {0} can't be cast to the desired output type {1}\n  the output is {2}\n  Convert "
                  "the result first, with .to<...>() or cast<...>(...), or write it to a {0} tensor",
                  name(from), name(to.dtype), runtime::describe(to)));
}

void check_output(const TensorImpl& to, const Shape& shape, Device device) {
  if (to.device != device)
    runtime::throw_different_devices(
        device, to.device,
        fmt::format("the output is {}, but the operands are on {}", runtime::describe(to), to_string(device)),
        fmt::format("Move the operands with .to(\"{}\"), or write to a tensor on {}", to_string(to.device),
                    to_string(device)));
  Shape merged = shape;
  if (!(shape == to.shape) && !(broadcast(merged, to.shape) && merged == to.shape))
    throw ShapeError(
        fmt::format("output with shape {} doesn't match the broadcast shape {}\n  the output is {}\n  An output "
                    "must have the result's shape, or one that the result broadcasts to",
                    to_string(to.shape), to_string(shape), runtime::describe(to)));
  if (runtime::lacks_memory(to))
    throw Error(fmt::format("{} is an iota tensor: it has no memory and cannot be written to", runtime::describe(to)));
  if (overlaps_itself(to))
    throw Error(
        fmt::format("unsupported operation: more than one element of the written-to tensor refers to a single memory "
                    "location\n  the output is {}, strides {}\n  Write to a contiguous copy of it instead",
                    runtime::describe(to), to_string(to.strides)));
}

void check_outputs_disjoint(std::span<const runtime::TensorRef> outputs) {
  if (outputs.size() < 2) return;
  boost::container::small_vector<TensorImpl*, 16> arrays;
  for (const runtime::TensorRef& t : outputs) arrays.push_back(t.get());
  const MemoryIndex index({arrays.data(), arrays.size()});
  for (std::size_t j = 1; j < arrays.size(); ++j)
    if (arrays[j])
      index.any_candidate(*arrays[j], [&](std::size_t i) {
        if (i < j && overlap_as_targets(*arrays[i], *arrays[j])) throw_outputs_overlap(*arrays[i], i, *arrays[j], j);
        return false;
      });
}

}  // namespace sinter::inline v1::jit
