// compile_kernels FOLDER: compiles every kernel text that tests left in FOLDER (SINTER_DUMP_DIR) with NVRTC, for sm_75
// and sm_120, or for what SINTER_TEST_ARCHITECTURES lists ("80 90", or "all"). Fails where one does not compile, spills
// registers, or loads its vectors element by element. Removes the texts, and the binaries beside them, when all is
// well. Exit status 77: no NVRTC.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include <runtime/cuda/nvrtc.hpp>
#include <sinter/runtime/error.hpp>

namespace {

using sinter::runtime::KernelSource;

constexpr int no_nvrtc = 77;

std::vector<std::string> architectures() {
  const char* wish = std::getenv("SINTER_TEST_ARCHITECTURES");
  std::istringstream words(!wish || !*wish ? "75 120" : std::string(wish) == "all" ? "75 80 86 89 90 100 120" : wish);
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back("sm_" + word);
  return found;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether the type that begins at `at` is that of a vector of more than one element, and not of bytes.
bool is_vector(const std::string& text, std::size_t at) {
  if (text.compare(at, 4, "bool") == 0 || text.compare(at, 8, "unsigned") == 0) return false;
  return text.compare(text.find('>', at) - 3, 3, ", 1") != 0;
}

/// Whether the PTX loads (or stores) vectors where the text does. Vectors of bytes may be plain words.
bool keeps_vectors(const std::string& text, const std::string& cast, const std::string& ptx,
                   const std::string& instruction) {
  bool asks = false;
  for (std::size_t at = text.find(cast); at != std::string::npos; at = text.find(cast, at + 1))
    asks |= is_vector(text, at + cast.size());
  if (!asks || ptx.find(instruction) == std::string::npos) return true;  // maximum(sign(x), 1) needs no x
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);)
    if (line.find(instruction) != std::string::npos)
      if (line.find(".v2.") != std::string::npos || line.find(".v4.") != std::string::npos) return true;
  return false;
}
bool keeps_vectors(const std::string& text, const std::string& ptx) {
  return keeps_vectors(text, "reinterpret_cast<const sinter::Lanes<", ptx, "ld.global") &&
         keeps_vectors(text, "reinterpret_cast<sinter::Lanes<", ptx, "st.global") &&
         keeps_vectors(text, "sinter::stashed<sinter::Lanes<", ptx, "ld.shared") &&
         keeps_vectors(text, "sinter::stashed<sinter::Lanes<", ptx, "st.shared");
}

/// What is wrong with a kernel; empty when nothing is.
std::string judge(const KernelSource& source, const std::vector<std::string>& targets) {
  std::string wrong;
  for (const std::string& target : targets) {
    const auto report = sinter::runtime::nvrtc_report(source, target);
    if (report.spill_stores + report.spill_loads > 0)
      wrong += fmt::format("  {}: {} bytes of spill stores, {} of spill loads, {} registers\n", target,
                           report.spill_stores, report.spill_loads, report.registers);
  }
  if (!keeps_vectors(source.text, sinter::runtime::nvrtc_compile(source, "compute_75")))
    wrong += "  the text's vectors are single elements in the PTX\n";
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], missing))
    // Tests of the kernel cache leave texts that are no kernels; what is printed from a graph is named sinter_...
    if (entry.path().extension() == ".cu" && entry.path().filename().string().starts_with("sinter_"))
      files.push_back(entry.path());
  if (files.empty()) {
    fmt::print(stderr, "no kernel text in {}: run the other tests first, they leave theirs there\n", argv[1]);
    return 1;
  }
  std::ranges::sort(files);
  const std::vector<std::string> targets = architectures();
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failures = 0;
  std::atomic<bool> unavailable = false;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !unavailable; i = next++) {
      const std::string stem = files[i].stem().string();
      std::string wrong;
      try {
        wrong = judge({stem.substr(0, stem.rfind('_')), read(files[i])}, targets);
      } catch (const sinter::DeviceError& e) {
        if (!unavailable.exchange(true)) fmt::print("{}\n", e.what());
        return;
      } catch (const std::exception& e) {
        wrong = fmt::format("  {}\n", e.what());
      }
      if (wrong.empty()) continue;
      const std::lock_guard lock(printing);
      fmt::print("{}\n{}", files[i].string(), wrong);
      ++failures;
    }
  };
  std::thread second(work);
  work();
  second.join();
  if (unavailable) return no_nvrtc;
  fmt::print("{} kernels for {}: {} wrong\n", files.size(), fmt::join(targets, ", "), failures.load());
  if (failures == 0)
    for (std::filesystem::path file : files)
      for (const char* extension : {".cu", ".so", ".cubin", ".ptx"})
        std::filesystem::remove(file.replace_extension(extension), missing);
  return failures > 0;
}
