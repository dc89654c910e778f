// Copies and fills.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, bool uniform>
void copy_row(void* out, const void* const* in, std::int64_t n) {
  loop(out, n, [](Vec<T> x) SINTER_LAMBDA { return x; }, Source<Vec<T>, uniform>(in[0]));
}

}  // namespace

constinit const Rows memory_rows[static_cast<int>(Memory::count)] = {
    {{copy_row<bool, false>, copy_row<bool, true>}},
    {{copy_row<std::int16_t, false>, copy_row<std::int16_t, true>}},
    {{copy_row<std::int32_t, false>, copy_row<std::int32_t, true>}},
    {{copy_row<std::int64_t, false>, copy_row<std::int64_t, true>}},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
