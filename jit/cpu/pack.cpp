#include "pack.hpp"

#include <algorithm>
#include <cstring>

#include "isa.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

// Elements of one size, whatever their type.
using Word1 = std::uint8_t;
using Word2 [[gnu::may_alias]] = std::uint16_t;
using Word4 [[gnu::may_alias]] = std::uint32_t;
using Word8 [[gnu::may_alias]] = std::uint64_t;
struct [[gnu::may_alias]] Word16 {
  std::uint64_t halves[2];
};
constexpr std::int64_t worth_call = 16;  // elements, from which on a loop of the table is called

/// The loop for elements of this size, of one for each of 2, 4 and 8 bytes.
template <class T>
Loop loop_of(Memory of_2, Memory of_4, Memory of_8) {
  return memory_loops(loop_table(), sizeof(T) == 2 ? of_2 : sizeof(T) == 4 ? of_4 : of_8).forms[0];
}
template <class T>
inline constexpr bool has_loop = sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;

template <class T>
void take_every_second(T* to, const T* from, std::int64_t n) {
  if (has_loop<T> && n >= worth_call) {
    const void* const in[] = {from};
    return loop_of<T>(Memory::EverySecond2, Memory::EverySecond4, Memory::EverySecond8)(to, in, n);
  }
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
}

template <class T>
void panel_as(T* to, std::int64_t pitch, const T* from, std::int64_t rows, std::int64_t row_stride, std::int64_t stride,
              std::int64_t n) {
  if constexpr (has_loop<T>)
    if (row_stride == 1) {
      const PanelCall call{from, rows, stride, pitch};
      const void* const in[] = {&call};
      return loop_of<T>(Memory::Transpose2, Memory::Transpose4, Memory::Transpose8)(to, in, n);
    }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t r = 0; r < rows; ++r) to[r * pitch + i] = from[r * row_stride + i * stride];
}

/// Calls f(offset, stride, count, done) for the runs of equally distant elements that make up [first, first + n) of a
/// row: of the innermost dim, or of several that the operand has one stride over.
template <class F>
void for_runs(const LoopNest& nest, RowDims dims, const NestOperand& o, std::int64_t first, std::int64_t n, F f) {
  int inner = dims.end - 1;
  const std::int64_t stride = o.strides[inner];
  std::int64_t run = nest.extents[inner];
  for (; inner > dims.first && o.strides[inner - 1] == run * stride; run *= nest.extents[inner]) --inner;
  const auto extent = [&](int d) { return d == inner ? run : nest.extents[d]; };
  const auto step = [&](int d) { return d == inner ? stride : o.strides[d]; };
  std::int64_t at[max_dims] = {}, offset = 0;
  for (int d = inner; d >= dims.first; --d) {
    at[d] = d == dims.first ? first : first % extent(d);
    first /= extent(d);
    offset += at[d] * step(d);
  }
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t left = run - at[inner], count = left < n - done ? left : n - done;
    f(offset, stride, count, done);
    done += count;
    offset += count * stride;
    at[inner] += count;
    for (int d = inner; d > dims.first && at[d] == extent(d); --d) {
      offset += o.strides[d - 1] - at[d] * step(d);
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

template <class T>
void pack_as(T* to, const T* row, const LoopNest& nest, RowDims dims, const NestOperand& o, std::int64_t first,
             std::int64_t n) {
  if constexpr (has_loop<T>)
    if (const int inner = dims.end - 1; inner == dims.first + 1 && o.strides[inner] == 0) {
      const RepeatCall call{row, o.strides[dims.first], nest.extents[inner], first};
      const void* const in[] = {&call};
      return loop_of<T>(Memory::Repeat2, Memory::Repeat4, Memory::Repeat8)(to, in, n);
    }
  for_runs(nest, dims, o, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             const T* from = row + offset;
             T* t = to + done;
             if (stride == 0)
               for (std::int64_t i = 0; i < count; ++i) t[i] = *from;
             else if (stride == 1)
               std::memcpy(t, from, static_cast<std::size_t>(count) * sizeof(T));
             else if (stride == 2)
               take_every_second(t, from, count);
             else
               for (std::int64_t i = 0; i < count; ++i) t[i] = from[i * stride];
           });
}
template <class T>
void unpack_as(T* row, const T* from, const LoopNest& nest, RowDims dims, const NestOperand& o, std::int64_t first,
               std::int64_t n) {
  for_runs(nest, dims, o, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             T* to = row + offset;
             const T* f = from + done;
             if (stride == 1)
               std::memcpy(to, f, static_cast<std::size_t>(count) * sizeof(T));
             else
               for (std::int64_t i = 0; i < count; ++i) to[i * stride] = f[i];
           });
}
template <class T>
void repeat_as(T* to, const T* from, std::int64_t times, std::int64_t n) {
  if constexpr (has_loop<T>) {
    const RepeatCall call{from, 1, times, 0};
    const void* const in[] = {&call};
    loop_of<T>(Memory::Repeat2, Memory::Repeat4, Memory::Repeat8)(to, in, n);
  } else {
    for (const T* const end = to + n; to != end; to += times) std::fill_n(to, times, *from++);
  }
}

}  // namespace

void pack(void* to, const std::byte* row, std::size_t size, const LoopNest& nest, RowDims dims,
          const NestOperand& operand, std::int64_t first, std::int64_t n) {
  switch (size) {
    case 1: return pack_as(static_cast<Word1*>(to), reinterpret_cast<const Word1*>(row), nest, dims, operand, first, n);
    case 2: return pack_as(static_cast<Word2*>(to), reinterpret_cast<const Word2*>(row), nest, dims, operand, first, n);
    case 4: return pack_as(static_cast<Word4*>(to), reinterpret_cast<const Word4*>(row), nest, dims, operand, first, n);
    case 8: return pack_as(static_cast<Word8*>(to), reinterpret_cast<const Word8*>(row), nest, dims, operand, first, n);
    default:
      return pack_as(static_cast<Word16*>(to), reinterpret_cast<const Word16*>(row), nest, dims, operand, first, n);
  }
}

void repeat(void* to, const std::byte* from, std::size_t size, std::int64_t times, std::int64_t n) {
  switch (size) {
    case 1: return repeat_as(static_cast<Word1*>(to), reinterpret_cast<const Word1*>(from), times, n);
    case 2: return repeat_as(static_cast<Word2*>(to), reinterpret_cast<const Word2*>(from), times, n);
    case 4: return repeat_as(static_cast<Word4*>(to), reinterpret_cast<const Word4*>(from), times, n);
    case 8: return repeat_as(static_cast<Word8*>(to), reinterpret_cast<const Word8*>(from), times, n);
    default: return repeat_as(static_cast<Word16*>(to), reinterpret_cast<const Word16*>(from), times, n);
  }
}

void pack_panel(void* to, std::int64_t pitch, const std::byte* row, std::size_t size, std::int64_t rows,
                std::int64_t row_stride, std::int64_t stride, std::int64_t n) {
  switch (size) {
    case 1:
      return panel_as(static_cast<Word1*>(to), pitch, reinterpret_cast<const Word1*>(row), rows, row_stride, stride, n);
    case 2:
      return panel_as(static_cast<Word2*>(to), pitch, reinterpret_cast<const Word2*>(row), rows, row_stride, stride, n);
    case 4:
      return panel_as(static_cast<Word4*>(to), pitch, reinterpret_cast<const Word4*>(row), rows, row_stride, stride, n);
    case 8:
      return panel_as(static_cast<Word8*>(to), pitch, reinterpret_cast<const Word8*>(row), rows, row_stride, stride, n);
    default:
      return panel_as(static_cast<Word16*>(to), pitch, reinterpret_cast<const Word16*>(row), rows, row_stride, stride,
                      n);
  }
}

void unpack(std::byte* row, const void* from, std::size_t size, const LoopNest& nest, RowDims dims,
            const NestOperand& operand, std::int64_t first, std::int64_t n) {
  switch (size) {
    case 1:
      return unpack_as(reinterpret_cast<Word1*>(row), static_cast<const Word1*>(from), nest, dims, operand, first, n);
    case 2:
      return unpack_as(reinterpret_cast<Word2*>(row), static_cast<const Word2*>(from), nest, dims, operand, first, n);
    case 4:
      return unpack_as(reinterpret_cast<Word4*>(row), static_cast<const Word4*>(from), nest, dims, operand, first, n);
    case 8:
      return unpack_as(reinterpret_cast<Word8*>(row), static_cast<const Word8*>(from), nest, dims, operand, first, n);
    default:
      return unpack_as(reinterpret_cast<Word16*>(row), static_cast<const Word16*>(from), nest, dims, operand, first, n);
  }
}

void pack_index(std::int64_t* to, std::int64_t row, const LoopNest& nest, RowDims dims, const NestOperand& operand,
                std::int64_t first, std::int64_t n) {
  for_runs(nest, dims, operand, first, n,
           [&](std::int64_t offset, std::int64_t stride, std::int64_t count, std::int64_t done) {
             std::int64_t at = row + offset;
             if (stride == 1 && count >= worth_call) {
               const void* const in[] = {&at};
               return memory_loops(loop_table(), Memory::Count).forms[0](to + done, in, count);
             }
             for (std::int64_t i = 0; i < count; ++i, at += stride) to[done + i] = at;  // int64 has no vector products
           });
}

}  // namespace sinter::inline v1::jit::cpu
