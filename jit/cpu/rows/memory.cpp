// Copies, fills, and what lies two elements apart.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, bool uniform>
void copy_row(void* out, const void* const* in, std::int64_t n) {
  loop(out, n, [](Vec<T> x) SINTER_LAMBDA { return x; }, Source<Vec<T>, uniform>(in[0]));
}

template <int... i>
struct Lanes {};
template <int n, int... i>
struct CountedTo : CountedTo<n - 1, n - 1, i...> {};
template <int... i>
struct CountedTo<0, i...> {
  using type = Lanes<i...>;
};

template <class T, int... i>
SINTER_INLINE Vec<T> even(Lanes<i...>, Vec<T> low, Vec<T> high) {
  return {__builtin_shufflevector(low.v, high.v, (2 * i)...)};
}

/// Behind the last element that is taken nothing is read.
template <class T>
void every_second_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  using All = typename CountedTo<V::lanes>::type;
  auto* to = static_cast<T*>(out);
  const auto* from = static_cast<const T*>(in[0]);
  std::int64_t i = 0;
  for (; i + V::lanes < n; i += V::lanes)
    even(All{}, V::load(from + 2 * i), V::load(from + 2 * i + V::lanes)).store(to + i);
  const int rest = static_cast<int>(n - i), reach = 2 * rest - 1;  // 1 to lanes
  if (rest <= 0) return;
  const V low = reach < V::lanes ? V::load(from + 2 * i, reach) : V::load(from + 2 * i);
  const V high = reach > V::lanes ? V::load(from + 2 * i + V::lanes, reach - V::lanes) : V(0);
  const V taken = even(All{}, low, high);
  rest < V::lanes ? taken.store(to + i, rest) : taken.store(to + i);
}

}  // namespace

constinit const Rows memory_rows[static_cast<int>(Memory::count)] = {
    {{copy_row<bool, false>, copy_row<bool, true>}},
    {{copy_row<std::int16_t, false>, copy_row<std::int16_t, true>}},
    {{copy_row<std::int32_t, false>, copy_row<std::int32_t, true>}},
    {{copy_row<std::int64_t, false>, copy_row<std::int64_t, true>}},
    {{every_second_row<std::int16_t>}},
    {{every_second_row<std::int32_t>}},
    {{every_second_row<std::int64_t>}},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
