// Programs that SINTER_TRACE traces, and what their files say.
#include <runtime/trace/span.hpp>

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/sinter.hpp>
#include "gpus.hpp"
#include "traces.hpp"

namespace sinter::testing {
namespace {

namespace sn = sinter;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const test::Setup own_cache([] {
  if (const char* folder = std::getenv("TRACED_CACHE")) setenv("SINTER_CACHE_DIR", folder, 1);
});

// What the children do.

void use_gpu(int index) {
  const sn::Tensor x = sn::arange(1000).to<float>().to(sn::Device(index));
  const sn::Tensor y = x * 2 + 1;
  if (y[999].item() != 1999) std::exit(9);
  sn::synchronize(sn::Device(index));
}

TEST(Child, DISABLED_Program) {
  const sn::Tensor x = sn::ones({300, 400});
  const sn::Tensor y = sn::exp(x) + 1, product = sn::matmul(x, x.t());
  (void)x.sort(1);
  (void)x.cumsum(0);
  (void)sn::nonzero(x > 0);
  use_gpu(0);
  const sn::Tensor on_gpu = x.to("cuda:0"), squared = sn::matmul(on_gpu, on_gpu.t());
  (void)on_gpu.to("cuda:1");
  const sn::Stream stream(sn::Device(0));
  {
    const sn::StreamGuard guard(stream);
    const sn::Tensor z = sn::Tensor(on_gpu * 3) + 1;
    stream.synchronize();
  }
  std::thread([] { use_gpu(1); }).join();
  const sn::Mesh mesh({sn::Device(0), sn::Device(1)});
  mesh.communicator().barrier();
}

/// Of a program whose file is `name`, in a folder.
struct Traced {
  explicit Traced(const std::string& test, const std::string& setting = "SINTER_VIRTUAL_GPUS=2")
      : ended(run_child(test, "export " + setting + " SINTER_TRACE='" + path() + "';")) {}
  std::string path() const { return folder.file("t.json"); }
  TraceEvents events() const { return TraceEvents(path()); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  ScratchFolder folder;
  Ended ended;
};

class Program : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { traced_ = new Traced("Program"); }
  static void TearDownTestSuite() { delete std::exchange(traced_, nullptr); }
  void SetUp() override {
    ASSERT_EQ(traced_->ended.status, 0);
    EXPECT_EQ(traced_->ended.errors, "");
  }
  static TraceEvents events() { return traced_->events(); }

 private:
  static inline Traced* traced_ = nullptr;
};

TEST_F(Program, LeavesSpansOfEachCategory) {
  const TraceEvents all = events();
  for (std::size_t i = 0; i < runtime::trace_categories; ++i) {
    const std::string category = runtime::name(static_cast<runtime::TraceCategory>(i));
    EXPECT_THAT(all.spans(category), Not(IsEmpty())) << category;
  }
}

TEST_F(Program, SaysHowLargeWorkIs) {
  const TraceEvents all = events();
  const std::vector<Json> uploads = all.named("copy to the device");
  std::vector<int> bytes;
  for (const Json& e : uploads) bytes.push_back(e["args"]["bytes"]);
  EXPECT_THAT(bytes, AllOf(Contains(4000), Contains(4 * 300 * 400)));
  EXPECT_THAT(all.named("copy between devices"), SizeIs(2));  // the host's and the stream's
  for (const Json& e : all.named("copy between devices")) EXPECT_EQ(e["args"]["bytes"], 4 * 300 * 400);
  const std::vector<Json> products = all.named("product");
  ASSERT_THAT(products, SizeIs(3));  // OpenBLAS's, and the GPU's as the host and the stream see it
  for (const Json& e : products)
    EXPECT_EQ(e["args"], Json::parse(R"({"rows":300,"columns":300,"inner":400,"batch":1,"dtype":"float32"})"));
  for (const Json& e : all.spans("launch")) {
    EXPECT_GT(e["args"]["grid"], 0);
    EXPECT_EQ(e["args"]["block"], 256);
  }
  for (const Json& e : all.named("sort")) EXPECT_EQ(e["args"]["elements"], 300 * 400);
  EXPECT_EQ(all.named("barrier").at(0)["args"], Json::parse(R"({"bytes":0,"ranks":2,"by":"loopback"})"));
}

TEST_F(Program, KernelsHaveTheirNames) {
  const TraceEvents all = events();
  std::set<std::string> launched, ran;
  for (const Json& e : all.spans("launch")) launched.insert(e["name"]);
  for (const Json& e : all.spans("kernel")) ran.insert(e["name"]);
  EXPECT_THAT(launched, Contains(StartsWith("sinter_")));
  for (const std::string& name : launched) {
    EXPECT_THAT(ran, Contains(name));
    EXPECT_THAT(all.named(name), Contains(::testing::Truly([](const Json& e) { return e["cat"] == "load"; })));
  }
}

std::map<std::int64_t, std::vector<Json>> by_line(const TraceEvents& all) {
  std::map<std::int64_t, std::vector<Json>> lines;
  for (const Json& e : all.spans()) lines[e["tid"].get<std::int64_t>()].push_back(e);
  return lines;
}

TEST_F(Program, SpansOfALineNest) {
  for (auto& [line, spans] : by_line(events())) {
    // An outer one comes first where both begin at once.
    std::ranges::sort(spans, [](const Json& a, const Json& b) {
      return std::pair(begin_of(a), -end_of(a)) < std::pair(begin_of(b), -end_of(b));
    });
    std::vector<std::int64_t> open;
    for (const Json& e : spans) {
      while (!open.empty() && open.back() <= begin_of(e)) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(end_of(e), open.back()) << e;
      }
      EXPECT_GE(end_of(e), begin_of(e)) << e;
      open.push_back(end_of(e));
    }
  }
}

TEST_F(Program, LinesHaveNames) {
  const TraceEvents all = events();
  const std::map<std::int64_t, std::string> names = all.lines();
  for (const auto& [line, spans] : by_line(all)) EXPECT_TRUE(names.contains(line)) << line;
  std::vector<std::string> listed;
  for (const auto& [line, name] : names) listed.push_back(name);
  EXPECT_THAT(listed, Contains("main"));
  EXPECT_THAT(listed, Contains("cuda:0, default stream"));
  EXPECT_THAT(listed, Contains("cuda:1, default stream"));
  EXPECT_THAT(listed, Contains(StartsWith("cuda:0, stream 0x")));
  EXPECT_THAT(all.all()[0]["name"], "process_name");
}

TEST_F(Program, ThreadsHaveLinesOfTheirOwn) {
  const TraceEvents all = events();
  std::set<std::int64_t> threads;
  for (const Json& e : all.spans("launch")) threads.insert(e["tid"].get<std::int64_t>());
  EXPECT_THAT(threads, SizeIs(2));
}

TEST_F(Program, StreamsShowWhenWorkRan) {
  const TraceEvents all = events();
  const auto lines = all.lines();
  int on_streams = 0;
  for (const Json& e : all.spans("kernel")) {
    if (!lines.at(e["tid"]).starts_with("cuda:")) continue;
    ++on_streams;
    // A virtual GPU runs a kernel while it is launched. When the GPU's clock began is known roughly alone.
    const auto launches = all.spans("launch");
    EXPECT_TRUE(std::ranges::any_of(launches, [&](const Json& launch) {
      constexpr std::int64_t rounding = 1'000;  // of milliseconds as a float
      return launch["name"] == e["name"] && end_of(e) - begin_of(e) <= end_of(launch) - begin_of(launch) + rounding;
    })) << e;
  }
  EXPECT_GE(on_streams, 4);
}

TEST(Child, DISABLED_OneKernel) { use_gpu(0); }

TEST(Trace, SaysWhereKernelsComeFrom) {
  const ScratchFolder cache;
  const std::string setting = "SINTER_VIRTUAL_GPUS=1 SINTER_CACHE=on TRACED_CACHE='" + cache.path().string() + "'";
  const auto origins = [&] {
    std::vector<std::string> by;
    for (const Json& e : Traced("OneKernel", setting).events().spans("compile")) by.push_back(e["args"]["by"]);
    return by;
  };
  EXPECT_THAT(origins(), ElementsAre("disk cache, not found", "compiler"));
  EXPECT_THAT(origins(), ElementsAre("disk cache"));
}

TEST(Trace, IsOffWithoutTheVariable) {
  EXPECT_FALSE(runtime::traces());
  EXPECT_EQ(run_child("Program", "export SINTER_VIRTUAL_GPUS=2 SINTER_TRACE=;").status, 0);
}

TEST(Trace, GoesWithTheOtherKindsOfVirtualGpus) {
  for (const char* kind : {"SINTER_VIRTUAL_LATE=5", "SINTER_VIRTUAL_STRICT=1"}) {
    const Traced traced("Program", std::string("SINTER_VIRTUAL_GPUS=2 ") + kind);
    EXPECT_EQ(traced.ended.status, 0) << traced.ended.errors;
    const TraceEvents all = traced.events();
    EXPECT_THAT(all.spans("kernel"), Not(IsEmpty())) << kind;
    EXPECT_EQ(all.named("copy between devices").size(), 2u) << kind;
  }
}

// Processes.

TEST(Child, DISABLED_Forks) {
  test::ignore_leaks();  // a child abandons its parent's devices
  use_gpu(0);
  const pid_t child = ::fork();
  use_gpu(child == 0 ? 1 : 0);
  if (child == 0) std::exit(0);
  int status = -1;
  std::exit(::waitpid(child, &status, 0) == child && status == 0 ? 0 : 8);
}

TEST(Trace, TheChildOfAForkHasItsOwn) {
  const Traced traced("Forks");
  EXPECT_EQ(traced.ended.status, 0) << traced.ended.errors;
  const std::vector<std::string> files = traced.files();
  ASSERT_THAT(files, SizeIs(2));
  const TraceEvents parent(traced.folder.file(files[0])), child(traced.folder.file(files[1]));
  const std::int64_t process = child.all()[0]["pid"];
  EXPECT_EQ(files[1], "t.json." + std::to_string(process));
  for (const Json& e : child.all()) EXPECT_EQ(e["pid"], process);
  for (const Json& e : parent.all()) EXPECT_NE(e["pid"], process);
  // The parent's work of before the fork is the parent's alone.
  EXPECT_THAT(parent.named("copy to the device"), SizeIs(4));
  EXPECT_THAT(child.named("copy to the device"), SizeIs(2));
  for (const auto& [line, spans] : by_line(child)) EXPECT_TRUE(child.lines().contains(line));
}

// What a child does before its parent is traced is not overwritten by the parent.
TEST(Child, DISABLED_ForksFirst) {
  test::ignore_leaks();
  const pid_t child = ::fork();
  int status = 0;
  if (child != 0 && (::waitpid(child, &status, 0) != child || status != 0)) std::exit(8);
  (void)sn::Tensor(sn::ones({child == 0 ? 5 : 7}) + 1);
  std::exit(0);
}

TEST(Trace, AChildThatIsTracedFirstKeepsItsFile) {
  const Traced traced("ForksFirst");
  EXPECT_EQ(traced.ended.status, 0) << traced.ended.errors;
  const std::vector<std::string> files = traced.files();
  ASSERT_THAT(files, SizeIs(2));
  for (const int i : {0, 1}) {
    const TraceEvents all(traced.folder.file(files[static_cast<std::size_t>(i)]));
    ASSERT_THAT(all.spans("kernel"), Not(IsEmpty()));
    for (const Json& e : all.spans("kernel")) EXPECT_EQ(e["args"]["elements"], i == 0 ? 7 : 5);
  }
}

TEST(Child, DISABLED_IsKilled) {
  for (int i = 0; i < 400; ++i) (void)sn::Tensor(sn::ones({4}) + 1);
  std::raise(SIGKILL);
}

TEST(Trace, OfAProcessThatIsKilledIsWhole) {
  const Traced traced("IsKilled");
  EXPECT_NE(traced.ended.status, 0);
  EXPECT_GE(traced.events().spans("kernel").size(), 200u);
}

TEST(Child, DISABLED_ComputesAtTheEnd) {
  std::atexit([] { (void)sn::Tensor(sn::ones({7}) + 1); });
  (void)sn::Tensor(sn::ones({5}) + 1);
  static struct Last {
    ~Last() { (void)sn::Tensor(sn::ones({9}) + 1); }
  } last;
  std::exit(0);
}

TEST(Trace, HoldsWhatTheEndOfTheProcessDoes) {
  std::set<int> elements;
  for (const Json& e : Traced("ComputesAtTheEnd").events().spans("kernel"))
    elements.insert(e["args"]["elements"].get<int>());
  EXPECT_THAT(elements, AllOf(Contains(5), Contains(7), Contains(9)));
}

TEST(Child, DISABLED_ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) (void)sn::Tensor(sn::ones({3}) + 1);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Trace, LosesNothingOfManyThreads) {
  const TraceEvents all = Traced("ManyThreads").events();
  std::map<std::int64_t, int> kernels;
  for (const Json& e : all.spans("kernel"))
    if (e["args"]["elements"] == 3) ++kernels[e["tid"].get<std::int64_t>()];
  EXPECT_THAT(kernels, SizeIs(4));
  for (const auto& [thread, count] : kernels) EXPECT_EQ(count % 500, 0) << thread;
}

TEST(Trace, ThatCannotBeWrittenIsSaidOnce) {
  const Ended ended = run_child("Program", "export SINTER_VIRTUAL_GPUS=2 SINTER_TRACE=/nonexistent/t.json;");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.errors,
            "sinter: the trace \"/nonexistent/t.json\" (SINTER_TRACE) cannot be written: No such file or directory; "
            "nothing is traced\n");
}

TEST(Trace, ThatFindsNoMoreRoomEnds) {
  const ScratchFolder folder;
  const Ended ended = run_child("ManyThreads", "ulimit -f 64; export SINTER_TRACE='" + folder.file("t.json") + "';");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.errors, AllOf(StartsWith("sinter: the trace \"/"), EndsWith("(ulimit -f); the trace ends here\n")));
  EXPECT_EQ(std::ranges::count(ended.errors, '\n'), 1);
  EXPECT_THAT(TraceEvents(folder.file("t.json")).all(), Not(IsEmpty()));
}

// GPUs that start after the trace has ended still copy from those that started before.
TEST(Child, DISABLED_UsesAnotherGpuLater) {
  const sn::Tensor x = sn::ones({4}).to("cuda:0");
  for (int i = 0; i < 2000; ++i) (void)sn::Tensor(sn::ones({4}) + 1);
  if (runtime::traces()) std::exit(7);
  if (sn::Tensor(x.to("cuda:1") + 1)[0].item() != 2) std::exit(9);
}

TEST(Trace, ThatEndsLeavesGpusAlike) {
  const ScratchFolder folder, cache;
  const std::string variables =
      "export SINTER_VIRTUAL_GPUS=2 SINTER_CACHE=on TRACED_CACHE='" + cache.path().string() + "';";
  ASSERT_EQ(run_child("UsesAnotherGpuLater", variables).status, 0);  // the limit would end the compiler
  const Ended ended = run_child("UsesAnotherGpuLater",
                                "ulimit -f 64; " + variables + "export SINTER_TRACE='" + folder.file("t.json") + "';");
  EXPECT_EQ(ended.status, 0) << ended.errors;
}

TEST(Trace, OfSeveralProcessesIsAFileEach) {
  const ScratchFolder folder;
  const std::string trace = "SINTER_TRACE='" + folder.file("t.json") + "'";
  for (const char* process : {"0", "1"}) {
    const std::string launched = std::string("export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=") + process;
    EXPECT_EQ(run_child("ManyThreads", launched + " " + trace + ";").status, 0);
    const TraceEvents all(folder.file("t.json.") + process);
    EXPECT_THAT(all.all()[0]["args"]["name"].get<std::string>(), EndsWith(std::string(", process ") + process));
  }
}

}  // namespace
}  // namespace sinter::testing
