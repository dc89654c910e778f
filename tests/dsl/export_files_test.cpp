// The files of an exported library: how C and C++ compile them, and that output is reproducible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include <jit/functions/c_names.hpp>
#include "../file_limit.hpp"
#include "../golden.hpp"
#include "exported.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;

jit::Export exported_fused(ExportOptions options = {}) {
  const Tensor<float> z = zeros<float>({3}), y = zeros<float>({3});
  options.name = "fused";
  return exported(exp(z + 2) * y, options);
}
jit::Export soft() { return exported(softmax(Tensor<float>(zeros<float>({3, 4})), -1), {.name = "soft"}); }

Exported write(const std::vector<jit::Export>& kernels, const LibraryOptions& options) {
  return jit::exporting::write_library(jit::exporting::make_library(kernels, options, text_image));
}

/// The exit status of a shell's command.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ExportFilesTest, AreTheSameEachTime) {
  const LibraryOptions options{
      .name = "k", .architectures = {80, 90}, .cpp_wrapper = true, .ptx_files = true, .dot = true};
  const Exported a = write({exported_fused(), soft()}, options), b = write({exported_fused(), soft()}, options);
  EXPECT_EQ(a.files, b.files);
  std::vector<std::string> names;
  for (const auto& [name, text] : a.files) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"k.c", "k.cu", "k.dot", "k.h", "k.hpp", "k.json", "k.ptx"}));
  EXPECT_NE(write({exported_fused({.in_place = true})}, options).files, write({exported_fused()}, options).files);
  for (const auto& [name, text] : a.files) EXPECT_EQ(text.find("/tmp"), std::string::npos) << name;
}

/// What compiled programs rely on. Where a program that was compiled with the golden header would break, the ABI
/// version has to increase; else run with SINTER_UPDATE_GOLDEN=1.
TEST(ExportFilesTest, TheInterfaceIsThatOfItsVersion) {
  const Tensor<float> x = zeros<float>({3, 4}), z = zeros<float>({3});
  const Tensor<std::int64_t> index = zeros<std::int64_t>({3, 4});
  const Tensor<bool> mask = zeros<bool>({3});
  const Tensor<std::complex<float>> c = zeros<std::complex<float>>({3});
  const std::vector<jit::Export> kernels = {
      exported(exp(z + 2) * 0.5,
               {.name = "fused", .inputs = {"z"}, .sizes = {{"n"}}, .numbers = {"shift", "scale"}, .strided = {"z"}}),
      exported(softmax(x, -1), {.name = "soft", .inputs = {"x"}, .sizes = {{"rows", "columns"}}}),
      exported(take_along_dim(x, index, 1), {.name = "taken", .inputs = {"x", "i"}, .sizes = {{"n", "4"}}}),
      exported(where(mask, c, c * 2), {.name = "chosen", .inputs = {"mask", "c"}}),
      exported(z.to<bfloat16>(), {.name = "narrow", .inputs = {"z"}}),
      exported_together({.name = "moments", .outputs = {"mean", "var"}}, mean(x, 1), var(x, 1))};
  const LibraryOptions options{
      .name = "k", .prefix = "my_", .architectures = {90}, .format = ExportFormat::Fatbin, .dlpack = true};
  test::expect_golden("export_interface.txt", write(kernels, options).files.at("k.h"));
}

TEST(ExportFilesTest, StayUntouchedWhereNothingChanged) {
  const ScratchFolder folder;
  const Exported exported = write({exported_fused()}, {.name = "k", .architectures = {90}});
  exported.write(folder.file("deep/folder"));
  const fs::path path = folder.path() / "deep/folder/k.c";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(path, old);
  exported.write(folder.file("deep/folder"));
  EXPECT_EQ(fs::last_write_time(path), old);
  put(path, "something else");
  exported.write(folder.file("deep/folder"));
  std::ifstream again(path, std::ios::binary);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(again), {}}), exported.files.at("k.c"));
  EXPECT_THROW(exported.write("/proc/no/such/folder"), Error);
}

/// The names that exist.
std::vector<std::string> compilers(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names)
    if (run(name + " --version > /dev/null 2>&1") == 0) found.push_back(name);
  return found;
}

/// One kernel of each kind.
std::vector<jit::Export> all_kinds() {
  using Complex = std::complex<double>;
  const Tensor<float> x = zeros<float>({4, 5});
  const Tensor<std::int64_t> i = zeros<std::int64_t>({7}), k = zeros<std::int64_t>({7});
  const Tensor<Complex> z = zeros<Complex>({4, 5});
  return {
      exported_fused({.numbers = {"shift"}, .strided = {"x0"}}),
      soft(),
      exported(sum(z * z, -1), {.name = "parts"}),
      exported(dropout(x * 1.0f, 0.5), {.name = "draw", .numbers = {"draw", "seed"}}),
      exported(randn_like(x * 1.0f), {.name = "normal"}),
      exported(remainder(take(k, i), k), {.name = "read"}),
      exported(one_hot(i, 5), {.name = "hot"}),
      exported(x * 2.0f, {.name = "names", .inputs = {"Error"}, .sizes = {{"code", "function"}}, .numbers = {"run"}})};
}

TEST(ExportFilesTest, CompileAsCAndCpp) {
  const ScratchFolder folder;
  const std::string at = "cd " + folder.path().string() + " && ",
                    warn = " -Wall -Wextra -Wshadow -pedantic -Werror -fsyntax-only ";
  LibraryOptions options{.name = "k", .architectures = {90}, .cpp_wrapper = true, .dlpack = true};
  write(all_kinds(), options).write(folder.path().string());
  options.name = "f", options.prefix = "f_", options.format = ExportFormat::Fatbin;
  write(all_kinds(), options).write(folder.path().string());
  options.name = "h", options.prefix = "h_", options.format = ExportFormat::Header;
  write(all_kinds(), options).write(folder.path().string());
  put(folder.path() / "user.cpp",
      "#include \"k.hpp\"\n#include \"k.h\"\n#include \"f.hpp\"\n#define H_H_IMPLEMENTATION\n"
      "#include \"h.hpp\"\nint main() { return 0; }\n");
  put(folder.path() / "user.c",
      "#define _POSIX_C_SOURCE 200809L\n#include \"k.h\"\n#include \"f.h\"\n"
      "#define H_H_IMPLEMENTATION\n#include \"h.h\"\n#include \"h.h\"\n");
  for (const std::string& cc : compilers({c_compiler(), "clang"}))
    EXPECT_EQ(run(at + cc + " -std=c99" + warn + "k.c f.c user.c"), 0) << cc;
  EXPECT_EQ(run(at + c_compiler() + " -std=c17" + warn + "k.c"), 0);
  const char* const cxx = std::getenv("CXX") ? std::getenv("CXX") : "c++";
  for (const std::string& c : compilers({cxx, "clang++"}))
    EXPECT_EQ(run(at + c + " -std=c++20" + warn + "user.cpp -x c++ k.c"), 0) << c;
  EXPECT_EQ(run(at + cxx + " -std=c++17" + warn + "user.cpp"), 0);
}

/// A program of two libraries, one of them header-only, that returns what a launch returns; compiled without Sinter.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write({exported_fused()}, {.name = "one", .prefix = "p_", .architectures = {90}}).write(folder.path().string());
    write({soft(), exported_fused()},
          {.name = "two", .prefix = "q_", .architectures = {90}, .format = ExportFormat::Header})
        .write(folder.path().string());
    put(folder.path() / "two_impl.c",
        "#define _POSIX_C_SOURCE 200809L\n#define Q_TWO_IMPLEMENTATION\n#include \"two.h\"\n");
    put(folder.path() / "main.c", R"(
#include <math.h>
#include "one.h"
#include "two.h"
int main(void) {
  float z[3] = {0, 1, 2}, y[3] = {1, 2, 3}, a[3], b[3];
  int i;
  if (p_fused_cpu(a, z, y, 3) != P_ONE_OK || q_fused_cpu(b, z, y, 3) != Q_TWO_OK) return 100;
  for (i = 0; i < 3; ++i)
    if (a[i] != b[i] || fabsf(a[i] - expf(z[i] + 2) * y[i]) > 1e-3f) return 101;
  if (q_soft_cpu(b, z, 1, 3) != 0 || fabsf(b[0] + b[1] + b[2] - 1) > 1e-6f) return 102;
  if (p_one_abi_version() != P_ONE_ABI_VERSION) return 103;
  if (!p_one_error_text(P_ONE_NO_DRIVER) || !p_one_error_text(P_ONE_DRIVER_ERROR + 1)) return 104;
  if (q_soft_launch(0, b, z, 1, 3, 0, 0) == 0) return 105;
  return p_fused_launch(0, a, z, y, 3);
}
)");
    ASSERT_EQ(run(at() + c_compiler() +
                  " -std=c99 -Wall -Wextra -pedantic -Werror -o program main.c one.c two_impl.c -lm -ldl -lpthread"),
              0);
  }
  std::string at() const { return "cd " + folder.path().string() + " && "; }

  ScratchFolder folder;
};

TEST_F(ProgramTest, TakesTwoLibrariesAndNoDriver) {
  put(folder.path() / "libcuda.so.1", "no library");  // before any that the machine has
  EXPECT_EQ(run(at() + "LD_LIBRARY_PATH=. ./program"), no_driver);
}

TEST_F(ProgramTest, SaysThatADriverIsTooOld) {
  put(folder.path() / "old.c", "int cuInit(unsigned flags);\nint cuInit(unsigned flags) { return (int)flags; }\n");
  ASSERT_EQ(run(at() + c_compiler() + " -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 old.c"), 0);
  EXPECT_EQ(run(at() + "LD_LIBRARY_PATH=. ./program"), old_driver);
}

/// A driver in which every call succeeds immediately, and which counts what the process has loaded.
constexpr std::string_view quick_driver = R"(
#include <pthread.h>
#define CALL(name) int name
CALL(cuInit)(unsigned flags) { return (int)flags; }
CALL(cuGetErrorString)(int code, const char **text) { *text = "an error"; return code - code; }
CALL(cuCtxGetCurrent)(void **context) { *context = (void *)(long)16; return 0; }
CALL(cuCtxGetDevice)(int *device) { return *device = 0; }
CALL(cuDeviceGetAttribute)(int *value, int attribute, int device) { *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1000; return device; }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int modules;
CALL(cuModuleLoadData)(void **module, const void *image) {
  pthread_mutex_lock(&mutex);
  *module = (void *)(long)++modules;
  pthread_mutex_unlock(&mutex);
  return image ? 0 : 1;
}
CALL(cuModuleUnload)(void *module) {
  pthread_mutex_lock(&mutex);
  --modules;
  pthread_mutex_unlock(&mutex);
  return module ? 0 : 400;
}
CALL(cuModuleGetFunction)(void **function, void *module, const char *name) { *function = module; return name ? 0 : 500; }
CALL(cuFuncGetAttribute)(int *value, int attribute, void *function) { *value = 0; return function && attribute ? 0 : 1; }
CALL(cuFuncSetAttribute)(void *function, int attribute, int value) { return function && attribute && value ? 0 : 1; }
CALL(cuLaunchKernel)(void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z, unsigned s, void *stream, void **p, void **e) {
  return f && a && b && c && x && y && z && p && !e && s < 1u << 20 && !stream ? 0 : 1;
}
)";

constexpr std::string_view warnings = " -w -g -O1 ";

/// Threads of a program compiled with ThreadSanitizer launch, load, open and unload.
TEST(ExportFilesTest, ThreadsShareNothingUnguarded) {
  const ScratchFolder folder;
  const std::string at = "cd " + folder.path().string() + " && ";
  write({exported_fused(), soft()},
        {.name = "k", .architectures = {90}, .format = ExportFormat::Fatbin, .dlpack = true})
      .write(folder.path().string());
  put(folder.path() / "driver.c", std::string(quick_driver));
  put(folder.path() / "main.c", R"(
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "k.h"
static float memory[64];
static void *work(void *unused) {
  int i;
  (void)unused;
  for (i = 0; i < 60; ++i) {
    if (k_open("k.fatbin") != 0) return memory;
    if (fused_launch(0, memory, memory + 16, memory + 32, 8) != 0) return memory;
    if (soft_launch(0, memory, memory + 16, 2, 4, 0, 0) != 0) return memory;
    if (k_load() != 0 || !k_error_text(1001)) return memory;
    if (i % 20 == 0 && k_unload() != 0) return memory;
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  void *result;
  int i, failed = 0, status;
  for (i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (i = 0; i < 4; ++i) {
    pthread_join(threads[i], &result);
    failed |= result != 0;
  }
  if (failed) return 1;
  i = fork();
  if (i == 0) _exit(fused_launch(0, memory, memory + 16, memory + 32, 8));
  waitpid(i, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == K_AFTER_FORK ? 0 : 2;
}
)");
  if (run(at + "echo 'int main(void) { return 0; }' > t.c && " + c_compiler() +
          " -fsanitize=thread t.c -o t > /dev/null 2>&1 && ./t > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no ThreadSanitizer";
  const std::string build = at + c_compiler() + " -fsanitize=thread" + std::string(warnings);
  ASSERT_EQ(run(build + "-shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 driver.c"), 0);
  ASSERT_EQ(run(build + "-o program main.c k.c -lm -ldl -lpthread"), 0);
  EXPECT_EQ(run(at + "LD_LIBRARY_PATH=. TSAN_OPTIONS=halt_on_error=1:exitcode=66 ./program"), 0);
}

/// Functions that run before main, from objects in other files, possibly before the header's own file.
TEST(ExportFilesTest, WorkBeforeMain) {
  const ScratchFolder folder;
  write({exported_fused()}, {.name = "k", .architectures = {90}, .format = ExportFormat::Header})
      .write(folder.path().string());
  put(folder.path() / "driver.c", std::string(quick_driver));
  put(folder.path() / "main.cpp", R"(
#include "k.h"
static float memory[64];
struct Early {
  int cpu = fused_cpu(memory, memory + 16, memory + 32, 8), load = k_load(),
      launch = fused_launch(nullptr, memory, memory + 16, memory + 32, 8);
  ~Early() { k_unload(); }
} early;
int main() { return early.cpu + early.load + early.launch; }
)");
  put(folder.path() / "kernels.cpp", "#define K_IMPLEMENTATION\n#include \"k.h\"\n");
  const std::string at = "cd " + folder.path().string() + " && ";
  ASSERT_EQ(run(at + c_compiler() + " -w -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 driver.c"), 0);
  const char* const cxx = std::getenv("CXX") ? std::getenv("CXX") : "c++";
  for (const char* const files : {" main.cpp kernels.cpp", " kernels.cpp main.cpp"}) {
    ASSERT_EQ(run(at + cxx + " -std=c++20 -Wall -Wextra -pedantic -Werror -o program" + files + " -lm -ldl -lpthread"),
              0);
    EXPECT_EQ(run(at + "LD_LIBRARY_PATH=. ./program"), 0);
  }
}

/// The message of the exception thrown.
template <class F>
std::string message(F make) {
  try {
    (void)make();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ExportFilesTest, SaysWhichOptionsAreWrong) {
  using ::testing::HasSubstr;
  const auto of = [](LibraryOptions options) { return message([&] { return write({exported_fused()}, options); }); };
  EXPECT_THAT(of({.name = "a b"}), HasSubstr("library \"a b\" is not a valid name"));
  EXPECT_THAT(of({.name = ""}), HasSubstr("is not a valid name"));
  EXPECT_THAT(of({.name = "int"}), HasSubstr("library \"int\" is reserved by C"));
  EXPECT_THAT(of({.name = "k", .prefix = "9"}), HasSubstr("prefix \"9\" is not a valid name"));
  EXPECT_THAT(of({.name = "k", .prefix = "my__"}), HasSubstr("single underscores"));
  EXPECT_THAT(of({.name = "k", .prefix = "sinter_"}), HasSubstr("is reserved"));
  EXPECT_THAT(of({.name = "k", .architectures = {9}}),
              HasSubstr("9 is not an architecture: 90 is compute capability 9.0"));
  EXPECT_THAT(of({.name = "k", .architectures = {-90}}), HasSubstr("-90 is not an architecture"));
  EXPECT_THAT(of({.name = "k", .architectures = {90, 90}}), HasSubstr("given twice"));
  EXPECT_THAT(of({.name = "k", .architectures = {}, .format = ExportFormat::Fatbin}),
              HasSubstr("is for no architecture: name some, or choose another format"));
  const auto kernel = [](const std::string& name) {
    return exported(Tensor<float>(zeros<float>({3})) + 1.0f, {.name = name});
  };
  EXPECT_THAT(
      message([&] { return write({kernel("Error")}, {.name = "k", .architectures = {}, .cpp_wrapper = true}); }),
      HasSubstr("is used by the C++ wrapper"));
  for (const char* const word : {"while", "thread_local", "co_await", "typeof", "stdin"})
    EXPECT_THAT(message([&] { return write({kernel(word)}, {.name = "k"}); }), HasSubstr("is reserved")) << word;
  EXPECT_THAT(message([&] { return write({kernel("INT64_MAX")}, {.name = "k"}); }), HasSubstr("collide with a macro"));
  const auto together = [&](const char* a, const char* b) {
    return message([&] { return write({kernel(a), kernel(b)}, {.name = "k", .architectures = {}}); });
  };
  EXPECT_THAT(together("a", "a"), HasSubstr("two kernels of the library are called a"));
  EXPECT_THAT(together("a", "a_launch"), HasSubstr("collides with functions generated for kernel a"));
  EXPECT_THAT(together("a_dlpack", "a"), HasSubstr("choose another name"));
  EXPECT_EQ(together("a", "ab_launch"), "nothing was thrown");
  const Exported files = write({exported_fused()}, {.name = "k", .architectures = {}});
  EXPECT_THAT(message([&] { return files.write("/proc/no/such"), 0; }), HasSubstr("Name one that you may write to"));
  const ScratchFolder folder;
  put(folder.path() / "file", "");
  EXPECT_THAT(message([&] { return files.write(folder.file("file")), 0; }), HasSubstr("cannot be"));
  fs::create_directories(folder.path() / "taken" / "k.c");  // where the file is to be
  EXPECT_THAT(message([&] { return files.write(folder.file("taken")), 0; }),
              HasSubstr("k.c': it is a directory, not a file"));
}

TEST(ExportFilesTest, NoNameIsAMacroOfTheCLibrary) {
  const ScratchFolder folder;
  std::string text;
  for (const char* const header :
       {"assert", "complex",     "ctype",  "errno",    "fenv",   "float",     "inttypes", "iso646", "limits", "locale",
        "math",   "setjmp",      "signal", "stdalign", "stdarg", "stdatomic", "stdbool",  "stddef", "stdint", "stdio",
        "stdlib", "stdnoreturn", "string", "tgmath",   "time",   "uchar",     "wchar",    "wctype"})
    text += std::string("#include <") + header + ".h>\n";
  put(folder.path() / "all.c", text);
  ASSERT_EQ(run("cc -std=c11 -dM -E " + folder.file("all.c") + " > " + folder.file("macros")), 0);
  std::istringstream lines(read_text(folder.file("macros")));
  int macros = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(8, line.find(' ', 8) - 8);
    // Function-like macros do not expand without parentheses; names with these underscores are not ours.
    if (name.find('(') != std::string::npos || name.starts_with('_') || name.find("__") != std::string::npos) continue;
    ++macros;
    EXPECT_THROW(jit::check_name(name, "input"), Error) << name;
  }
  EXPECT_GT(macros, 300);
  for (const char* const name : {"x", "Input", "E", "eps", "PRIOR", "imag", "i"})
    EXPECT_NO_THROW(jit::check_name(name, "input")) << name;
}

TEST(ExportFilesTest, AppearTogetherOrNotAtAll) {
  const Exported files = write({exported_fused(), soft()}, {.name = "k", .architectures = {}});
  const ScratchFolder folder;
  put(folder.path() / "k.c", "old");
  const auto content = [&] {
    std::map<std::string, std::string> all;
    for (const auto& file : fs::directory_iterator(folder.path())) all[file.path().filename()] = read_text(file.path());
    return all;
  };
  const auto before = content();
  for (const rlim_t limit : file_limits) {
    Exported larger = files;
    larger.files["k.h"] += std::string(200'000, ' ');  // written after k.c
    const int status = under_file_limit(limit, [&] {
      const std::string text = message([&] { return larger.write(folder.path()), 0; });
      return text.find("(ulimit -f)") != std::string::npos && text.find("with room for") != std::string::npos ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << limit;
    EXPECT_EQ(content(), before) << limit;
  }
  files.write(folder.path());
  put(folder.path() / "k.c", "old");
  fs::remove(folder.path() / "k.h");
  fs::remove(folder.path() / "k.json");
  fs::create_directory(folder.path() / "k.json");  // the last of them
  message([&] { return files.write(folder.path()), 0; });
  EXPECT_EQ(read_text(folder.path() / "k.c"), "old");
  EXPECT_FALSE(fs::exists(folder.path() / "k.h"));
}

TEST(ExportFilesTest, ManifestTellsWhatThereIs) {
  const auto json = nlohmann::json::parse(
      write({exported_fused({.inputs = {"z", "y"}, .sizes = {{"n"}}, .numbers = {"shift"}}), soft()},
            {.name = "k", .prefix = "my_", .architectures = {90}})
          .files.at("k.json"));
  EXPECT_EQ(json["abi_version"], export_abi_version);
  EXPECT_EQ(json["targets"], (std::vector<std::string>{"sm_90", "compute_90"}));
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["launch"], "my_fused_launch");
  EXPECT_EQ(kernel["inputs"][0]["name"], "z");
  EXPECT_EQ(kernel["inputs"][0]["dtype"], "float32");
  EXPECT_EQ(kernel["inputs"][0]["ndim"], 1);
  EXPECT_EQ(kernel["sizes"], std::vector<std::string>{"n"});
  EXPECT_EQ(kernel["numbers"][0]["c_type"], "int64_t");
  EXPECT_EQ(kernel["steps"][0]["layouts"][0]["variants"].size(), 4u);
  EXPECT_TRUE(json["kernels"][1]["workspace"]);
  for (const auto& step : json["kernels"][1]["steps"])
    for (const auto& variant : step["layouts"][0]["variants"])
      EXPECT_LT(variant["image"].get<std::size_t>(), json["images"].size());
}

TEST(ExportFilesTest, HoldWhatNvrtcCompiled) {
  const auto make = [] {
    return export_kernel(exp(Tensor<float>(zeros<float>({3})) + 2), {.name = "e"},
                         {.architectures = {90}, .ptx_files = true});
  };
  Exported out;
  try {
    out = make();
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();  // there is no NVRTC
  }
  const auto json = nlohmann::json::parse(out.files.at("e.json"));
  EXPECT_GT(json["images"][0]["binaries"][0]["registers"], 4);
  EXPECT_EQ(json["images"][0]["binaries"][0]["spill_stores"], 0);
  EXPECT_NE(out.files.at("e.ptx").find(".target sm_90"), std::string::npos);
  EXPECT_NE(out.files.at("e.c").find("010102464c457f,"), std::string::npos) << "an ELF file";
  EXPECT_EQ(out.files, make().files);
  EXPECT_THROW(export_kernel(Tensor<float>(zeros<float>({3})) + 2, {}, {.architectures = {55}}), DeviceError);
}

}  // namespace
}  // namespace sinter::testing
