// The virtual GPU as a backend: memory, copies, compilation, loading, what a launch checks.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <runtime/virtual/arena.hpp>
#include <sinter/runtime/device.hpp>
#include <stdexcept>

#include "mapped_kernels.hpp"
#include "virtual_harness.hpp"

namespace sinter::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// An environment variable for the time of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, had_ = true;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Environment() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

const KernelSource& copy_source() {
  static const KernelSource source =
      kernel_source("copy_words", "float* y; const float* x; long long n;",
                    "  if (threadIdx.x < p.n) p.y[threadIdx.x] = p.x[threadIdx.x];", "", "__launch_bounds__(256)");
  return source;
}
const TestKernel& copy_kernel() {
  static const TestKernel k(copy_source());
  return k;
}

TEST(VirtualGpu, Identity) {
  GpuBackend& gpu = virtual_gpu(1);
  EXPECT_EQ(gpu.name(), "Virtual GPU 1");
  EXPECT_EQ(gpu.device().index(), 1);
  EXPECT_TRUE(gpu.device().is_cuda());
  EXPECT_EQ(gpu.architecture(), 90);
  EXPECT_EQ(gpu.multiprocessors(), 4);
  EXPECT_THAT(gpu.binary_tag(), StartsWith("host "));
  EXPECT_EQ(gpu.binary_tag(), virtual_gpu(0).binary_tag());
  gpu.synchronize();
}

TEST(VirtualGpu, MemoryCountsWhatIsInUse) {
  GpuBackend& gpu = virtual_gpu(0);
  const MemoryInfo before = gpu.memory();
  EXPECT_EQ(before.total, std::size_t{64} << 30);
  {
    const Array<char> a(1000), b(5);
    EXPECT_EQ(gpu.memory().free, before.free - 1005);
  }
  EXPECT_EQ(gpu.memory().free, before.free);
}

TEST(VirtualGpu, AllocationsAreAlignedPoisonedAndApart) {
  for (std::size_t n : {1, 4, 255, 256, 257, 4095, 4096, 4097, 100000}) {
    const Array<unsigned char> a(n), b(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
    const std::vector<unsigned char> bytes = a.get();
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(bytes[i], (runtime::vgpu::poison >> 8 * (i % 4)) & 0xff) << n << " " << i;
    EXPECT_GE(std::abs(reinterpret_cast<std::intptr_t>(a.data()) - reinterpret_cast<std::intptr_t>(b.data())),
              static_cast<std::ptrdiff_t>(n + 4096));
  }
}

TEST(VirtualGpu, AddressesAreNotReusedAtOnceAndNeverLeak) {
  const float* last = nullptr;
  for (int i = 0; i < 100; ++i) {
    const Array<float> a(100);
    EXPECT_NE(a.data(), last);
    last = a.data();
  }
  // 3 TiB in all through 64 GiB of addresses, in sizes that never repeat; none of it is touched past the poison.
  GpuBackend& gpu = virtual_gpu(0);
  for (std::size_t i = 0; i < 100; ++i) {
    const std::size_t bytes = (std::size_t{30} << 30) + i * 4096;
    gpu.deallocate(gpu.allocate(bytes), bytes);
  }
}

TEST(VirtualGpu, RandomAllocationsStayApart) {
  std::mt19937 generator(11);  // NOLINT(cert-msc51-cpp)
  struct Live {
    unsigned char* data;
    std::size_t bytes;
    unsigned char value;
  };
  GpuBackend& gpu = virtual_gpu(0);
  std::vector<Live> live;
  const auto check_and_free = [&](std::size_t i) {
    std::vector<unsigned char> bytes(live[i].bytes);
    gpu.download(bytes.data(), live[i].data, bytes.size());
    for (unsigned char b : bytes) ASSERT_EQ(b, live[i].value);
    gpu.deallocate(live[i].data, live[i].bytes);
    live[i] = live.back();
    live.pop_back();
  };
  for (int step = 0; step < 3000; ++step) {
    if (live.size() < 50 || generator() % 2) {
      const std::size_t bytes = 1 + generator() % (generator() % 10 ? 3000 : 300000);
      live.push_back({static_cast<unsigned char*>(gpu.allocate(bytes)), bytes, static_cast<unsigned char>(step)});
      gpu.upload(live.back().data, std::vector<unsigned char>(bytes, live.back().value).data(), bytes);
    } else {
      check_and_free(generator() % live.size());
    }
  }
  while (!live.empty()) check_and_free(0);
}

TEST(VirtualGpu, OutOfMemory) {
  GpuBackend& gpu = virtual_gpu(0);
  for (std::size_t bytes : {std::size_t{64} << 30, std::size_t{1} << 50, ~std::size_t{0}, ~std::size_t{0} - 4096}) {
    try {
      gpu.allocate(bytes);
      ADD_FAILURE() << bytes;
    } catch (const OutOfMemory& e) {
      EXPECT_THAT(e.what(),
                  AllOf(StartsWith("out of memory on cuda:0: "), HasSubstr(" requested ("),
                        HasSubstr(fmt::format("({} bytes)", bytes)), HasSubstr(" in use by tensors, 0 B cached"),
                        HasSubstr(" free of 64.00 GiB in total. Release tensors or work on smaller parts")));
    }
  }
}

TEST(VirtualGpu, TransfersCheckTheirAddresses) {
  GpuBackend &first = virtual_gpu(0), &second = virtual_gpu(1);
  const Array<float> a(100, 0), b(100, 1);
  float host[200] = {};
  EXPECT_THAT(error_of([&] { first.upload(a.data(), host, 404); }),
              AllOf(HasSubstr("upload to Virtual GPU 0: 404 bytes at"), HasSubstr("cuda:0, at byte 0 of allocation #"),
                    HasSubstr("(400 bytes)")));
  EXPECT_THAT(error_of([&] { first.upload(a.data() + 99, host, 8); }), HasSubstr("at byte 396"));
  EXPECT_THAT(error_of([&] { first.upload(b.data(), host, 4); }),
              AllOf(HasSubstr("Virtual GPU 0"), HasSubstr("belongs to cuda:1, at byte 0")));
  EXPECT_THAT(error_of([&] { first.download(host, b.data(), 4); }),
              AllOf(HasSubstr("download from Virtual GPU 0"), HasSubstr("cuda:1")));
  EXPECT_THAT(error_of([&] { first.download(host, host + 100, 4); }), HasSubstr("belongs to the host"));
  EXPECT_THAT(error_of([&] { second.copy(a.data(), a.data(), 4, first); }),
              AllOf(HasSubstr("copy to Virtual GPU 1"), HasSubstr("cuda:0")));
  EXPECT_THAT(error_of([&] { second.copy(b.data(), b.data(), 4, first); }),
              AllOf(HasSubstr("copy from Virtual GPU 0"), HasSubstr("cuda:1")));
  EXPECT_THAT(error_of([&] { second.copy(b.data(), a.data(), 401, first); }), HasSubstr("401 bytes"));
  EXPECT_EQ(error_of([&] { first.upload(a.data() + 100, host, 0); }), "no error");
}

TEST(VirtualGpu, CopiesWithinAndBetweenDevices) {
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i) values[i] = i;
  const Array<int> a(values, 0), b(std::vector<int>(1000), 1), c(std::vector<int>(1000), 0);
  virtual_gpu(1).copy(b.data() + 1, a.data(), 999 * 4, virtual_gpu(0));
  virtual_gpu(0).copy(c.data(), b.data() + 1, 999 * 4, virtual_gpu(1));
  virtual_gpu(0).copy(c.data() + 100, c.data(), 400, virtual_gpu(0));
  const std::vector<int> r = c.get();
  for (int i = 0; i < 999; ++i) ASSERT_EQ(r[i], i < 100 || i >= 200 ? i : i - 100);
  for (const int by : {0, 1, 99})
    EXPECT_THAT(error_of([&] { virtual_gpu(0).copy(c.data() + by, c.data(), 400, virtual_gpu(0)); }),
                HasSubstr("the ranges overlap"));
  EXPECT_EQ(b.get()[0], 0);
}

/// Uses up the process's memory mappings while it lives.
class NoMappings {
 public:
  NoMappings() : pages_(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    for (std::size_t at = 0; at < bytes; at += 2 * page)
      if (::mprotect(static_cast<char*>(pages_) + at, page, PROT_READ) != 0) return;
    throw std::runtime_error("there are more mappings");
  }
  ~NoMappings() { ::munmap(pages_, bytes); }
  NoMappings(const NoMappings&) = delete;
  NoMappings& operator=(const NoMappings&) = delete;

 private:
  static constexpr std::size_t page = 4096, bytes = page << 23;
  void* pages_;
};

TEST(VirtualGpuDeathTest, WithoutMemoryForStacksALaunchSaysSo) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers need memory themselves";
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const TestKernel k(kernel_source("many_stacks", "int* y;", "  __syncthreads();\n  atomicAdd(p.y, 1);"));
        const Array<int> y(std::vector<int>{0});
        k({1, 32}, y);
        try {
          const NoMappings none;
          k({1, 1024}, y);
        } catch (const OutOfMemory& e) {
          k({1, 1024}, y);
          std::fprintf(stderr, "%s\n", e.what());
          std::_Exit(y.get()[0] == 32 + 1024 ? 5 : 1);
        }
      },
      ::testing::ExitedWithCode(5), "kernel many_stacks on cuda:0.*\n.*vm.max_map_count");
}

TEST(VirtualGpu, LaunchesThatAGpuRefuses) {
  const TestKernel& k = copy_kernel();
  const Array<float> y(32), x(32);
  const auto error = [&](Geometry g) { return error_of([&] { k(g, y, x, 32LL); }); };
  EXPECT_THAT(error({0, 32}), AllOf(HasSubstr("CUDA_ERROR_INVALID_VALUE"), HasSubstr("kernel copy_words on cuda:0"),
                                    HasSubstr("a grid of 0 blocks")));
  EXPECT_THAT(error({1u << 31, 1}), HasSubstr("a grid of 2147483648 blocks"));
  EXPECT_THAT(error({1, 0}), HasSubstr("blocks of 0 threads; 1 to 1024"));
  EXPECT_THAT(error({1, 1025}), HasSubstr("blocks of 1025 threads"));
  EXPECT_THAT(error({1, 257}), HasSubstr("__launch_bounds__ promises at most 256"));
  EXPECT_THAT(error({1, 32, (227 << 10) + 1}), HasSubstr("shared memory"));
  EXPECT_EQ(error({1, 32, 227 << 10}), "no error");
  EXPECT_THAT(error_of([&] { k({1, 32}, y, x); }), HasSubstr("16 bytes of parameters; the kernel's struct has 24"));
  const std::vector<std::uint64_t> wide(4096);
  EXPECT_THAT(error_of([&] { virtual_gpu(0).launch({.kernel = k.on(0).handle(), .words = wide}); }),
              HasSubstr("32768 bytes of parameters; at most 32764"));
  const std::vector<std::uint64_t> words(3);
  EXPECT_THAT(error_of([&] { virtual_gpu(0).launch({.kernel = k.on(0).handle(), .words = words, .pointers = 4}); }),
              HasSubstr("4 pointers among 3 parameters"));
}

TEST(VirtualGpu, SharedMemoryIsWhatVariablesAndLaunchTakeTogether) {
  const std::string variables = "  __shared__ char v[8192];\n  v[p.n] = 1;\n", dynamic = "  s[p.n] = 1;";
  const std::string before = "extern __shared__ float s[];";
  const TestKernel launchs(kernel_source("launchs_alone", "long long n;", dynamic, before));
  const TestKernel both(kernel_source("variables_too", "long long n;", variables + dynamic, before));
  const auto error = [](const TestKernel& k, unsigned bytes) { return error_of([&] { k({1, 1, bytes}, 0LL); }); };
  EXPECT_EQ(error(launchs, 227 << 10), "no error");
  EXPECT_THAT(error(launchs, (227 << 10) + 1), HasSubstr("0 + 232449 bytes of shared memory"));
  EXPECT_EQ(error(both, 219 << 10), "no error");
  EXPECT_THAT(error(both, (219 << 10) + 1), HasSubstr("8192 + 224257 bytes of shared memory"));
}

TEST(VirtualGpu, PointersMayBeNullOrInsideOrAtTheEnd) {
  const TestKernel& k = copy_kernel();
  const Array<float> y(32), x(32);
  k({1, 32}, static_cast<float*>(nullptr), static_cast<float*>(nullptr), 0LL);
  k({1, 16}, y.data() + 16, x.data() + 16, 16LL);
  k({1, 16}, y.data() + 32, x.data() + 32, 0LL);  // an empty slice at the end
}

TEST(VirtualGpu, CompileErrorsCarryLogAndSource) {
  const KernelSource bad{
      "bad", "extern \"C\" __global__ void bad(const __grid_constant__ int* p) {\n  int x = undefined_name;\n}\n"};
  try {
    virtual_gpu(0).compile(bad);
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_THAT(e.log(), AllOf(HasSubstr("bad.cu:2:"), HasSubstr("undefined_name")));
    EXPECT_EQ(e.source(), bad.text);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("kernel bad"), HasSubstr("undefined_name"),
                                HasSubstr("2 |   int x = undefined_name;")));
  }
}

TEST(VirtualGpu, TooMuchStaticSharedMemoryDoesNotCompile) {
  const auto source = [](int bytes) {
    return kernel_source(
        "shared_bytes", "char* y;",
        fmt::format(
            "  __shared__ char s[{}];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  p.y[threadIdx.x] = s[threadIdx.x];",
            bytes));
  };
  EXPECT_NO_THROW(virtual_gpu(0).compile(source(48 << 10)));
  try {
    virtual_gpu(0).compile(source((48 << 10) + 16));
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("49168 bytes of __shared__"), HasSubstr("49152")));
  }
}

TEST(VirtualGpu, CompileLeavesNoFiles) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("sinter-test-{}", ::getpid());
  std::filesystem::create_directory(folder);
  {
    const Environment there("TMPDIR", folder.c_str());
    virtual_gpu(0).compile(copy_source());
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove_all(folder);
  const Environment missing("TMPDIR", folder.c_str());
  try {
    virtual_gpu(0).compile(copy_source());
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr(folder.string()), HasSubstr("TMPDIR")));
  }
}

TEST(VirtualGpu, LoadRefusesWhatItCannotRun) {
  GpuBackend& gpu = virtual_gpu(0);
  const std::string binary = gpu.compile(copy_source());
  EXPECT_THAT(error_of([&] { gpu.load(binary, "other"); }), HasSubstr("kernel other: the binary holds copy_words"));
  for (const std::string& broken : {std::string(), std::string("text"), std::string(1000, '\0'), binary.substr(0, 100),
                                    binary.substr(0, binary.size() / 2), binary.substr(0, binary.size() - 1)})
    EXPECT_THAT(error_of([&] { gpu.load(broken, "copy_words"); }), HasSubstr("Cannot load kernel copy_words"))
        << broken.size();
}

TEST(VirtualGpu, TheLastCopyOfAFunctionUnloadsIt) {
  GpuBackend& gpu = virtual_gpu(0);
  const std::string binary = gpu.compile(copy_source());
  gpu.synchronize();
  const int before = sinter::test::mapped_kernels();
  Array<float> y(4), x(std::vector<float>{1, 2, 3, 4});
  {
    const KernelHandle f = gpu.load(binary, "copy_words"), copy = f;
    EXPECT_EQ(sinter::test::mapped_kernels(), before + 1);
    launch(gpu, copy, {1, 4}, y, x, 4LL);
  }
  gpu.synchronize();
  EXPECT_EQ(sinter::test::mapped_kernels(), before);
  EXPECT_EQ(y.get(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(VirtualGpu, EachLoadIsAnObjectOfItsOwn) {
  GpuBackend& gpu = virtual_gpu(0);
  Array<int> y(1);
  std::vector<KernelHandle> functions;
  for (int i = 0; i < 20; ++i) {
    const KernelSource source = kernel_source("same_name", "int* y;", fmt::format("  *p.y = {};", i));
    functions.push_back(gpu.load(gpu.compile(source), "same_name"));
  }
  for (int i = 0; i < 20; ++i) {
    launch(gpu, functions[i], {1, 1}, y);
    EXPECT_EQ(y.get()[0], i);
  }
}

TEST(VirtualGpu, TimeoutMustBeANumber) {
  for (const char* bad : {"ten", "-1", "5s", "inf", "nan"}) {
    const Environment limit("SINTER_VIRTUAL_TIMEOUT", bad);
    try {
      runtime::make_virtual_gpu(3);
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(fmt::format("SINTER_VIRTUAL_TIMEOUT=\"{}\" is not valid", bad)));
    }
  }
  for (const char* good : {"", "0", "0.5", "1e3"}) {
    const Environment limit("SINTER_VIRTUAL_TIMEOUT", good);
    EXPECT_NO_THROW(runtime::make_virtual_gpu(3)) << good;
  }
}

// The compiler is looked for once per process, so each of these takes a process of its own.
void expect_compile(const char* compiler, const char* path, const char* expected) {
  const Environment chosen("SINTER_HOST_CXX", compiler), search("PATH", path ? path : std::getenv("PATH"));
  std::string result = "compiled";
  try {
    const auto gpu = runtime::make_virtual_gpu(0);
    gpu->load(gpu->compile(copy_source()), "copy_words");
  } catch (const Error& e) {
    result = e.what();
    if (result.find("copy_words") != std::string::npos) result = "the error shows the kernel";
  }
  std::_Exit(result.find(expected) == std::string::npos ? (fmt::print(stderr, "{}", result), 1) : 0);
}

TEST(VirtualGpuDeathTest, CompilerIsFoundOrTheErrorSaysHow) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(expect_compile(nullptr, nullptr, "compiled"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_compile("g++ -DEXTRA", nullptr, "compiled"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_compile(nullptr, "/nowhere",
                             "Searched: c++, g++, clang++ in PATH: /nowhere. Install one (apt install g++)"),
              ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_compile("/no/compiler", nullptr, "Searched: SINTER_HOST_CXX=/no/compiler"),
              ::testing::ExitedWithCode(0), "");
}

TEST(VirtualGpuDeathTest, ACompilerThatFailsIsNotCalledMissing) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto expect = [](const char* compiler, const char* expected) {
    EXPECT_EXIT(expect_compile(compiler, nullptr, expected), ::testing::ExitedWithCode(0), "") << compiler;
  };
  expect("/bin/false", "`/bin/false --version` failed (exit status 1). It printed");
  expect("sh -c false",
         "`sh -c false --version` failed (exit status 1). It printed nothing. Repair it, or set SINTER_HOST_CXX");
  expect("/bin/ls --no-such-option",
         "`/bin/ls --no-such-option --version` failed (exit status 2). It printed:\n  /bin/ls");
  expect("sh -c :", "`sh -c :` wrote no output file (exit status 0). It printed nothing. Set SINTER_HOST_CXX");
}

}  // namespace
}  // namespace sinter::test
