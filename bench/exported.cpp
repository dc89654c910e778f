// Exported C for the CPU, compiled with several options, compared with the library.
//   taskset -c 0 exported                                                    on one thread
//   taskset -c 0 exported 1000 1000 "gcc -O2" "clang -O3 -march=native"      so many rows and columns, these compilers
// Each column has the fastest of interleaved calls, in microseconds, and its multiple of the library's.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <sinter/sinter.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace sn = sinter;
using Matrix = sn::Tensor<float, sn::Cpu>;
using Exported = int(float*, const float*, std::int64_t, std::int64_t);

struct Case {
  sn::jit::Export kernel;
  std::function<Matrix(const Matrix& x)> result;
  std::function<void(Matrix& result, const Matrix& x)> assign;
};

template <class F>
Case make(const std::string& name, F f) {
  const Matrix example(sn::zeros({100, 200}));
  return {sn::exported(f(example), {.name = name, .inputs = {"x"}, .sizes = {{"n", "m"}}}),
          [f](const Matrix& x) { return Matrix(f(x)); }, [f](Matrix& result, const Matrix& x) { result.assign(f(x)); }};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(make("square", [](const Matrix& x) { return x * x + 1; }));
  all.push_back(make("exp", [](const Matrix& x) { return sn::exp(x + 2) * x; }));
  all.push_back(make("silu_tanh", [](const Matrix& x) { return sn::silu(x) * sn::tanh(x); }));
  all.push_back(make("gelu", [](const Matrix& x) { return sn::gelu(x); }));
  all.push_back(make("sum", [](const Matrix& x) { return sn::sum(x, 1); }));
  all.push_back(make("sum_columns", [](const Matrix& x) { return sn::sum(x, 0); }));
  all.push_back(make("softmax", [](const Matrix& x) { return sn::softmax(x, 1); }));
  all.push_back(make("logsumexp", [](const Matrix& x) { return sn::logsumexp(x, 1); }));
  all.push_back(make("normalise", [](const Matrix& x) {
    return (x - sn::mean(x, 1, sn::keepdim)) * sn::rsqrt(sn::var(x, 1, sn::keepdim) + 1e-5f);
  }));
  return all;
}

/// The functions of a library that a command has compiled.
void* compiled(const std::filesystem::path& folder, const std::string& command, std::size_t number) {
  const std::string file = fmt::format("{}/kernels{}.so", folder.string(), number);
  const std::string line =
      fmt::format("{} -std=c99 -fno-math-errno -shared -fPIC -o {} {}/kernels.c -lm", command, file, folder.string());
  if (std::system(line.c_str()) != 0) throw std::runtime_error(line);
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) throw std::runtime_error(dlerror());
  return opened;
}

double microseconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// The fastest of calls of each, in turn: disturbances only add time.
std::vector<double> fastest(const std::vector<std::function<void()>>& ways) {
  std::vector<double> times(ways.size(), std::numeric_limits<double>::infinity());
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300) * ways.size();
  for (int round = 0; round < 5 || std::chrono::steady_clock::now() < end; ++round)
    for (std::size_t w = 0; w < ways.size(); ++w) times[w] = std::min(times[w], microseconds(ways[w]));
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000, columns = argc > 2 ? std::atoll(argv[2]) : 1000;
  std::vector<std::string> commands(argv + std::min(argc, 3), argv + argc);
  if (commands.empty()) commands = {"gcc -O2", "gcc -O3 -march=x86-64-v3", "gcc -O3 -march=native"};
  setenv("SINTER_CPU_JIT", "always", 0);

  const std::vector<Case> all = cases();
  std::vector<sn::jit::Export> kernels;
  for (const Case& c : all) kernels.push_back(c.kernel);
  std::string folder = (std::filesystem::temp_directory_path() / "sinter-exported-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("no folder " + folder);
  sn::export_kernels(kernels, {.name = "kernels", .architectures = {}}).write(folder);
  std::vector<void*> libraries;
  for (const std::string& command : commands) libraries.push_back(compiled(folder, command, libraries.size()));

  fmt::print("{} x {} float32\n{:<12} {:>10}", rows, columns, "", "library");
  for (const std::string& command : commands) fmt::print("  {:>26}", command);
  const Matrix x(sn::randn({rows, columns}));
  for (const Case& c : all) {
    Matrix result = c.result(x);
    std::vector<std::function<void()>> ways{[&] { c.assign(result, x); }};
    for (void* const library : libraries) {
      auto* const call = reinterpret_cast<Exported*>(dlsym(library, (c.kernel.options.name + "_cpu").c_str()));
      ways.push_back([&, call] { call(result.data(), x.data(), rows, columns); });
    }
    const std::vector<double> times = fastest(ways);
    fmt::print("\n{:<12} {:>10.1f}", c.kernel.options.name, times[0]);
    for (std::size_t t = 1; t < times.size(); ++t) fmt::print("  {:>18.1f} ({:4.2f})", times[t], times[t] / times[0]);
  }
  fmt::print("\n");
  std::filesystem::remove_all(folder);
}
