// The checks of optimizers' options.
#pragma once
#include <limits>

namespace sinter::inline v1::optim {

/// The value. Throws Error if it is not in [low, high).
double checked(const char* optimizer, const char* option, double value, double low,
               double high = std::numeric_limits<double>::infinity());

}  // namespace sinter::inline v1::optim
