// Splitting complex numbers into parts, and building them.
#include "loops.hpp"
#include "vector_pairs.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, int part>
void part_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  auto* to = static_cast<T*>(out);
  const auto* from = static_cast<const T*>(in[0]);
  std::int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes)
    every_second<part>(AllLanes<T>{}, V::load(from + 2 * i), V::load(from + 2 * i + V::lanes)).store(to + i);
  const int rest = static_cast<int>(n - i), left = 2 * rest - V::lanes;
  if (rest == 0) return;
  const V low = left < 0 ? V::load(from + 2 * i, 2 * rest) : V::load(from + 2 * i);
  const V high = left > 0 ? V::load(from + 2 * i + V::lanes, left) : V(0);
  every_second<part>(AllLanes<T>{}, low, high).store(to + i, rest);
}

template <class T, int form>
void join_row(void* out, const void* const* in, std::int64_t n) {
  using V = Vec<T>;
  auto* to = static_cast<T*>(out);
  const Source<V, (form & 1) != 0> re(in[0]);
  const Source<V, (form & 2) != 0> im(in[1]);
  std::int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes) {
    const V a = re.at(i), b = im.at(i);
    pairs<0>(AllLanes<T>{}, a, b).store(to + 2 * i);
    pairs<1>(AllLanes<T>{}, a, b).store(to + 2 * i + V::lanes);
  }
  const int rest = static_cast<int>(n - i), left = 2 * rest - V::lanes;
  if (rest == 0) return;
  const V a = re.at(i, rest), b = im.at(i, rest), low = pairs<0>(AllLanes<T>{}, a, b);
  if (left < 0) return low.store(to + 2 * i, 2 * rest);
  low.store(to + 2 * i);
  if (left > 0) pairs<1>(AllLanes<T>{}, a, b).store(to + 2 * i + V::lanes, left);
}

}  // namespace

#define SINTER_PARTS(T)                              \
  {{part_row<T, 0>}}, {{part_row<T, 1>}}, {          \
    {                                                \
      join_row<T, 0>, join_row<T, 1>, join_row<T, 2> \
    }                                                \
  }
constinit const LoopForms complex_loops[complex_op_count] = {SINTER_PARTS(float), SINTER_PARTS(double)};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
