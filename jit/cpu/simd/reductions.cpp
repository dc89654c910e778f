// Every reduction, by the dtype of its elements in memory.
#include "reduce_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

#define SINTER_BOOL(F) reducer_of<PlainReduction<F, bool>>
#define SINTER_INTEGERS(Reduction, F) reducer_of<Reduction<F, std::int32_t>>, reducer_of<Reduction<F, std::int64_t>>
#define SINTER_FLOATS(Reduction, F)                                                                         \
  reducer_of<Reduction<F, float>>, reducer_of<Reduction<F, double>>, reducer_of<Reduction<F, float, Half>>, \
      reducer_of<Reduction<F, float, BFloat16>>

constinit const Reducer reducers[reduction_count][reduce_dtypes] = {
    {{},
     {},
     reducer_of<PlainReduction<Sums, std::int64_t>>,
     reducer_of<FloatSum<float>>,
     reducer_of<DoubleSum>,
     reducer_of<FloatSum<Half>>,
     reducer_of<FloatSum<BFloat16>>},
    {{}, {}, reducer_of<PlainReduction<Products, std::int64_t>>, SINTER_FLOATS(PlainReduction, Products)},
    {SINTER_BOOL(Largest), SINTER_INTEGERS(PlainReduction, Largest), SINTER_FLOATS(PlainReduction, Largest)},
    {SINTER_BOOL(Smallest), SINTER_INTEGERS(PlainReduction, Smallest), SINTER_FLOATS(PlainReduction, Smallest)},
    {SINTER_BOOL(Largest)},
    {SINTER_BOOL(Smallest)},
    {{}, SINTER_INTEGERS(PositionReduction, Largest), SINTER_FLOATS(PositionReduction, Largest)},
    {{}, SINTER_INTEGERS(PositionReduction, Smallest), SINTER_FLOATS(PositionReduction, Smallest)},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
