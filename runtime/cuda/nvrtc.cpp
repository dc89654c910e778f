#include "nvrtc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../fork.hpp"

#include "../environment.hpp"
#include "../large_stack.hpp"
#include "../text.hpp"
#include "driver.hpp"
#include "nvrtc_identity.hpp"
#include "nvrtc_library.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// Flags that speed up compilation or keep it from changing the process; older versions lack some.
constexpr std::array optional_flags{"--minimal", "--no-cache", "--modify-stack-limit=false"};
constexpr unsigned all_flags = (1u << optional_flags.size()) - 1;
std::atomic<unsigned> known_flags{all_flags};

constexpr std::initializer_list<const char*> debug_flags{"-lineinfo", "--ptxas-options=-v"};

struct Compiled {
  std::string binary, ptx;
  std::string log;
};

/// An NVRTC program, destroyed at the end of its scope.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const KernelSource& source) : nvrtc_(nvrtc) {
    const std::string file = source.name + ".cu";
    result_ = nvrtc.nvrtcCreateProgram(&program_, source.text.c_str(), file.c_str(), 0, nullptr, nullptr);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_) nvrtc_.nvrtcDestroyProgram(&program_);
  }

  nvrtcResult compile(const std::vector<std::string>& flags) {
    std::vector<const char*> texts;
    for (const std::string& flag : flags) texts.push_back(flag.c_str());
    if (result_ == nvrtc_success)
      result_ = nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(texts.size()), texts.data());
    return result_;
  }

  std::string log() const { return text(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, true); }
  std::string ptx() const { return text(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, true); }
  std::string cubin() const { return text(nvrtc_.nvrtcGetCUBINSize, nvrtc_.nvrtcGetCUBIN, false); }

 private:
  std::string text(nvrtcResult (*size)(nvrtcProgram, std::size_t*), nvrtcResult (*get)(nvrtcProgram, char*),
                   bool ends_with_zero) const {
    std::size_t n = 0;
    if (!program_ || size(program_, &n) != nvrtc_success || n == 0) return {};
    std::string out(n, '\0');
    if (get(program_, out.data()) != nvrtc_success) return {};
    if (ends_with_zero) out.resize(out.find_last_not_of('\0') + 1);
    return out;
  }

  const Nvrtc& nvrtc_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult result_ = nvrtc_success;
};

std::vector<std::string> flags_for(std::string_view architecture, unsigned optional,
                                   std::initializer_list<const char*> more) {
  std::vector<std::string> flags{"--std=c++17", "--fmad=false"};
  if (!architecture.empty()) flags.push_back(fmt::format("--gpu-architecture={}", architecture));
  for (std::size_t i = 0; i < optional_flags.size(); ++i)
    if (optional >> i & 1) flags.emplace_back(optional_flags[i]);
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

/// Tries each optional flag separately on an empty program; returns those that this NVRTC supports.
unsigned probe_flags(const Nvrtc& nvrtc) {
  unsigned known = 0;
  for (std::size_t i = 0; i < optional_flags.size(); ++i)
    if (Program(nvrtc, {"probe", ""}).compile({optional_flags[i]}) != nvrtc_invalid_option) known |= 1u << i;
  known_flags.store(known, std::memory_order_relaxed);
  return known;
}

/// The number in "sm_90a" or "compute_90".
int parse_architecture(std::string_view architecture) {
  std::string_view digits = architecture;
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (digits.starts_with(prefix)) digits.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view variant(end, digits.data() + digits.size());
  const bool known_variant = variant.empty() || variant == "a" || variant == "f";
  if (digits.size() == architecture.size() || error != std::errc{} || number < 10 || !known_variant)
    throw DeviceError(fmt::format(
        "{} is not an architecture: expected \"sm_90\" for a binary or \"compute_90\" for PTX", quote(architecture)));
  return number;
}

std::string list(std::span<const int> known) { return fmt::format("sm_{}", fmt::join(known, ", sm_")); }

void check_architecture(const Nvrtc& nvrtc, std::string_view architecture) {
  const int number = parse_architecture(architecture);
  if (nvrtc.architectures.empty() || std::ranges::binary_search(nvrtc.architectures, number)) return;
  throw DeviceError(fmt::format("NVRTC {}.{} does not support {}: it supports {}", nvrtc.major, nvrtc.minor,
                                architecture, list(nvrtc.architectures)));
}

Compiled compile(const KernelSource& source, std::string_view architecture, std::initializer_list<const char*> more) {
  const Nvrtc& library = nvrtc();
  check_architecture(library, architecture);
  Compiled out;
  run_on_large_stack([&] {
    for (bool again = true; again;) {
      const unsigned optional = known_flags.load(std::memory_order_relaxed);
      Program program(library, source);
      const nvrtcResult result = program.compile(flags_for(architecture, optional, more));
      out.log = program.log();
      // Compared with what this attempt used: another thread may have probed meanwhile.
      again = result == nvrtc_invalid_option && probe_flags(library) != optional;
      if (again) continue;
      if (result != nvrtc_success)
        throw CompileError(fmt::format("NVRTC {}.{} rejects kernel {} for {} ({})", library.major, library.minor,
                                       source.name, architecture, library.nvrtcGetErrorString(result)),
                           out.log, source.text);
      out.ptx = program.ptx();
      out.binary = architecture.starts_with("sm_") ? program.cubin() : out.ptx;
    }
  });
  return out;
}

/// SINTER_CUDA_DEBUG, read once.
bool is_debug() {
  static constinit NoDestructor<const bool> on;
  return on.get([] { return new bool(is_on("SINTER_CUDA_DEBUG")); });
}

/// The number before `words` in ptxas's log; 0 if they do not occur.
int number_before(std::string_view log, std::string_view words) {
  const std::size_t end = log.find(words);
  if (end == std::string_view::npos) return 0;
  const std::size_t begin = log.find_last_not_of("0123456789", end - 1) + 1;
  int number = 0;
  std::from_chars(log.data() + begin, log.data() + end, number);
  return number;
}

}  // namespace

std::string nvrtc_compile(const KernelSource& source, std::string_view architecture) {
  if (!is_debug()) return compile(source, architecture, {}).binary;
  Compiled out = compile(source, architecture, debug_flags);
  fmt::print(stderr, "{}\n", out.log);
  return std::move(out.binary);
}

KernelReport nvrtc_report(const KernelSource& source, std::string_view architecture) {
  KernelReport report;
  Compiled compiled = compile(source, architecture, {"--ptxas-options=-v"});
  report.log = std::move(compiled.log);
  report.binary = std::move(compiled.binary);
  report.ptx = std::move(compiled.ptx);
  report.registers = number_before(report.log, " registers");
  report.stack = number_before(report.log, " bytes stack frame");
  report.spill_stores = number_before(report.log, " bytes spill stores");
  report.spill_loads = number_before(report.log, " bytes spill loads");
  report.shared = number_before(report.log, " bytes smem");
  return report;
}

std::string nvrtc_target(int device) {
  const Nvrtc& library = nvrtc();
  return nvrtc_target(device, library.architectures, library.ptx_loads);
}

std::string nvrtc_target(int device, std::span<const int> known, bool ptx_loads) {
  const auto above = std::ranges::upper_bound(known, device);
  if (known.empty() || (above != known.begin() && above[-1] == device)) return fmt::format("sm_{}", device);
  if (above == known.begin())
    throw DeviceError(
        fmt::format("this NVRTC does not support sm_{} any more: it supports {}. Install an older one and set "
                    "SINTER_NVRTC to its file",
                    device, list(known)));
  const int nearest = above[-1];
  if (ptx_loads) return fmt::format("compute_{}", nearest);
  // A binary runs on later devices of the same major version.
  if (nearest / 10 == device / 10) return fmt::format("sm_{}", nearest);
  throw DeviceError(
      fmt::format("this NVRTC supports {} but not sm_{}, and the CUDA driver is too old for its PTX: update "
                  "one of them",
                  list(known), device));
}

std::string nvrtc_tag(int device) {
  const auto flags = is_debug() ? flags_for("", all_flags, debug_flags) : flags_for("", all_flags, {});
  // The driver's version determines whether PTX can be used and which NVRTC is too new.
  return fmt::format("sm_{} cuda {}.{} nvrtc {} {}", device, driver::version() / 1000, driver::version() % 1000 / 10,
                     nvrtc_identity(), fmt::join(flags, " "));
}

}  // namespace sinter::inline v1::runtime
