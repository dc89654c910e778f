// Any bytes as an archive for `sinter cache unpack`: it is unpacked or refused, nothing is written but whole entries in
// the folder of kernels, each under the name of its own key, and nothing of an archive stays behind elsewhere. Half of
// the inputs are archives whose checksums are made right, so that what lies behind them is reached.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <dsl/tool/commands.hpp>
#include <jit/cache/disk_entry.hpp>
#include <sinter/runtime/error.hpp>
#include "program/choices.hpp"
#include "zip_bytes.hpp"

namespace fs = std::filesystem;
using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

/// A folder of this process with the cache in it, and the archive.
const fs::path& folder() {
  static const fs::path& made = *new fs::path([] {
    const fs::path path = fs::temp_directory_path() / ("sinter-unpack-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(path / "inner");
    setenv("SINTER_CACHE_DIR", (path / "inner" / "cache").c_str(), 1);
    setenv("SINTER_CACHE", "on", 1);
    std::atexit([] { fs::remove_all(folder()); });
    return path;
  }());
  return made;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What may be there: the archive, and whole entries under their names.
void look() {
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(folder())) {
    if (e.is_directory() || e.path() == folder() / "k.zip") continue;
    check(e.path().parent_path() == folder() / "inner" / "cache" && e.is_regular_file() && !e.is_symlink());
    if (e.path().extension() != ".kernel") continue;  // when it was swept last
    const auto entry = jit::decode(bytes_of(e.path()));
    check(entry && jit::entry_name(entry->key) == e.path().filename());
  }
}

void unpack(const std::string& archive) {
  fs::remove_all(folder() / "inner" / "cache");
  std::ofstream(folder() / "k.zip", std::ios::binary | std::ios::trunc) << archive;
  try {
    tool::Parsed given;
    given.operands = {"unpack", (folder() / "k.zip").string()};
    tool::look_after_cache(given);
  } catch (const Error&) {
  }
  look();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool quiet = std::freopen("/dev/null", "w", stdout) != nullptr;
  static_cast<void>(quiet);
  unpack({reinterpret_cast<const char*>(data), size});
  unpack(fuzz::archive_of({data, size}));
  return 0;
}
