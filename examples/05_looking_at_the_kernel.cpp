// What an expression becomes: the plan in words, the kernel's text, the graph, and what was compiled.
#include <fstream>
#include <future>
#include <iostream>
#include <sinter/prepare.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  auto x = sn::linspace(-1, 1, 1000, sn::cuda<>);
  auto y = sn::ones_like(x);

  // [explain]
  auto e = (x + 2).exp() * y;
  std::cout << sn::explain(e) << "\n";
  // [/explain]

  // [source]
  std::cout << sn::cuda_source(e) << "\n";
  // [/source]

  // [graph]
  std::cout << sn::to_dot(e) << "\n";
  // [/graph]

  // [compiles]
  sn::prepare(e);  // compiles, runs nothing
  const auto before = sn::jit_stats();
  for (int i = 0; i < 10; ++i) sn::Tensor r = (x + i).exp() * y;  // other scalars: the same kernel
  const auto after = sn::jit_stats();
  std::cout << "compiled " << after.compiles - before.compiles << ", launched " << after.launches - before.launches
            << "\n";
  // [/compiles]

  // [background]
  std::future<void> ready = sn::prepare_async((x - y).sin() * y);  // compiles while this thread continues
  ready.get();                                                     // throws if it does not compile
  const sn::KernelRecord last = sn::kernel_history().back();
  std::cout << last.name << " for " << sn::to_string(last.device) << ": " << sn::to_string(last.origin) << "\n";
  // [/background]

  // [ptx]
  try {
    std::ofstream("kernel.ptx") << sn::ptx(e, "sm_90");  // needs NVRTC, but no GPU
  } catch (const sn::DeviceError& error) {
    std::cerr << error.what() << "\n";
  }
  // [/ptx]
}
