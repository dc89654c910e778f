// What happens to a process around Sinter: forks before and after its first use, and plugins that come and go.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "devices.hpp"
#include "setup.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;

const sinter::test::Setup plugins_compile(sinter::test::keep_kernels_in_memory);

/// Small, and large enough for several threads.
bool evaluates(sn::Device device) {
  const sn::Tensor<float> a = sn::full({3}, 1.5f, device), b = sn::full({400'000}, 2.0f, device);
  const sn::Tensor<float> small = a * 2 + 1, large = b.sqrt() * b;
  return small[1].item() == 4 && std::abs(large[399'999].item() - 2.8284271f) < 1e-5f;
}

/// Whether `f` returns true in a child. A child that hangs is ended by a signal.
bool in_child(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool right = false;
    try {
      right = f();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
    }
    std::_Exit(right ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// In this order in one process.
TEST(Fork, BeforeTheFirstUse) {
  EXPECT_TRUE(in_child([] { return evaluates(sn::Device()) && evaluates(sn::Device(0)); }));
  EXPECT_TRUE(in_child([] { return in_child([] { return evaluates(sn::Device(1)); }); }));
}

TEST(Fork, AfterTheFirstUse) {
  ASSERT_TRUE(evaluates(sn::Device()) && evaluates(sn::Device(0)));
  EXPECT_TRUE(in_child([] { return evaluates(sn::Device()); }));
  EXPECT_TRUE(in_child([] { return evaluates(sn::Device(0)) && evaluates(sn::Device(1)); }));
}

/// CUDA cannot be used in the child of a process that uses it; the message says so.
bool is_right_in_child(bool right) { return right == sinter_tests::virtual_gpus; }

TEST(Fork, TheParentGoesOn) {
  const sn::Tensor<float> x = sn::full({1000}, 3.0f, sn::Device(0));
  EXPECT_TRUE(is_right_in_child(in_child([&] { return sn::Tensor<float>(x * 2)[999].item() == 6; })));
  EXPECT_EQ(sn::Tensor<float>(x * 2)[999].item(), 6);
}

TEST(Fork, NewKernelsInTheChild) {
  EXPECT_TRUE(is_right_in_child(in_child([] {
    const sn::Tensor<float> x = sn::full({10}, 3.0f, sn::Device(0));
    return sn::Tensor<float>(x.square() - x + 0.25f)[3].item() == 6.25f;
  })));
}

class Plugin {
 public:
  explicit Plugin(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) evaluate_ = reinterpret_cast<decltype(evaluate_)>(dlsym(handle_, "sinter_test_evaluate"));
  }
  ~Plugin() {
    if (handle_) dlclose(handle_);
  }
  bool is_open() const { return evaluate_ != nullptr; }
  float evaluate(float x, bool on_gpu) const {
    float result = 0;
    return evaluate_(x, on_gpu, &result) == 0 ? result : -1;
  }

 private:
  void* handle_;
  int (*evaluate_)(float, int, float*) = nullptr;
};

bool is_mapped(const char* path) { return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

float expected(float x) { return std::exp(x + 2) * x; }

TEST(Plugins, ComeAndGo) {
  const auto compiles = sn::jit_stats().compiles;
  for (int round = 0; round < 3; ++round)
    for (const char* path : {SINTER_PLUGIN_A, SINTER_PLUGIN_B}) {
      {
        const Plugin plugin(path);
        ASSERT_TRUE(plugin.is_open()) << dlerror();
        for (const bool on_gpu : {false, true}) {
          const float x = static_cast<float>(round) + 0.5f;
          EXPECT_NEAR(plugin.evaluate(x, on_gpu), expected(x), 1e-5f * expected(x));
        }
      }
      EXPECT_FALSE(is_mapped(path));
    }
  // The kernels stay: what one plugin compiled serves the next one, and the program.
  const sn::Tensor<float> t = sn::full({3, 5}, 1.0f, sn::Device(0));
  const sn::Tensor<float> r = (t + 2.0f).exp() * t;
  EXPECT_NEAR(r[0][0].item(), expected(1), 1e-4f);
  EXPECT_LE(sn::jit_stats().compiles - compiles, 2u);  // the expression's, and full's
}

}  // namespace
}  // namespace sinter_tests
