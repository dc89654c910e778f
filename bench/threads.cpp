// Several threads that evaluate one expression of the same tensors: evaluations per second of all, over one thread's.
//   threads [elements] [threads]        medians of eleven rounds
#include <algorithm>
#include <barrier>
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

/// Nanoseconds of one evaluation in each of the threads, which stay the same in all rounds: the median.
template <class F>
double nanoseconds(int threads, F evaluate) {
  std::vector<double> rounds;
  std::barrier together(threads);
  const auto run = [&](bool is_first) {
    evaluate();
    for (int round = 0; round < 11; ++round) {
      together.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      evaluate();
      together.arrive_and_wait();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      if (is_first) rounds.push_back(took.count() / evaluations);
    }
  };
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back(run, t == 0);
  for (std::thread& t : running) t.join();
  std::nth_element(rounds.begin(), rounds.begin() + 5, rounds.end());
  return rounds[5];
}

template <class F>
void compare(const char* what, int threads, F evaluate) {
  const double one = nanoseconds(1, evaluate), many = nanoseconds(threads, evaluate);
  std::printf("%-22s %6.0f ns alone, %6.0f ns in each of %d: %.2f times the rate\n", what, one, many, threads,
              threads * one / many);
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
