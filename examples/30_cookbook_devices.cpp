// Recipes of docs/cookbook.md about devices, files, export and time.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <sinter/prepare.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;

namespace {

// [time]
// Microseconds of one call, the best of five. The first call compiles, and does not count. A GPU still works when a
// call returns, so the clock stops after synchronize().
template <class F>
double best_of_five(const sn::Device& device, F call) {
  using Clock = std::chrono::steady_clock;
  call();
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    sn::synchronize(device);
    const auto start = Clock::now();
    call();
    sn::synchronize(device);
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return best;
}
// [/time]

}  // namespace

int main() {
  {
    // [warm]
    // Compiles at start-up, in the background, what the program evaluates later.
    const auto x = sn::zeros({1000}, sn::cuda<>);
    auto ready = sn::prepare_async(sn::tanh(x * 0.5) + 1);
    ready.get();
    const auto before = sn::jit_stats().compiles;
    sn::Tensor r = sn::tanh(x * 0.25) + 1;  // another number, the same kernel
    std::cout << sn::jit_stats().compiles - before << " compiled\n";
    // [/warm]
  }
  std::cout << std::boolalpha;
  {
    // [timing]
    const auto x = sn::rand({100000}), y = sn::rand({100000});
    auto e = (x + 2).exp() * y;
    const double fused = best_of_five(x.device(), [&] { sn::Tensor r = e; });
    const double eager = best_of_five(x.device(), [&] { auto r = sn::eager(e); });
    std::cout << (fused > 0 && eager > 0) << "\n";  // print both on your machine: no time is the same on all
    // [/timing]
  }
  {
    // [launches]
    const auto x = sn::rand({1000}), y = sn::rand({1000});
    auto e = (x + 2).exp() * y;
    const auto before = sn::jit_stats().launches;
    sn::Tensor fused = e;
    const auto between = sn::jit_stats().launches;
    auto eager = sn::eager(e);
    std::cout << between - before << " kernel, " << sn::jit_stats().launches - between << " kernels\n";
    // [/launches]
  }
  {
    // [npy]
    sn::save_npy("measured.npy", sn::arange(6).reshape({2, 3}) * 0.5);  // as numpy.save would
    const auto x = sn::load_npy<float>("measured.npy", sn::cuda<>);     // straight to the GPU
    sn::save_npy("scaled.npy", x / x.amax());                           // evaluates, copies back, writes
    std::cout << sn::load_npy<float>("scaled.npy") << "\n";
    // [/npy]
  }
  {
    // [devices]
    const sn::Mesh mesh;  // every GPU
    const sn::Tensor x = sn::shard(sn::arange(8).to<float>().reshape({4, 2}), mesh);
    const sn::Tensor y = (x + 1).sqrt();  // each GPU computes its rows
    std::cout << mesh.size() << " " << sn::gather(y.sum(0)) << "\n";
    // [/devices]
  }
  {
    // [streams]
    // Two independent kernels that may overlap. The sum waits for both: Sinter orders the work on each tensor.
    const auto a = sn::ones({1000}, sn::cuda<>), b = sn::ones({1000}, sn::cuda<>);
    const sn::Stream side;
    sn::Tensor left = a * 2;
    sn::Tensor right = [&] {
      const sn::StreamGuard guard(side);
      return sn::Tensor(b * 3);
    }();
    std::cout << (left + right).mean() << "\n";
    // [/streams]
  }
  {
    // [export]
    const auto z = sn::zeros({100}), y = sn::zeros({100});  // only their types count
    const sn::Exported files = sn::export_kernel(
        (z + 2).exp() * y, {.name = "fused", .inputs = {"z", "y"}, .sizes = {{"n"}}, .numbers = {"shift"}},
        {.architectures = {}});
    files.write("kernels");  // fused.h and fused.c, for any C compiler; {90} would add binaries for GPUs
    for (const auto& [name, text] : files.files) std::cout << name << " ";
    std::cout << "\n";
    // [/export]
  }
}
