// Learning rates over time, for Optimizer::set_lr.
#pragma once
#include <cstdint>

namespace sinter::inline v1::optim {

/// lr times gamma for every `period` steps that have passed. `period` is at least 1.
double step_decay(double lr, std::int64_t step, std::int64_t period, double gamma = 0.1);

/// From lr at step 0 to `last` at step `steps` and after it along half a cosine (Loshchilov and Hutter, 2017).
double cosine_decay(double lr, std::int64_t step, std::int64_t steps, double last = 0);

/// lr after `steps` steps, and before that a fraction that grows linearly: lr / steps at step 0.
double warm_up(double lr, std::int64_t step, std::int64_t steps);

}  // namespace sinter::inline v1::optim
