// Tests of several processes: a program starts itself again, through mpirun. Tests that are DISABLED_ are what those
// run.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <runtime/collective/collective.hpp>

#include "contract.hpp"
#include "setup.hpp"

namespace sinter::testing {

// Of a process of several.

inline std::vector<Device> local_devices() {
  const runtime::World& world = runtime::world();
  return {world.all.begin() + world.first, world.all.begin() + world.first + world.local};
}
/// As a mesh's, never destroyed: what it would end is gone by then.
inline Communicator& communicator() {
  static Communicator* const made = runtime::make_world_communicator(runtime::world()).release();
  return *made;
}

/// Of so many ones, for each position here.
inline std::vector<TensorRef> ones(std::size_t n) {
  std::vector<TensorRef> all;
  for (const Device d : local_devices()) all.push_back(array(d, std::vector<float>(n, 1.0f)));
  return all;
}

// Of what starts them.

inline bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

struct Result {
  int status = -1;
  double seconds = 0;
  std::string text;
  /// What the process of a rank printed between <rank> and </rank>, all together.
  std::string of(int rank) const {
    const std::string open = "<" + std::to_string(rank) + ">", close = "</" + std::to_string(rank) + ">";
    std::string all;
    for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
      const std::size_t end = text.find(close, at);
      all += text.substr(at, end - at) + "\n";
      at = end == std::string::npos ? text.size() : end;
    }
    return all;
  }
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

/// Several processes on one machine, without what a container forbids. Open MPI keeps memory to the end.
inline Result mpirun(int processes, const std::string& tests, const std::string& options = "") {
  return shell(
      "timeout 60 env SINTER_VIRTUAL_GPUS= OMPI_MCA_btl_vader_single_copy_mechanism=none "
      "OMPI_MCA_plm_rsh_agent=/bin/true "
      "OMPI_MCA_btl=self,vader OMPI_MCA_odls_base_sigkill_timeout=0 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 mpirun "
      "--allow-run-as-root --oversubscribe "
      "--bind-to none " +
      options + " -n " + std::to_string(processes) + " " + child(tests));
}

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(has_mpirun()) << "there is no mpirun: scripts/deps test installs it"; }
};
}  // namespace sinter::testing
