// Selection by masks, and writing to indexed positions.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [select]
  auto x = sn::tensor({{1.f, -2.f, 3.f}, {-4.f, 5.f, -6.f}}).cuda();
  std::cout << x[x > 0] << "\n";                         // the elements in order, a new tensor
  std::cout << sn::masked_select(x * x, x < 0) << "\n";  // of expressions, which broadcast
  std::cout << sn::nonzero(x > 2) << "\n";               // their coordinates: (count, ndim)
  x.masked_fill_(x < 0, 0);                              // writes into x, as where does into a new tensor
  std::cout << x << "\n";
  // [/select]

  // [scatter]
  auto words = sn::tensor({2, 0, 2, 2}).cuda();
  auto counts = sn::zeros<std::int64_t>({3}, sn::cuda<>);
  counts.scatter_add_(0, words, sn::ones_like(words));  // counts[words[i]] += 1
  std::cout << counts << "\n";
  auto table = sn::zeros({3, 2}, sn::cuda<>);
  table.index_add_(0, words, sn::ones({4, 2}, sn::cuda<>) / 2);  // table[words[i]] += row i
  table.index_put_({words, words % 2}, 7);                       // table[words[i], words[i] % 2] = 7
  std::cout << table << "\n";
  // [/scatter]

  // [range]
  auto y = sn::zeros({3});
  try {
    y.scatter_(0, sn::tensor({0, 3}), 1);
  } catch (const sn::IndexError& error) {
    std::cout << error.what() << "\n";
  }
  // [/range]
}
