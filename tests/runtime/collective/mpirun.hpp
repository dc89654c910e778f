// Tests with several processes: a program starts itself again through mpirun. The DISABLED_ tests are what these
// processes run.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <runtime/collective/collective.hpp>

#include "../../scratch.hpp"
#include "contract.hpp"
#include "setup.hpp"

namespace sinter::testing {

// For one of several processes.

inline std::vector<Device> local_devices() {
  const runtime::RankTable& world = runtime::world();
  return {world.all.begin() + world.first, world.all.begin() + world.first + world.local};
}
/// Never destroyed, like a mesh's: what its destructor would use is gone by then.
inline Communicator& communicator() {
  static Communicator* const made = runtime::make_world_communicator(runtime::world()).release();
  return *made;
}

/// Arrays of n ones, one for each rank of this process.
inline std::vector<TensorRef> ones(std::size_t n) {
  std::vector<TensorRef> all;
  for (const Device d : local_devices()) all.push_back(array(d, std::vector<float>(n, 1.0f)));
  return all;
}

/// Leaves a file for the test that started this process, and waits until `processes` have left one with this extension:
/// uses no MPI.
inline void leave_file(const std::string& text, const std::string& extension, int processes) {
  const char* const folder = std::getenv("CHILD_REPORTS");
  if (!folder) return;
  const std::filesystem::path path = std::filesystem::path(folder) / std::getenv("OMPI_COMM_WORLD_RANK");
  std::ofstream(path.string() + ".part") << text;
  std::filesystem::rename(path.string() + ".part", path.string() + extension);
  const auto there = [&] {
    int count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) count += file.path().extension() == extension;
    return count;
  };
  for (int waited = 0; there() < processes && waited < 3000; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}
/// Waits until `processes` processes have arrived. In a barrier, some would see errors of others that have left it.
inline void meet(int processes) { leave_file("", ".here", processes); }
/// Reports `text`, and waits until `reporters` processes have: mpirun kills all of them when one exits after an error,
/// and may lose their output.
inline void report_and_leave(const std::string& text, int reporters) { leave_file(text, "", reporters); }

// For the test that starts them.

inline bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

struct Result {
  int status = -1;
  double seconds = 0;
  std::string text;                  // output of all processes
  std::vector<std::string> reports;  // by process
  const std::string& of(int process) const { return reports.at(static_cast<std::size_t>(process)); }
};

inline Result shell(const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.text.append(buffer, n);
  result.status = pclose(pipe);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

inline std::string child(const std::string& tests) {
  return test::this_program() + " --gtest_also_run_disabled_tests --gtest_brief=1 --gtest_filter=Child.DISABLED_" +
         tests;
}

/// Starts several processes on one machine, without features that containers forbid. Open MPI keeps memory to the end.
inline Result mpirun(int processes, const std::string& tests, const std::string& options = "") {
  return shell(
      "timeout 60 env SINTER_VIRTUAL_GPUS= OMPI_MCA_btl_vader_single_copy_mechanism=none "
      "OMPI_MCA_plm_rsh_agent=/bin/true "
      "OMPI_MCA_btl=self,vader OMPI_MCA_odls_base_sigkill_timeout=0 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 mpirun "
      "--allow-run-as-root --oversubscribe "
      "--bind-to none " +
      options + " -n " + std::to_string(processes) + " " + child(tests));
}

/// The same for processes that report.
inline Result reports_of(int processes, const std::string& tests, const std::string& options = "") {
  const ScratchFolder folder;
  Result result = mpirun(processes, tests, options + " -x CHILD_REPORTS=" + folder.path().string());
  for (int process = 0; process < processes; ++process) {
    std::ifstream file(folder.path() / std::to_string(process));
    result.reports.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    result.text += "\nrank " + std::to_string(process) + " reports: " + result.reports.back();
  }
  return result;
}

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(has_mpirun()) << "there is no mpirun: scripts/deps test installs it"; }
};
}  // namespace sinter::testing
