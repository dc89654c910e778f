// The library behind products: its description, and OpenBLAS called directly, for comparison with Sinter's product.
#include <dlfcn.h>

#include <cmath>
#include <fstream>
#include <sinter/sinter.hpp>
#include <string>
#include <vector>

#include "suite.hpp"

namespace bench {
namespace {

namespace sn = sinter;

/// A library that the process has loaded; null if it has none of this name.
void* opened(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t path = line.find('/');
        path != std::string::npos && line.find(name, path) != std::string::npos)
      if (void* const found = dlopen(line.c_str() + path, RTLD_LAZY | RTLD_NOLOAD)) return found;
  return nullptr;
}

template <class Result>
Result ask(void* library, const char* function, Result otherwise) {
  const auto found = reinterpret_cast<Result (*)()>(dlsym(library, function));
  return found ? found() : otherwise;
}

std::string described() {
  if (void* const cublas = opened("libcublasLt"))
    return "cuBLASLt " + std::to_string(ask<std::size_t>(cublas, "cublasLtGetVersion", 0));
  void* const blas = opened("openblas");
  if (!blas) return "unknown";
  std::string config = ask<const char*>(blas, "openblas_get_config", "OpenBLAS");
  config.resize(std::min(config.size(), config.find(' ', config.find(' ') + 1)));
  return config + ", core " + ask<const char*>(blas, "openblas_get_corename", "unknown") + ", " +
         std::to_string(ask(blas, "openblas_get_num_threads", 0)) + " threads";
}

struct BareBlas {
  static constexpr bool narrow = false;
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

  BareBlas(Sgemm function, const ProductShape& shape)
      : sgemm(function), of(shape), x(values_of(of, 0)), w(values_of(of, 1)), y(of.a * of.c) {}
  void run() {
    const auto m = static_cast<int>(of.a), k = static_cast<int>(of.b), n = static_cast<int>(of.c);
    sgemm(101, 111, 112, m, n, k, 1, x.data(), k, w.data(), k, 0, y.data(), n);  // row major, w transposed
    benchmark::DoNotOptimize(y.data());
  }
  void wait() {}
  void poison() { y.assign(y.size(), NAN); }
  std::vector<float> read() {
    std::vector<float> rows;
    for (std::size_t r = 0; r < of.a; r += step_of_products(of))
      rows.insert(rows.end(), &y[r * of.c], &y[r * of.c] + of.c);
    return rows;
  }
  Sgemm sgemm;
  ProductShape of;
  const std::vector<float>&x, &w;
  std::vector<float> y;
};

const Register registered([] {
  if (options().on_gpu() || !open_library_of_products()) return;
  void* const library = opened("openblas");
  const auto sgemm = library ? reinterpret_cast<BareBlas::Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
  if (!sgemm) return;
  for_each_product([&](const ProductCase& c, const ProductShape& of, const std::string& extents) {
    if (std::string(c.name) != "gemm") return;
    benchmark::RegisterBenchmark(("gemm/limit" + extents).c_str(), [=, &c](benchmark::State& state) {
      BareBlas subject(sgemm, of);
      measure_product(state, subject, c, of);
    })->UseRealTime();
  });
});

bool open_library() {
  try {
    const sn::Tensor<float> two = sn::ones({2, 2}).to(sn::Device(options().device));
    const sn::Tensor<float> product = sn::matmul(two, two);
    benchmark::AddCustomContext("blas", product.cpu().to_vector() == std::vector<float>(4, 2) ? described() : "wrong");
    return true;
  } catch (const sn::Error& error) {
    const std::string said = error.what();
    benchmark::AddCustomContext("missing", said.substr(0, said.find('\n')));
    return false;
  }
}

}  // namespace

bool open_library_of_products() {
  static const bool there = open_library();
  return there;
}

}  // namespace bench
