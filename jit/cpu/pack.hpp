// Packing strided elements into contiguous memory, and unpacking.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// The dims [first, end) of a nest, which form a row.
struct RowDims {
  int first, end;
};

/// Copies the elements [first, first + n), n > 0, of the row that starts at `row` to contiguous ones at `to`. The row
/// has them all.
void pack(void* to, const std::byte* row, std::size_t size, const LoopNest& nest, RowDims dims,
          const NestOperand& operand, std::int64_t first, std::int64_t n);
/// pack() for several rows, `pitch` elements apart at `to`. If adjacent rows are adjacent in memory, each cache line,
/// which holds elements of many rows, is read once.
void pack_panel(void* to, std::int64_t pitch, const std::byte* row, std::size_t size, std::int64_t rows,
                std::int64_t row_stride, std::int64_t stride, std::int64_t n);
/// The inverse.
void unpack(std::byte* row, const void* from, std::size_t size, const LoopNest& nest, RowDims dims,
            const NestOperand& operand, std::int64_t first, std::int64_t n);
/// The offsets of these elements, as an iota's values.
void pack_index(std::int64_t* to, std::int64_t row, const LoopNest& nest, RowDims dims, const NestOperand& operand,
                std::int64_t first, std::int64_t n);
/// Copies each element to `times` adjacent ones, n in all: a multiple of `times`.
void repeat(void* to, const std::byte* from, std::size_t size, std::int64_t times, std::int64_t n);

}  // namespace sinter::inline v1::jit::cpu
