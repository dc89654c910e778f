// Several threads that evaluate one expression of the same tensors: evaluations per second of all, over one thread's.
//   threads [elements] [threads]        medians of eleven rounds
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sinter/sinter.hpp>
#include <thread>
#include <vector>

namespace {

namespace sn = sinter;
using Array = sn::Tensor<float, sn::Cpu>;

constexpr int evaluations = 200'000;

/// Nanoseconds of one evaluation in each of the threads.
template <class F>
double nanoseconds(int threads, F evaluate) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back(evaluate);
  for (std::thread& t : running) t.join();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / evaluations;
}

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

template <class F>
void compare(const char* what, int threads, F evaluate) {
  std::vector<double> one, many;
  for (int round = 0; round < 11; ++round) {
    one.push_back(nanoseconds(1, evaluate));
    many.push_back(nanoseconds(threads, evaluate));
  }
  std::printf("%-22s %6.0f ns alone, %6.0f ns in each of %d: %.2f times the rate\n", what, median(one), median(many),
              threads, threads * median(one) / median(many));
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 1000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const Array x(sn::rand({n})), y(sn::rand({n}));
  compare("into the same array", threads, [&] {
    Array r(sn::empty<float>({n}));
    for (int i = 0; i < evaluations; ++i) r.assign(1.5f * x + y);
  });
  compare("into a new array", threads, [&] {
    for (int i = 0; i < evaluations; ++i) const Array r = 1.5f * x + y;
  });
}
