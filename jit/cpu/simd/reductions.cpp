// Every reduction of every dtype that it computes in.
#include "reduce_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

#define SINTER_PLAIN(F, T) reducer_of<PlainReduction<F, T>>
#define SINTER_POSITIONS(F)                                                                           \
  {}, reducer_of<PositionReduction<F, std::int32_t>>, reducer_of<PositionReduction<F, std::int64_t>>, \
      reducer_of<PositionReduction<F, float>>, reducer_of<PositionReduction<F, double>>
#define SINTER_ALL(F)                                                                                          \
  SINTER_PLAIN(F, bool), SINTER_PLAIN(F, std::int32_t), SINTER_PLAIN(F, std::int64_t), SINTER_PLAIN(F, float), \
      SINTER_PLAIN(F, double)

constinit const Reducer reducers[reduction_count][reduce_dtypes] = {
    {{}, {}, SINTER_PLAIN(Sums, std::int64_t), reducer_of<FloatSum>, reducer_of<DoubleSum>},
    {{}, {}, SINTER_PLAIN(Products, std::int64_t), SINTER_PLAIN(Products, float), SINTER_PLAIN(Products, double)},
    {SINTER_ALL(Largest)},
    {SINTER_ALL(Smallest)},
    {SINTER_PLAIN(Largest, bool)},
    {SINTER_PLAIN(Smallest, bool)},
    {SINTER_POSITIONS(Largest)},
    {SINTER_POSITIONS(Smallest)},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
