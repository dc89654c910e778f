// Sorting and scans along an axis. Without a GPU: SINTER_VIRTUAL_GPUS=2.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [order]
  auto scores = sn::tensor({{0.1f, 0.7f, 0.2f}, {0.5f, 0.5f, -1.f}}).cuda();
  auto [best, classes] = (scores * 2).topk(2);  // along the last axis, of an expression
  std::cout << best << "\n" << classes << "\n";
  std::cout << scores.argsort(0) << "\n";
  std::cout << scores.median() << " " << scores.median(1).indices << "\n";  // the lower one of the two
  // [/order]

  // [scans]
  auto steps = sn::tensor({3, -1, 4, 1}).cuda();
  std::cout << steps.cumsum(0) << " " << steps.cumsum<float>(0) / 2 << "\n";
  auto [highest, when] = steps.cumsum(0).cummax(0);  // of equal ones the last
  std::cout << highest << " " << when << "\n";
  // [/scans]
}
