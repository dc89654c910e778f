// Fitting a physical model: the stiffness and damping of a spring-damper from noisy positions, by L-BFGS.
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <sinter/sinter.hpp>

namespace sn = sinter;
using Vector = sn::Tensor<double, sn::Cpu>;

// [model]
/// The positions at these times of a mass on a spring with damping, x'' = -stiffness * x - damping * x', from its state
/// at time 0: a damped oscillation.
auto positions(const Vector& times, const Vector& parameters) {
  auto stiffness = parameters[0], damping = parameters[1], start = parameters[2], velocity = parameters[3];
  auto frequency = sn::sqrt(stiffness - damping.square() / 4);
  auto sine = (velocity + damping / 2 * start) / frequency;
  return sn::exp(-damping / 2 * times) * (start * sn::cos(frequency * times) + sine * sn::sin(frequency * times));
}
// [/model]

// [l-bfgs]
/// Evaluates a loss and its gradient at the present parameters.
using Loss = std::function<std::pair<double, Vector>()>;

double dot(const Vector& a, const Vector& b) { return (a * b).sum().item(); }

/// The L-BFGS direction (Nocedal and Wright, algorithm 7.4): the inverse Hessian, as the last steps suggest it, times
/// the negative gradient.
Vector direction(const Vector& gradient, const std::deque<std::pair<Vector, Vector>>& steps) {
  Vector q = -gradient;
  std::vector<double> alphas;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto& [s, y] = *step;
    alphas.push_back(dot(s, q) / dot(s, y));
    q -= alphas.back() * y;
  }
  if (!steps.empty()) q *= dot(steps.back().first, steps.back().second) / dot(steps.back().second, steps.back().second);
  for (const auto& [s, y] : steps) {
    q += (alphas.back() - dot(y, q) / dot(s, y)) * s;
    alphas.pop_back();
  }
  return q;
}

/// Minimizes the loss; halves steps until the loss falls enough (Armijo's rule). Returns the number of iterations.
int minimize(const Loss& loss, Vector& parameters, double tolerance = 1e-9, std::size_t history = 8) {
  std::deque<std::pair<Vector, Vector>> steps;
  auto [value, gradient] = loss();
  for (int iteration = 0; iteration < 200; ++iteration) {
    if (std::sqrt(dot(gradient, gradient)) < tolerance) return iteration;
    const Vector along = direction(gradient, steps), before = parameters.clone(), gradient_before = gradient;
    const double slope = dot(gradient, along), value_before = value;
    for (double length = 1; length > 1e-12; length /= 2) {
      parameters.assign(before + length * along);
      std::tie(value, gradient) = loss();
      if (value <= value_before + 1e-4 * length * slope) break;
    }
    const Vector s = parameters - before, y = gradient - gradient_before;
    if (dot(s, y) > 1e-14) steps.emplace_back(s, y);
    if (steps.size() > history) steps.pop_front();
  }
  return 200;
}
// [/l-bfgs]

int main() {
  sn::manual_seed(1);
  // [fit]
  const Vector times = sn::arange<double>(200) / 20;
  const Vector truth = sn::tensor({4., 0.5, 1., 0.}).to<double>();
  const Vector measured = positions(times, truth) + 0.02 * sn::randn<double>({200});

  Vector parameters = sn::tensor({3., 0.2, 0.8, 0.2}).to<double>();  // a guess
  const auto loss = [&] {
    auto error = positions(times, parameters) - measured;
    auto [value, gradient] = sn::value_and_grad(error.square().mean(), parameters);
    auto [v, g] = sn::evaluate(value, gradient);  // one plan: model, loss and gradient
    return std::pair(v.item(), Vector(g));
  };
  const int iterations = minimize(loss, parameters);
  // [/fit]
  const char* names[] = {"stiffness", "damping", "start", "velocity"};
  for (int i = 0; i < 4; ++i)
    std::printf("%-9s  true %5.2f, fitted %5.2f\n", names[i], truth[i].item(), parameters[i].item());
  std::printf("rms error %.3f, %s 50 iterations\n", std::sqrt(loss().first),
              iterations < 50 ? "fewer than" : "more than");
}
