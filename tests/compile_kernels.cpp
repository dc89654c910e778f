// compile_kernels FOLDER CACHE RULES...: compiles the kernel texts that tests left in FOLDER (SINTER_DUMP_DIR) with
// NVRTC, for sm_75 and sm_120, or for what SINTER_TEST_ARCHITECTURES lists ("80 90", or "all"). Fails where one does
// not compile, spills registers, or loads its vectors element by element. What passed is noted in CACHE and not
// compiled again while the RULES, sources of this program, stay as they are. Of the others SINTER_TEST_SAMPLE=2/3 takes
// the second of three parts. Removes the texts, and the binaries beside them, when all is well. Exit status 77: no
// NVRTC.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include <runtime/cuda/nvrtc.hpp>
#include <runtime/cuda/nvrtc_identity.hpp>
#include <sinter/runtime/error.hpp>

namespace {

namespace fs = std::filesystem;
using sinter::runtime::KernelSource;

constexpr int no_nvrtc = 77;

std::vector<std::string> architectures() {
  const char* wish = std::getenv("SINTER_TEST_ARCHITECTURES");
  std::istringstream words(!wish || !*wish ? "75 120" : std::string(wish) == "all" ? "75 80 86 89 90 100 120" : wish);
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back("sm_" + word);
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether the type that begins at `at` is that of a vector of more than one element, and not of bytes.
bool is_vector(const std::string& text, std::size_t at) {
  if (text.compare(at, 4, "bool") == 0 || text.compare(at, 8, "unsigned") == 0) return false;
  return text.compare(text.find('>', at) - 3, 3, ", 1") != 0;
}

/// Whether the vector whose type begins at `at` is one of an output, by its number. NVRTC stores the elements of
/// others, at computed offsets, one by one in some kernels.
bool is_of_output(const std::string& text, std::size_t at) {
  at = text.find('>', at);
  return text.compare(at, 5, ">*>(y") == 0 && text.compare(text.find(')', at), 2, ")[") == 0;
}

/// Whether the PTX loads (or stores) vectors where the text does. Vectors of bytes may be plain words.
bool keeps_vectors(const std::string& text, const std::string& cast, const std::string& ptx,
                   const std::string& instruction) {
  const bool loads = instruction.starts_with("ld");
  bool asks = false;
  for (std::size_t at = text.find(cast); at != std::string::npos; at = text.find(cast, at + 1))
    asks |= is_vector(text, at + cast.size()) && (loads || is_of_output(text, at + cast.size()));
  if (!asks || ptx.find(instruction) == std::string::npos) return true;  // maximum(sign(x), 1) needs no x
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);)
    if (line.find(instruction) != std::string::npos)
      if (line.find(".v2.") != std::string::npos || line.find(".v4.") != std::string::npos) return true;
  return false;
}
/// Whether an operand may give no more than its shape, so that the compiler drops its loads: where(true, value,
/// operand).
bool reads_only_a_shape(const std::string& text) {
  if (text.find("select(true, ") != std::string::npos) return true;
  const std::string declaration = "const bool ", always = " = true;";
  for (std::size_t end = text.find(always); end != std::string::npos; end = text.find(always, end + 1)) {
    const std::size_t at = text.rfind(declaration, end);
    if (at == std::string::npos) continue;
    const std::size_t name = at + declaration.size();
    if (text.find("select(" + text.substr(name, end - name) + ", ", end) != std::string::npos) return true;
  }
  return false;
}
bool keeps_vectors(const std::string& text, const std::string& ptx) {
  return (reads_only_a_shape(text) || keeps_vectors(text, "reinterpret_cast<const Vec<", ptx, "ld.global")) &&
         keeps_vectors(text, "reinterpret_cast<Vec<", ptx, "st.global");
}

/// The hash of what decides about a kernel.
XXH128_hash_t identity(const std::string& text, const std::vector<std::string>& targets, const std::string& rules) {
  const std::string all =
      fmt::format("{} {} {} {}", sinter::runtime::nvrtc_identity(), fmt::join(targets, " "), rules, text);
  return XXH3_128bits(all.data(), all.size());
}

/// Whether a text is of the part that SINTER_TEST_SAMPLE chooses.
bool is_sampled(XXH128_hash_t hash) {
  unsigned part = 1, parts = 1;
  if (const char* sample = std::getenv("SINTER_TEST_SAMPLE")) std::sscanf(sample, "%u/%u", &part, &parts);
  return parts < 2 || hash.low64 % parts == part - 1;
}

/// What is wrong with a kernel; empty when nothing is.
std::string judge(const KernelSource& source, const std::vector<std::string>& targets) {
  std::string wrong, ptx;
  for (const std::string& target : targets) {
    const auto report = sinter::runtime::nvrtc_report(source, target);
    if (ptx.empty()) ptx = report.ptx;
    if (report.spill_stores + report.spill_loads > 0)
      wrong += fmt::format("  {}: {} bytes of spill stores, {} of spill loads, {} registers\n", target,
                           report.spill_stores, report.spill_loads, report.registers);
  }
  if (ptx.empty() || !keeps_vectors(source.text, ptx)) wrong += "  the text's vectors are single elements in the PTX\n";
  return wrong;
}

/// The texts of kernels in a folder.
std::vector<fs::path> texts_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing))
    // Tests of the kernel cache leave texts that are no kernels; what is printed from a graph is named sinter_...
    if (entry.path().extension() == ".cu" && entry.path().filename().string().starts_with("sinter_"))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Judges files on two threads.
class Judges {
 public:
  Judges(std::vector<fs::path> files, fs::path cache, std::string rules)
      : files_(std::move(files)), cache_(std::move(cache)), rules_(std::move(rules)) {}

  /// The exit status.
  int run() {
    std::thread second([this] { work(); });
    work();
    second.join();
    if (unavailable_) return no_nvrtc;
    fmt::print("{} kernels for {}: {} compiled now, {} wrong\n", files_.size(), fmt::join(targets_, ", "),
               compiled_.load(), failures_.load());
    return failures_ > 0;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < files_.size() && !unavailable_; i = next_++) look_at(files_[i]);
  }
  void look_at(const fs::path& file) {
    const std::string text = read(file);
    const XXH128_hash_t hash = identity(text, targets_, rules_);
    const fs::path note = cache_ / fmt::format("{:016x}{:016x}.passed", hash.high64, hash.low64);
    if (fs::exists(note) || !is_sampled(hash)) return;
    ++compiled_;
    std::string wrong;
    try {
      const std::string stem = file.stem().string();
      wrong = judge({stem.substr(0, stem.rfind('_')), text}, targets_);
    } catch (const sinter::DeviceError& e) {
      if (!unavailable_.exchange(true)) fmt::print("{}\n", e.what());
      return;
    } catch (const std::exception& e) {
      wrong = fmt::format("  {}\n", e.what());
    }
    if (wrong.empty())
      std::ofstream(note).flush();
    else
      report(file, wrong);
  }
  void report(const fs::path& file, const std::string& wrong) {
    const std::lock_guard lock(printing_);
    fmt::print("{}\n{}", file.string(), wrong);
    ++failures_;
  }

  const std::vector<fs::path> files_;
  const fs::path cache_;
  const std::string rules_;
  const std::vector<std::string> targets_ = architectures();
  std::atomic<std::size_t> next_ = 0;
  std::atomic<int> compiled_ = 0, failures_ = 0;
  std::atomic<bool> unavailable_ = false;
  std::mutex printing_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: {} FOLDER CACHE RULES...\n", argv[0]);
    return 2;
  }
  const std::vector<fs::path> files = texts_in(argv[1]);
  if (files.empty()) {
    fmt::print(stderr, "no kernel text in {}: run the other tests first, they leave theirs there\n", argv[1]);
    return 1;
  }
  fs::create_directories(argv[2]);
  std::string rules;
  for (int i = 3; i < argc; ++i) rules += read(argv[i]);
  const int status = Judges(files, argv[2], rules).run();
  std::error_code missing;
  if (status == 0)
    for (fs::path file : files)
      for (const char* extension : {".cu", ".so", ".cubin", ".ptx"})
        fs::remove(file.replace_extension(extension), missing);
  return status;
}
