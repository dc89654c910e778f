// Elements of operands that do not lie in neighbouring places, to neighbouring ones and back.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// The elements [first, first + n) of the row that starts at `row` to neighbouring ones at `to`.
void pack(void* to, const std::byte* row, std::size_t size, const LoopNest& nest, int split, const NestOperand& operand,
          std::int64_t first, std::int64_t n);
/// The same of several rows, `pitch` elements apart at `to`. Where neighbouring rows are neighbours in memory, a cache
/// line holds elements of many rows: it is read once.
void pack_panel(void* to, std::int64_t pitch, const std::byte* row, std::size_t size, std::int64_t rows,
                std::int64_t row_stride, std::int64_t stride, std::int64_t n);
/// The other way.
void unpack(std::byte* row, const void* from, std::size_t size, const LoopNest& nest, int split,
            const NestOperand& operand, std::int64_t first, std::int64_t n);
/// The offsets of those elements, as an index operand's values.
void pack_index(std::int64_t* to, std::int64_t row, const LoopNest& nest, int split, const NestOperand& operand,
                std::int64_t first, std::int64_t n);

}  // namespace sinter::inline v1::jit::cpu
