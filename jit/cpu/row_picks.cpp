#include "row_picks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "row_worker.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

bool is_zero(const Node& n) { return n.op == Op::constant && n.attribute == 0; }
bool is_over_domain(const Kernel& kernel, const Node& leaf) {
  return kernel.rows->axis_mapping[kernel.outputs.size() + leaf.attribute] == AxisMapping::Domain;
}

/// The index that a number counts, whatever its dtype; no node if it is none.
std::optional<Operand> index_of(const Kernel& kernel, Operand number) {
  const Graph& graph = kernel.graph;
  if (graph[number].op == Op::cast) number = graph.operands(graph[number])[0];
  const Node& n = graph[number];
  return n.op == Op::iota && is_over_domain(kernel, n) ? std::optional(number) : std::nullopt;
}

double element_at(const std::byte* array, std::int64_t offset, DType dtype) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, array + offset * static_cast<std::int64_t>(sizeof value), sizeof value);
    return static_cast<double>(value);
  };
  switch (dtype) {
    case DType::Float16: return read(half());
    case DType::BFloat16: return read(bfloat16());
    case DType::Float32: return read(float());
    default: return read(double());
  }
}

}  // namespace

Operand in_memory(const Graph& graph, Operand elements) {
  const Node& n = graph[elements];
  if (n.op != Op::cast || n.dtype != DType::Float32) return elements;
  const Operand from = graph.operands(n)[0];
  const Node& leaf = graph[from];
  const bool is_half = leaf.dtype == DType::Float16 || leaf.dtype == DType::BFloat16;
  return is_half && leaf.op == Op::leaf ? from : elements;
}

std::optional<PickedElement> picked_element(const Kernel& kernel, const RowStages& stages, const Node& reduction) {
  const Graph& graph = kernel.graph;
  const bool is_of_floats = reduction.dtype == DType::Float32 || reduction.dtype == DType::Float64;
  if (reduction.op != Op::sum || !is_of_floats) return std::nullopt;
  const Node& choice = graph[graph.operands(reduction)[0]];
  if (choice.op != Op::where || !is_zero(graph[graph.operands(choice)[2]])) return std::nullopt;
  const Node& condition = graph[graph.operands(choice)[0]];
  const Operand element = in_memory(graph, graph.operands(choice)[1]);
  const bool is_leaf = graph[element].op == Op::leaf && is_over_domain(kernel, graph[element]);
  if (condition.op != Op::eq || !is_leaf) return std::nullopt;
  const Operand a = graph.operands(condition)[0], b = graph.operands(condition)[1];
  for (const auto& [position, number] : {std::pair(a, b), std::pair(b, a)}) {
    const DType dtype = graph[position].dtype;
    const bool is_integer = dtype == DType::Int32 || dtype == DType::Int64;
    const std::optional<Operand> column = index_of(kernel, number);
    if (column && is_integer && stages.is_per_row(position) && graph[position].arity > 0)
      return PickedElement{element, *column, position};
  }
  return std::nullopt;
}

/// One row's sum: of the element whose column is `position`, or of several if columns repeat.
double RowWorker::picked(const RowPick& p, std::int64_t row_offset, std::int64_t first_column,
                         std::int64_t position) const {
  const LoopNest& nest = job_->nest;
  const NestOperand &element = nest.operands[p.element], &column = nest.operands[p.column];
  const int inner = nest.ndim - 1, rows = nest.row_dims();
  const std::int64_t step = column.strides[inner], last = first_column + step * (nest.extents[inner] - 1);
  const auto [least, most] = std::minmax(first_column, last);
  const bool counts = inner == rows && step != 0 && (!p.is_narrow || std::in_range<std::int32_t>(last));
  if (counts) {
    if (nest.extents[inner] == 0 || position < least || position > most) return 0;
    const std::int64_t distance = position - first_column;
    if (distance % step != 0) return 0;
    return 0 + element_at(element.data, row_offset + distance / step * element.strides[inner], p.dtype);
  }
  long double sum = 0;
  for (std::int64_t i = 0; i < job_->columns; ++i) {
    std::int64_t number = first_column, offset = row_offset, left = i;
    for (int d = inner; d >= rows; left /= nest.extents[d--]) {
      number += left % nest.extents[d] * column.strides[d];
      offset += left % nest.extents[d] * element.strides[d];
    }
    if ((p.is_narrow ? static_cast<std::int32_t>(number) : number) == position)
      sum += static_cast<long double>(element_at(element.data, offset, p.dtype));
  }
  return static_cast<double>(sum);
}

void RowWorker::pick(const RowPick& p, const Box& box) {
  const LoopNest& nest = job_->nest;
  const NestOperand &element = nest.operands[p.element], &column = nest.operands[p.column];
  const std::byte* const positions = memory_.rows + job_->rows[p.position];
  std::byte* const results = memory_.rows + job_->rows[p.result];
  for (std::int64_t row = 0; row < box.rows; ++row) {
    std::int64_t offset = 0, number = column.first, left = row;
    for (int d = nest.row_dims(); d-- > 0; left /= box.extent[d]) {
      const std::int64_t at = box.first[d] + left % box.extent[d];
      offset += at * element.strides[d];
      number += at * column.strides[d];
    }
    std::int64_t wide;
    std::int32_t narrow;
    std::memcpy(&wide, positions + row * 8, p.is_narrow ? 0 : 8);
    std::memcpy(&narrow, positions + row * 4, p.is_narrow ? 4 : 0);
    const double sum = picked(p, offset, number, p.is_narrow ? narrow : wide);
    if (const auto rounded = static_cast<float>(sum); p.dtype != DType::Float64)
      std::memcpy(results + row * 4, &rounded, 4);
    else
      std::memcpy(results + row * 8, &sum, 8);
  }
}

}  // namespace sinter::inline v1::jit::cpu
