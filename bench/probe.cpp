// What a machine with a GPU can do, with times in seconds: which libraries load, one kernel, one fault, one product,
// and one row kept in shared memory. Each step prints a line of JSON when it is done; the exit status is 1 if any
// failed.
#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sinter/sinter.hpp>
#include <string>
#include <vector>

namespace {

namespace sn = sinter;

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      made += std::string("\\") + c;
    else
      made += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return made + "\"";
}

void check(bool ok, const std::string& otherwise) {
  if (!ok) throw sn::Error(otherwise);
}

/// The file loaded by this process whose name begins with `stem`; empty if there is none.
std::string opened(const std::string& stem) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find('/'); at != line.npos && line.find("/" + stem, at) != line.npos)
      return line.substr(at);
  return {};
}

template <class Function>
Function* function_of(const std::string& path, const char* name) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

/// "13.0, /usr/lib/libcuda.so.1".
std::string driver() {
  const std::string path = opened("libcuda.so");
  const auto version_of = function_of<int(int*)>(path, "cuDriverGetVersion");
  if (!version_of) return "none is open: the GPU is virtual";
  int version = 0;
  version_of(&version);
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ", " + path;
}
std::string nvrtc() {
  const std::string path = opened("libnvrtc.so");
  const auto version_of = function_of<int(int*, int*)>(path, "nvrtcVersion");
  if (!version_of) return "none is open";
  int major = 0, minor = 0;
  version_of(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor) + ", " + path;
}
std::string cublas() {
  const std::string path = opened("libcublasLt.so");
  const auto version_of = function_of<std::size_t()>(path, "cublasLtGetVersion");
  return version_of ? std::to_string(version_of()) + ", " + path : "none is open";
}

std::string gpus() {
  std::string all;
  for (int i = 0; i < sn::device_count(); ++i) all += (i ? ", " : "") + sn::device_name(i);
  check(!all.empty(), "there is no GPU");
  return all;
}

std::string kernel() {
  const auto x = sn::arange(1000, sn::cuda<>);
  const std::int64_t sum = sn::eager(sn::sum(x * 2 + 1)).item();
  check(sum == 1'000'000, "the sum of 2 x + 1 over x = 0 ... 999 is " + std::to_string(sum));
  return "2 x + 1, and its sum";
}

std::string fault() {
  const auto x = sn::arange(10, sn::cuda<>);
  const auto places = sn::tensor<std::int64_t>({3, 11}).cuda();
  std::string message;
  try {
    const sn::Tensor<std::int64_t> taken = sn::take(x, places).cpu();
  } catch (const sn::IndexError& error) {
    message = error.what();
  }
  check(!message.empty(), "an index of 11 into 10 elements gives no IndexError");
  kernel();  // the GPU continues to work
  return message;
}

std::string product() {
  const std::int64_t n = 256;
  const auto x = sn::ones({n, n}, sn::cuda<>), y = sn::full({n, n}, 0.5f, sn::cuda<>);
  const auto z = sn::eager(sn::matmul(x, y));
  const float least = sn::eager(sn::amin(z)).item(), most = sn::eager(sn::amax(z)).item();
  check(least == 128 && most == 128, "256 products of 1 and 0.5 are " + std::to_string(least));
  return "256 x 256 x 256, float32";
}

/// More columns than registers hold, but not more than an H100's shared memory holds.
std::string kept_row() {
  const std::int64_t columns = 50'000;
  const auto x = sn::arange(4 * columns, sn::cuda<>).reshape({4, columns}).to<float>() / 1e5f;
  const std::vector<float> sums = sn::eager(sn::sum(sn::softmax(x, 1), 1)).cpu().to_vector();
  for (const float sum : sums) check(std::abs(sum - 1) < 1e-4, "a row of a softmax sums to " + std::to_string(sum));
  return "softmax of 4 x 50000 float32";
}

bool run(const char* name, const std::function<std::string()>& step) {
  const auto begin = std::chrono::steady_clock::now();
  std::string said;
  bool ok = true;
  try {
    said = step();
  } catch (const std::exception& error) {
    ok = false;
    said = error.what();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("{\"step\": \"%s\", \"ok\": %s, \"seconds\": %.3f, \"said\": %s}\n", name, ok ? "true" : "false",
              taken.count(), quoted(said).c_str());
  std::fflush(stdout);
  return ok;
}

}  // namespace

int main() {
  bool ok = run("gpus", gpus);
  if (!ok) return 1;
  ok &= run("kernel", kernel);
  ok &= run("driver", driver);
  ok &= run("nvrtc", nvrtc);
  ok &= run("fault", fault);
  ok &= run("row", kept_row);
  ok &= run("product", product);
  ok &= run("cublaslt", cublas);
  return ok ? 0 : 1;
}
