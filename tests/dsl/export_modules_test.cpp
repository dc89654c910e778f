// How exported kernels are loaded and unloaded, from the program or from a file; forks; and the functions that take
// DLPack tensors.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sinter/dsl/dlpack_abi.hpp>
#include <thread>
#include <vector>

#include "exported.hpp"

namespace sinter::testing {
namespace {

class ExportModulesTest : public ExportedTest {};

using Long = std::int64_t;
using Plain = int(void*, float*, const float*, Long);

jit::Export twice() { return exported(zeros<float>({3}) * 2.0f, {.name = "own"}); }

TEST_F(ExportModulesTest, UnloadsFromTheCurrentContext) {
  const ExportedLibrary own(twice());
  auto* const launch = own.get<Plain>("own_launch");
  auto* const unload = own.get<int()>("own_unload");
  EXPECT_EQ(unload(), ok);  // nothing is loaded
  const int loaded = driver().modules_loaded(), unloaded = driver().modules_unloaded();
  std::vector<Tensor<float>> x, out;
  for (const char* gpu : {"cuda:0", "cuda:1"})
    x.push_back(ones<float>({8}).to(Device(gpu))), out.push_back(zeros<float>({8}).to(Device(gpu)));
  const auto go = [&](std::size_t device) {
    driver().use_context(static_cast<int>(device));
    return launch(nullptr, out[device].data(), x[device].data(), 8);
  };
  ASSERT_EQ(go(0), ok);
  ASSERT_EQ(go(1), ok);
  EXPECT_EQ(unload(), ok);  // those of GPU 1
  EXPECT_EQ(driver().modules_unloaded(), unloaded + 1);
  ASSERT_EQ(go(0), ok);
  EXPECT_EQ(driver().modules_loaded(), loaded + 2);
  ASSERT_EQ(go(1), ok);  // once more
  EXPECT_EQ(driver().modules_loaded(), loaded + 3);
  ASSERT_EQ(own.get<int()>("own_load")(), ok);
  EXPECT_EQ(driver().modules_loaded(), loaded + 6);  // all four variants
  EXPECT_EQ(unload(), ok);
  EXPECT_EQ(driver().modules_unloaded(), unloaded + 5);
  EXPECT_EQ(unload(), ok);
  EXPECT_EQ(driver().modules_unloaded(), unloaded + 5);
  driver().use_context(-1);
  EXPECT_EQ(unload(), no_context);
  ASSERT_EQ(go(0), ok);
  driver().fail("cuModuleUnload", 700);
  EXPECT_EQ(unload(), driver_error + 700);
  driver().fail(nullptr, 0);
  EXPECT_EQ(unload(), ok);  // nothing remains of what failed
  ASSERT_EQ(go(0), ok);
}

TEST_F(ExportModulesTest, LeavesWhatADestroyedContextHad) {
  const ExportedLibrary own(twice());
  auto* const launch = own.get<Plain>("own_launch");
  const Tensor<float> x = ones<float>({8}).to(gpu0), out = zeros<float>({8}).to(gpu0);
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 8), ok);
  const int unloaded = driver().modules_unloaded();
  driver().use_context(0, 5);  // it is destroyed, and another one has its address
  EXPECT_EQ(own.get<int()>("own_unload")(), ok);
  EXPECT_EQ(driver().modules_unloaded(), unloaded);
  ASSERT_EQ(launch(nullptr, out.data(), x.data(), 8), ok);
  EXPECT_EQ(own.get<int()>("own_unload")(), ok);
  EXPECT_EQ(driver().modules_unloaded(), unloaded + 1);
}

/// The exit status of a child process.
template <class F>
int in_child(F run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ExportModulesTest, SaysThatAForkHasNoDriver) {
  const ExportedLibrary own(twice());
  auto* const launch = own.get<Plain>("own_launch");
  const Tensor<float> x = ones<float>({8}).to(gpu0), out = zeros<float>({8}).to(gpu0);
  std::vector<float> in(8, 1.0f), host(8);
  const auto go = [&] { return launch(nullptr, out.data(), x.data(), 8); };
  ASSERT_EQ(go(), ok);
  EXPECT_EQ(in_child([&] { return go(); }), after_fork);
  EXPECT_EQ(in_child([&] { return own.get<int()>("own_load")(); }), after_fork);
  EXPECT_EQ(in_child([&] { return own.get<int()>("own_unload")(); }), ok);
  EXPECT_EQ(in_child([&] { return own.get<const char*(int)>("own_error_text")(driver_error + 1) == nullptr; }), 0);
  EXPECT_EQ(in_child([&] { return own.get<int(float*, const float*, Long)>("own_cpu")(host.data(), in.data(), 8); }),
            ok);
  EXPECT_EQ(go(), ok);
  // If threads launch, load and unload nothing, a child can still query.
  std::atomic<bool> done = false;
  std::thread other([&] {
    driver().use_context(0);
    while (!done) (void)own.get<int()>("own_load")();
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child([&] { return go(); }), after_fork);
  done = true;
  other.join();
}

// ---- The file of kernels

class ExportFileTest : public ExportModulesTest {
 protected:
  static LibraryOptions options() { return {.name = "own", .architectures = {80, 90}, .format = ExportFormat::Fatbin}; }
  std::string changed(const std::string& name, auto change) const {
    std::string bytes = own.files.files.at("own.fatbin");
    change(bytes);
    std::ofstream(own.folder.file(name), std::ios::binary) << bytes;
    return own.folder.file(name);
  }
  int open(const std::string& path) const { return own.get<int(const char*)>("own_open")(path.c_str()); }

  ExportedLibrary own{{twice()}, options()};
  Tensor<float> x = ones<float>({8}).to(gpu0), out = zeros<float>({8}).to(gpu0);
  int go() const { return own.get<Plain>("own_launch")(nullptr, out.data(), x.data(), 8); }
};

TEST_F(ExportFileTest, IsReadAtRunTime) {
  EXPECT_EQ(own.files.files.at("own.c").find("virtual image"), std::string::npos);
  EXPECT_EQ(go(), file_not_open);
  float in = 1, host = 0;
  EXPECT_EQ(own.get<int(float*, const float*, Long)>("own_cpu")(&host, &in, 1), ok);
  EXPECT_EQ(own.get<int(const char*)>("own_open")(nullptr), null_pointer);
  EXPECT_EQ(open(own.folder.file("none")), file_unreadable);
  EXPECT_EQ(open(own.folder.path().string()), file_unreadable);  // a folder
  EXPECT_EQ(open(changed("short", [](std::string& b) { b.pop_back(); })), file_mismatch);
  EXPECT_EQ(open(changed("empty", [](std::string& b) { b.clear(); })), file_mismatch);
  EXPECT_EQ(open(changed("long", [](std::string& b) { b += '\0'; })), file_mismatch);
  EXPECT_EQ(open(changed("bit", [](std::string& b) { b[b.size() / 2] ^= 1; })), file_mismatch);
  EXPECT_EQ(go(), file_not_open);
  EXPECT_EQ(open(own.folder.file("own.fatbin")), ok);
  const std::string other(own.files.files.at("own.fatbin").size() + 1,
                          'x');  // where the file's memory was, if it had been freed
  EXPECT_EQ(go(), ok);
  EXPECT_TRUE(same_bits(out, Tensor<float>(x * 2.0f)));
  EXPECT_EQ(open(own.folder.file("own.fatbin")), ok);
  EXPECT_EQ(open(own.folder.file("bit")), file_mismatch);
  EXPECT_EQ(go(), ok);
}

TEST_F(ExportFileTest, IsGivenBack) {
  auto* const close = own.get<void()>("own_close");
  auto* const unload = own.get<int()>("own_unload");
  close();  // there is none
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(open(own.folder.file("own.fatbin")), ok);
    EXPECT_EQ(go(), ok);
    close();
    EXPECT_EQ(go(), ok);  // it is loaded
    EXPECT_EQ(unload(), ok);
    EXPECT_EQ(go(), file_not_open);
  }
  const std::string& bytes = own.files.files.at("own.fatbin");
  std::vector<std::uint64_t> memory(bytes.size() / 8 + 1);
  std::memcpy(memory.data(), bytes.data(), bytes.size());
  ASSERT_EQ(own.get<int(const void*, std::size_t)>("own_use")(memory.data(), bytes.size()), ok);
  EXPECT_EQ(go(), ok);
  close();  // frees nothing of the library's
  EXPECT_EQ(unload(), ok);
  memory.clear();
  EXPECT_EQ(go(), file_not_open);
}

TEST_F(ExportFileTest, IsTakenFromMemory) {
  const std::string& bytes = own.files.files.at("own.fatbin");
  std::vector<std::uint64_t> memory(bytes.size() / 8 + 1);
  std::memcpy(memory.data(), bytes.data(), bytes.size());
  auto* const use = own.get<int(const void*, std::size_t)>("own_use");
  EXPECT_EQ(use(nullptr, bytes.size()), null_pointer);
  EXPECT_EQ(use(memory.data(), bytes.size() - 1), file_mismatch);
  EXPECT_EQ(use(reinterpret_cast<const char*>(memory.data()) + 4, bytes.size()), misaligned);
  EXPECT_EQ(use(memory.data(), bytes.size()), ok);
  EXPECT_EQ(go(), ok);
  EXPECT_EQ(own.get<int()>("own_unload")(), ok);
}

TEST_F(ExportFileTest, IsWhatCudasToolWrites) {
  const std::string path = "PATH=$PATH:$CUDA_HOME/bin:/usr/local/cuda/bin; ";
  if (std::system((path + "fatbinary --version > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "there is no fatbinary, which the CUDA toolkit has";
  LibraryOptions without_ptx = options();
  without_ptx.ptx = false;
  jit::exporting::Library library;
  try {
    library = jit::exporting::make_library(
        {twice()}, without_ptx,
        [](const runtime::KernelSource& s, const std::string& a) { return runtime::nvrtc_report(s, a); });
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();  // there is no NVRTC
  }
  std::string command =
      path + "cd " + own.folder.path().string() + " && fatbinary --create=tool.fatbin -64 --compress=false";
  for (std::size_t i = 0; i < library.images.size(); ++i)
    for (std::size_t t = 0; t < library.targets.size(); ++t) {
      const std::string file = fmt::format("{}_{}.cubin", i, t);
      std::ofstream(own.folder.file(file), std::ios::binary) << library.images[i].compiled[t].binary;
      command += fmt::format(" --image3=kind=elf,sm={},file={}", library.targets[t].architecture, file);
    }
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(own.folder.file("tool.fatbin"), std::ios::binary);
  const std::string tool{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(jit::exporting::make_fatbin(library).bytes == tool);
}

// ---- DLPack

/// A DLTensor over a tensor of ours.
template <class T>
struct AsDlpack {
  AsDlpack(const Tensor<T>& t, std::uint8_t code, int type)
      : shape(t.shape().begin(), t.shape().end()),
        strides(t.strides().begin(), t.strides().end()),
        tensor{.data = t.data(),
               .device = {static_cast<dlpack::DeviceType>(type), 0},
               .ndim = static_cast<std::int32_t>(shape.size()),
               .dtype = {static_cast<dlpack::TypeCode>(code), static_cast<std::uint8_t>(8 * sizeof(T)), 1},
               .shape = shape.data(),
               .strides = strides.data(),
               .byte_offset = 0} {}
  std::vector<Long> shape, strides;
  dlpack::Tensor tensor;
};

TEST_F(ExportModulesTest, TakesDlpackTensors) {
  const Tensor<float> a = zeros<float>({6, 5}), b = zeros<float>({5});
  const ExportedLibrary own({exported((a + b) * 3, {.name = "own", .numbers = {"scale"}, .strided = {"x0"}})},
                            {.name = "own", .architectures = {90}, .dlpack = true});
  using Launch = int(void*, const void*, const void*, const void*, Long);
  using OnCpu = int(const void*, const void*, const void*, Long);
  auto* const launch = own.get<Launch>("own_launch_dlpack");
  auto* const on_cpu = own.get<OnCpu>("own_cpu_dlpack");
  const Tensor<float> ha = randn<float>({8, 12}), hb = randn<float>({8}), host = zeros<float>({12, 8});
  const Tensor<float> ga = ha.to(gpu0), gb = hb.to(gpu0), gout = host.to(gpu0);
  const Tensor<float> expected = (ha.transpose(0, 1) + hb) * 5;
  AsDlpack<float> x(ha.transpose(0, 1), 2, 1), y(hb, 2, 1), out(host, 2, 1);
  ASSERT_EQ(on_cpu(&out.tensor, &x.tensor, &y.tensor, 5), ok);
  EXPECT_TRUE(same_bits(host, expected));
  AsDlpack<float> gx(ga.transpose(0, 1), 2, 2), gy(gb, 2, 2), go(gout, 2, 2);
  ASSERT_EQ(launch(nullptr, &go.tensor, &gx.tensor, &gy.tensor, 5), ok);
  EXPECT_TRUE(same_bits(gout, expected));

  EXPECT_EQ(launch(nullptr, nullptr, &gx.tensor, &gy.tensor, 5), null_pointer);
  EXPECT_EQ(launch(nullptr, &go.tensor, &x.tensor, &gy.tensor, 5), wrong_device);
  EXPECT_EQ(on_cpu(&out.tensor, &gx.tensor, &y.tensor, 5), wrong_device);
  const auto with = [&](auto change) {
    AsDlpack<float> changed(hb, 2, 1);
    change(changed);
    return on_cpu(&out.tensor, &x.tensor, &changed.tensor, 5);
  };
  EXPECT_EQ(with([](auto&) {}), ok);
  EXPECT_EQ(with([](auto& t) { t.tensor.strides = nullptr; }), ok);
  EXPECT_EQ(with([](auto& t) { t.tensor.dtype.bits = 64; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.tensor.dtype.lanes = 4; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.tensor.dtype.code = dlpack::TypeCode::Int; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.tensor.ndim = 2; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.tensor.shape = nullptr; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.shape[0] = 7; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.shape[0] = -8; }), bad_tensor);
  out.tensor.strides = nullptr;
  EXPECT_EQ(with([](auto& t) { t.shape[0] = 7; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.strides[0] = 2; }), bad_tensor);
  EXPECT_EQ(with([](auto& t) { t.tensor.byte_offset = 2; }), misaligned);
  EXPECT_EQ(with([](auto& t) { t.tensor.byte_offset = UINT64_MAX - 15; }), bad_size);
  EXPECT_EQ(with([](auto& t) { t.tensor.data = nullptr; }), null_pointer);
  // Four elements in.
  const Tensor<float> longer = randn<float>({12});
  EXPECT_EQ(with([&](auto& t) { t.tensor.data = longer.data(), t.tensor.byte_offset = 16; }), ok);
  EXPECT_TRUE(same_bits(host, Tensor<float>((ha.transpose(0, 1) + longer.slice(0, 4, 12)) * 5)));
  // The tensor's GPU is the current context's.
  gy.tensor.device.device_id = 1;
  EXPECT_EQ(launch(nullptr, &go.tensor, &gx.tensor, &gy.tensor, 5), wrong_device);
  driver().use_context(-1);
  EXPECT_EQ(launch(nullptr, &go.tensor, &gx.tensor, &gy.tensor, 5), no_context);
}

/// Tensors of a dtype, made by the library's own to_dlpack.
template <class T>
void take_dlpack() {
  const Tensor<T> x = zeros<T>({3}), y = zeros<T>({3});
  const Tensor<bool> which = zeros<bool>({3});
  const ExportedLibrary own({exported(where(which, x, y), {.name = "own"})},
                            {.name = "own", .architectures = {}, .dlpack = true});
  const Tensor<bool> choice = randn<float>({4}) > 0;
  const Tensor<T> a = randint<std::int32_t>(0, 2, {4}).template to<T>(), b = ones<T>({4}), out = zeros<T>({4});
  const DLPack dc = to_dlpack(choice), da = to_dlpack(a), db = to_dlpack(b), dout = to_dlpack(out);
  using OnCpu = int(const void*, const void*, const void*, const void*);
  ASSERT_EQ(own.get<OnCpu>("own_cpu_dlpack")(&dout->dl_tensor, &dc->dl_tensor, &da->dl_tensor, &db->dl_tensor), ok)
      << name(dtype_of<T>);
  EXPECT_TRUE(same_bits(out, Tensor<T>(where(choice, a, b)))) << name(dtype_of<T>);
}

TEST_F(ExportModulesTest, KnowsDlpacksDtypes) {
  take_dlpack<bool>();
  take_dlpack<std::uint8_t>();
  take_dlpack<std::int8_t>();
  take_dlpack<std::int16_t>();
  take_dlpack<std::int32_t>();
  take_dlpack<std::int64_t>();
  take_dlpack<half>();
  take_dlpack<bfloat16>();
  take_dlpack<float>();
  take_dlpack<double>();
  take_dlpack<std::complex<float>>();
  take_dlpack<std::complex<double>>();
}

}  // namespace
}  // namespace sinter::testing
