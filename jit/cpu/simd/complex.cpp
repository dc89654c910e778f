// Splitting complex numbers into parts, and building them.
#include "blocks.hpp"
#include "loops.hpp"
#include "vector_pairs.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, int part>
void part_row(void* out, const void* const* in, std::int64_t n) {
  const T* const from = static_cast<const T*>(in[0]) + part;
  for_each_block<T>(n, 0, false, [=](std::int64_t i, auto range) SINTER_LAMBDA {
    store(out, i, range, load_every_second<T>(from, i, range));
  });
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
