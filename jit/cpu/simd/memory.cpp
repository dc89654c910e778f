// Copies, fills, copies of every second element, transposed panels, repeated elements, and gathers.
#include "blocks.hpp"
#include "loops.hpp"
#include "transpose.hpp"
#include "vector_pairs.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, bool uniform>
void copy_row(void* out, const void* const* in, std::int64_t n) {
  loop(out, n, [](Vec<T> x) SINTER_LAMBDA { return x; }, Source<Vec<T>, uniform>(in[0]));
}

/// Elements of 16 bytes.
void copy16_row(void* out, const void* const* in, std::int64_t n) { copy_row<std::int64_t, false>(out, in, 2 * n); }
void fill16_row(void* out, const void* const* in, std::int64_t n) {
  auto* to = static_cast<char*>(out);
  struct {
    std::int64_t words[2];
  } value;
  __builtin_memcpy(&value, in[0], 16);
  for (std::int64_t i = 0; i < n; ++i) __builtin_memcpy(to + 16 * i, &value, 16);
}

template <class T>
void every_second_row(void* out, const void* const* in, std::int64_t n) {
  const void* const from = in[0];
  for_each_block<T>(n, 0, false, [=](std::int64_t i, auto range) SINTER_LAMBDA {
    store(out, i, range, load_every_second<T>(from, i, range));
  });
}

template <class T>
void repeat_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  const auto& call = *static_cast<const RepeatCall*>(in[0]);
  const std::int64_t times = call.times, left = times - call.first % times;
  auto* to = static_cast<T*>(out);
  const auto* from = static_cast<const T*>(call.array) + call.first / times * call.stride;
  std::int64_t i = 0;
  const auto repeat = [&](std::int64_t count) SINTER_LAMBDA {
    for (const std::int64_t end = count < n - i ? i + count : n; i < end; ++i) to[i] = *from;
    from += call.stride;
  };
  repeat(left);
  for (; n - i >= times + V::lanes; i += times, from += call.stride) {
    const V element(*from);
    for (std::int64_t k = 0; k < times; k += V::lanes) element.store(to + i + k);  // the next ones overwrite the excess
  }
  while (i < n) repeat(times);
}

void count_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<std::int64_t>;
  auto* to = static_cast<std::int64_t*>(out);
  V next = counted_from(*static_cast<const std::int64_t*>(in[0]));
  std::int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes, next = next + V(V::lanes)) next.store(to + i);
  if (i < n) next.store(to + i, static_cast<int>(n - i));
}

template <class T>
void load_row(void* out, const void* const* in, std::int64_t n) {
  auto* __restrict to = static_cast<Stored<T>*>(out);
  const auto* __restrict from = static_cast<const Stored<T>*>(in[0]);
  const auto* __restrict offsets = static_cast<const std::int64_t*>(in[1]);
  if (is_run(offsets, n)) {  // as those of whole rows in an embedding
    const void* const first = from + offsets[0];
    return copy_row<T, false>(out, &first, n);
  }
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[offsets[i]];
}

void load16_row(void* out, const void* const* in, std::int64_t n) {
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in[0]);
  const auto* offsets = static_cast<const std::int64_t*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) __builtin_memcpy(to + 16 * i, from + 16 * offsets[i], 16);
}

template <bool from_end>
void outside_row(void* out, const void* const* in, std::int64_t n) {
  const auto* positions = static_cast<const std::int64_t*>(in[0]);
  const std::int64_t extent = *static_cast<const std::int64_t*>(in[1]), least = from_end ? -extent : 0;
  std::int64_t outside = 0;
  for (std::int64_t i = 0; i < n; ++i) outside |= (positions[i] < least) | (positions[i] >= extent);
  *static_cast<bool*>(out) = outside != 0;
}

}  // namespace

constinit const LoopForms memory_loops[static_cast<int>(Memory::count)] = {
    {{copy_row<std::uint8_t, false>, copy_row<std::uint8_t, true>}},
    {{copy_row<std::int16_t, false>, copy_row<std::int16_t, true>}},
    {{copy_row<std::int32_t, false>, copy_row<std::int32_t, true>}},
    {{copy_row<std::int64_t, false>, copy_row<std::int64_t, true>}},
    {{copy16_row, fill16_row}},
    {{every_second_row<std::int16_t>}},
    {{every_second_row<std::int32_t>}},
    {{every_second_row<std::int64_t>}},
    {{transpose_rows<std::uint16_t>}},
    {{transpose_rows<std::uint32_t>}},
    {{transpose_rows<std::uint64_t>}},
    {{repeat_row<std::int16_t>}},
    {{repeat_row<std::int32_t>}},
    {{repeat_row<std::int64_t>}},
    {{count_row}},
    {{load_row<std::uint8_t>, load_row<std::uint8_t>}},
    {{load_row<std::int16_t>, load_row<std::int16_t>}},
    {{load_row<std::int32_t>, load_row<std::int32_t>}},
    {{load_row<std::int64_t>, load_row<std::int64_t>}},
    {{load16_row, load16_row}},
    {{outside_row<false>, outside_row<true>}},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
