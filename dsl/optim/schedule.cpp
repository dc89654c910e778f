#include <sinter/optim/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::inline v1::optim {

double step_decay(double lr, std::int64_t step, std::int64_t period, double gamma) {
  return lr * std::pow(gamma, static_cast<double>(step / std::max<std::int64_t>(period, 1)));
}

double cosine_decay(double lr, std::int64_t step, std::int64_t steps, double last) {
  if (step >= steps) return last;
  const double part = static_cast<double>(std::max<std::int64_t>(step, 0)) / static_cast<double>(steps);
  return last + (lr - last) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double warm_up(double lr, std::int64_t step, std::int64_t steps) {
  return step >= steps ? lr : lr * static_cast<double>(step + 1) / static_cast<double>(steps);
}

}  // namespace sinter::inline v1::optim
