// What scripts/demo shows: one expression on every device, then on a file of millions of numbers.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <sinter/sinter.hpp>
#include <vector>

namespace sn = sinter;

namespace {

/// The expression of the demo, on whatever device its operand is.
auto formula(const sn::Tensor<float>& x) { return (x + 2).exp() * x; }

std::string describe(sn::Device device) {
  return sn::to_string(device) + (device.is_cuda() ? " (" + sn::device_name(device.index()) + ")" : "");
}

void show_on_every_device() {
  std::cout << "(x + 2).exp() * x, for x = [1, 2, 3], in one kernel on every device:\n\n";
  std::vector<sn::Device> devices = {sn::cpu};
  for (int i = 0; i < sn::device_count(); ++i) devices.emplace_back(i);
  for (const sn::Device& device : devices) {
    const auto x = sn::tensor({1.f, 2.f, 3.f}, device);
    std::cout << "  " << std::left << std::setw(26) << describe(device) << formula(x) << "\n";
  }
}

/// Milliseconds from the call until its device has finished.
double time(sn::Device device, const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  sn::synchronize(device);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void compare(const sn::Tensor<float>& x) {
  const auto e = formula(x);
  sn::Tensor<float> fused_result, eager_result;
  const auto fused = [&] { fused_result = e; };
  const auto eager = [&] { eager_result = sn::eager(e); };
  fused(), eager();  // compiles
  std::vector<double> fused_ms, eager_ms;
  for (int run = 0; run < 11; ++run) {  // alternately, so that disturbances affect both
    fused_ms.push_back(time(x.device(), fused));
    eager_ms.push_back(time(x.device(), eager));
  }
  const double f = median(fused_ms), g = median(eager_ms);
  std::cout << std::fixed << std::setprecision(2) << "  fused, one kernel:         " << f << " ms\n"
            << "  eager, one kernel per op:  " << g << " ms\n"
            << "  eager / fused:             " << g / f << "    (medians of 11 runs in turns)\n";
  std::cout << "  both agree:                "
            << (sn::allclose(fused_result, eager_result, 1e-5, 0, true) ? "yes" : "NO") << "\n";
}

void make_file(const std::filesystem::path& path) {
  constexpr std::int64_t count = 10'000'000;
  std::cout << "\nWriting " << count << " random numbers to " << path.string() << ", once.\n";
  sn::manual_seed(1);
  sn::save_npy(path, sn::randn({count}));
}

/// The GPU to show speed on, else the CPU: virtual GPUs show that kernels are correct, not how fast they are.
sn::Device fastest_device() {
  const bool real = sn::cuda_is_available() && !sn::device_name(0).starts_with("Virtual");
  return real ? sn::Device(0) : sn::Device(sn::cpu);
}

void show_file(const std::filesystem::path& path) {
  const sn::AnyTensor file = sn::load_npy(path);
  const sn::Tensor<float> x = file.to<float>().to(fastest_device());
  auto target = path;
  target.replace_extension(".result.npy");
  std::cout << "\nThe same for the " << x.numel() << " numbers in " << path.string() << ", on " << describe(x.device())
            << ":\n\n";
  compare(x);
  const sn::Tensor<float> r = formula(x);
  sn::save_npy(target, r);
  std::cout << "\n  x      = " << x.flatten().slice(0, 0, 4) << "...\n  result = " << r.flatten().slice(0, 0, 4)
            << "...\n  written to " << target.string() << "\n";
  std::cout << "\nThe plan, as explain(e) tells it:\n\n" << sn::explain(formula(x));
  std::cout << "\nThe kernel as a GPU gets it, from cuda_source(e):\n\n" << sn::cuda_source(formula(x)) << "\n";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path path = argc > 1 ? argv[1] : "demo.npy";
  show_on_every_device();
  if (!std::filesystem::exists(path)) make_file(path);
  show_file(path);
} catch (const sn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
