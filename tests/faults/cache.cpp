// Kernels on disk: compiled and stored, found, damaged, refused, swept, packed.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include <dsl/tool/commands.hpp>
#include <jit/cache/disk_cache.hpp>
#include <jit/cache/disk_entry.hpp>
#include <sinter/prepare.hpp>
#include "../scratch.hpp"
#include "calls.hpp"
#include "scenario.hpp"

namespace sinter::faults {
namespace {

namespace sn = sinter;
namespace fs = std::filesystem;

constexpr const char* own_folder = "cache";

std::vector<fs::path> entries() {
  const Uncounted ours;
  std::vector<fs::path> all;
  if (fs::exists(own_folder))
    for (const auto& file : fs::directory_iterator(own_folder))
      if (file.path().extension() == ".kernel") all.push_back(file.path());
  return all;
}

/// In a folder that is empty at first.
void use_own_folder() {
  ::setenv("SINTER_CACHE_DIR", fs::absolute(own_folder).c_str(), 1);
  ::setenv("SINTER_CACHE", "on", 1);
}

void evaluate() {
  const auto x = sn::tensor({1.f, 2.f}).cuda();
  expect_values(sn::Tensor(x * 3 + 1), {4, 7}, "what a kernel from the cache computes");
}
void evaluate_ahead() {
  const auto x = sn::tensor({1.f, 2.f}).cuda();
  std::future<void> ready = sn::prepare_async(x * 3 + 1), other = sn::prepare_async(x * 5);
  ready.get(), other.get();
  expect_values(sn::Tensor(x * 3 + 1), {4, 7}, "what was prepared");
}

/// By another process, so that this one finds a kernel on disk and nothing in memory.
void compile_elsewhere() {
  use_own_folder();
  const pid_t child = ::fork();
  if (child == 0) {
    evaluate();
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(status == 0 && entries().size() == 1, "a kernel that another process stored");
}
void replace_entry(const std::function<std::string(const std::string&)>& change) {
  compile_elsewhere();
  const fs::path entry = entries().at(0);
  testing::write_text(entry, change(testing::read_text(entry)));
}
void damage() {
  replace_entry([](std::string bytes) {
    bytes[bytes.size() / 2] ^= 1;
    return bytes;
  });
}
void put_what_does_not_load() {
  replace_entry([](const std::string& bytes) { return jit::encode(jit::decode(bytes)->key, "no shared object"); });
}
void have_much_to_sweep() {
  compile_elsewhere();
  ::setenv("SINTER_CACHE_MAX_BYTES", "100000", 1);
  for (int i = 0; i < 3; ++i)
    testing::write_text(fs::path(own_folder) / (std::string(31, 'a') + std::to_string(i) + ".kernel"),
                        std::string(90000, 'x'));
  fs::remove(fs::path(own_folder) / "swept");
}

void look_at_entries() {
  for (const fs::path& file : entries()) {
    const std::string bytes = testing::read_text(file);
    if (bytes == std::string(90000, 'x')) continue;  // ours
    const auto entry = jit::decode(bytes);
    expect(entry && jit::entry_name(entry->key) == file.filename(), "an entry on disk");
  }
}

void pack() {
  expect(tool::look_after_cache({.operands = {"pack", "kernels.zip"}, .options = {}}) == 0, "pack");
  expect(fault_happened() || fs::file_size("kernels.zip") > 1000, "an archive");
  expect(tool::look_after_cache({.operands = {"verify"}, .options = {}}) == 0 || fault_happened(), "verify");
}
void have_archive() {
  compile_elsewhere();
  pack();
  fs::remove_all(own_folder);
}
/// What is lost is said in the exit status.
void unpack() {
  {
    const Uncounted ours;
    fs::remove_all(own_folder);
  }
  const int status = tool::look_after_cache({.operands = {"unpack", "kernels.zip"}, .options = {}});
  expect(fault_happened() ? status == 1 || !entries().empty() : entries().size() == 1, "unpack");
}

}  // namespace

std::vector<Scenario> cache_scenarios() {
  return {{"cache-cold", evaluate, use_own_folder, look_at_entries},
          {"cache-ahead", evaluate_ahead, use_own_folder, look_at_entries},
          {"cache-hit", evaluate, compile_elsewhere, look_at_entries},
          {"cache-damaged", evaluate, damage},
          {"cache-refused", evaluate, put_what_does_not_load, look_at_entries},
          {"cache-sweep", evaluate, have_much_to_sweep, look_at_entries},
          {"cache-pack", pack, compile_elsewhere, look_at_entries},
          {"cache-unpack", unpack, have_archive, look_at_entries}};
}

}  // namespace sinter::faults
