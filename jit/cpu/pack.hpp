// Packing strided elements into contiguous memory, and unpacking.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// Copies the elements [first, first + n), n > 0, of the row that starts at `row` to contiguous ones at `to`. The row
/// has them all: it consists of the dims from first_row_dim on.
void pack(void* to, const std::byte* row, std::size_t size, const LoopNest& nest, int first_row_dim,
          const NestOperand& operand, std::int64_t first, std::int64_t n);
/// pack() for several rows, `pitch` elements apart at `to`. If adjacent rows are adjacent in memory, each cache line,
/// which holds elements of many rows, is read once.
void pack_panel(void* to, std::int64_t pitch, const std::byte* row, std::size_t size, std::int64_t rows,
                std::int64_t row_stride, std::int64_t stride, std::int64_t n);
/// The inverse.
void unpack(std::byte* row, const void* from, std::size_t size, const LoopNest& nest, int first_row_dim,
            const NestOperand& operand, std::int64_t first, std::int64_t n);
/// The offsets of these elements, as an iota's values.
void pack_index(std::int64_t* to, std::int64_t row, const LoopNest& nest, int first_row_dim, const NestOperand& operand,
                std::int64_t first, std::int64_t n);

}  // namespace sinter::inline v1::jit::cpu
