#include "kernel_compiler.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sinter/runtime/error.hpp>
#include "../fork.hpp"
#include "../host_compiler.hpp"
#include "../process.hpp"
#include "../temporary_folder.hpp"
#include "../whole_file.hpp"
#include "abi.h"
#include "memory_check.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view virtual_abi, virtual_shim, virtual_shim_math, virtual_shim_strict;
}

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr std::size_t max_static_shared = 48 << 10;  // bytes; ptxas's limit

// Contraction, aliasing and overflow as in NVRTC; checks that report through the shim.
constexpr const char* flags[] = {"-xc++",
                                 "-std=gnu++17",
                                 "-O1",
                                 "-foptimize-sibling-calls",
                                 "-g1",
                                 "-w",
                                 "-pipe",
                                 "-shared",
                                 "-fPIC",
                                 "-nostdlib",
                                 "-Wl,-Bsymbolic",
                                 "-Wl,-z,norelro",
#if defined(__x86_64__)
                                 "-march=native",
#elif defined(__aarch64__)
                                 "-mtls-dialect=trad",
                                 "-mno-outline-atomics",  // these are calls of libgcc
                                 "-fsigned-char",         // as on GPUs
#endif
                                 "-ffp-contract=off",
                                 "-fno-math-errno",
                                 "-fno-strict-aliasing",
                                 "-fwrapv",
                                 "-fno-delete-null-pointer-checks",
                                 "-fno-exceptions",
                                 "-fno-rtti",
                                 "-fno-asynchronous-unwind-tables",
                                 "-fno-stack-protector",
                                 "-fstack-clash-protection",  // no stack frame can skip a guard page
                                 "-fno-threadsafe-statics",
                                 "-fvisibility=hidden",
                                 "-fsanitize=alignment,bounds",
                                 "-fno-sanitize-recover=all"};
// Calls shim_strict.h before every access.
constexpr const char* strict_flag = "-fsanitize=thread";

std::vector<std::string> all_flags() {
  std::vector<std::string> all(std::begin(flags), std::end(flags));
  if (is_strict()) all.emplace_back(strict_flag);
  return all;
}

/// What -march=native depends on. AArch64's kernels are for any processor: cross compilers have no native one.
std::string cpu_features() {
#if defined(__aarch64__)
  return "";
#else
  std::ifstream info("/proc/cpuinfo");
  info.exceptions(std::ios::badbit);
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags")) return line;
  return "";
#endif
}

/// N of `__launch_bounds__(N`; 1024 if there is none or it is not a number.
unsigned launch_bound(std::string_view text) {
  constexpr std::string_view keyword = "__launch_bounds__";
  const std::size_t at = text.find(keyword);
  if (at == std::string_view::npos) return 1024;
  const std::size_t digit = text.find_first_not_of(" (\t", at + keyword.size());
  unsigned bound = 1024;
  if (digit != std::string_view::npos) std::from_chars(text.data() + digit, text.data() + text.size(), bound);
  return bound;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// NAME of `extern __shared__ T NAME[]`; empty if there is none.
std::string dynamic_shared_name(std::string_view text) {
  const std::size_t at = text.find("extern __shared__");
  const std::size_t bracket = at == std::string_view::npos ? at : text.find('[', at);
  if (bracket == std::string_view::npos) return "";
  std::size_t end = bracket;
  while (end > at && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > at && is_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

/// A C++ string literal, split since compilers limit the length of one.
std::string string_literal(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); i += 8000) result += fmt::format("R\"~~~({})~~~\"\n", text.substr(i, 8000));
  return result.empty() ? "\"\"" : result;
}

}  // namespace

std::string translation_unit(const KernelSource& source) {
  const std::string shared = dynamic_shared_name(source.text);
  std::string unit = fmt::format(
      "#line 1 \"abi.h\"\n{}#line 1 \"shim.h\"\n{}#line 1 \"shim_math.h\"\n{}#line 1 \"shim_strict.h\"\n{}"
      "#line 1 \"{}.cu\"\n{}\n#line 1 \"entry\"\n",
      embedded::virtual_abi, embedded::virtual_shim, embedded::virtual_shim_math,
      is_strict() ? embedded::virtual_shim_strict : "", source.name, source.text);
  if (!shared.empty())
    unit += fmt::format("SINTER_VIRTUAL_DYNAMIC_SHARED({}, _ZTH{}{})\n", shared, shared.size(), shared);
  return unit + fmt::format("SINTER_VIRTUAL_ENTRY({}, {}, {}, {})\n", source.name, launch_bound(source.text),
                            string_literal(source.text),
                            shared.empty() ? "nullptr" : "sinter_virtual::dynamic_address");
}

long static_shared_bytes(std::string_view binary) noexcept {
  Elf64_Ehdr header;
  if (binary.size() < sizeof header || !binary.starts_with(ELFMAG)) return -1;
  std::memcpy(&header, binary.data(), sizeof header);
  // The section headers come last: if they are missing, the file was truncated.
  if (header.e_shoff > binary.size() ||
      binary.size() - header.e_shoff < std::size_t{header.e_shnum} * header.e_shentsize)
    return -1;
  long bytes = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::size_t at = header.e_phoff + std::size_t{i} * sizeof segment;
    if (at > binary.size() || binary.size() - at < sizeof segment) return -1;
    std::memcpy(&segment, binary.data() + at, sizeof segment);
    if (segment.p_type == PT_TLS) bytes = static_cast<long>(segment.p_memsz);
  }
  return bytes;
}

std::string kernel_tag() {
  const HostCompiler& compiler = HostCompiler::instance();
  if (!compiler.exists()) return "host (no compiler)";
  static constinit NoDestructor<const std::string> tag;
  return tag.get([&] {
    const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", compiler.identity(), fmt::join(all_flags(), " "),
                                        cpu_features(), embedded::virtual_abi, embedded::virtual_shim,
                                        embedded::virtual_shim_math, embedded::virtual_shim_strict);
    const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
    return new std::string(fmt::format("host {} {:016x}{:016x}", compiler.version(), hash.high64, hash.low64));
  });
}

std::string compile_kernel(const KernelSource& source) {
  std::string binary =
      HostCompiler::instance().compile({source.name, source.text, translation_unit(source),
                                        "Virtual GPUs compile kernels with the host's C++ compiler", all_flags()});
  const long shared = static_shared_bytes(binary);
  const std::size_t limit = max_static_shared + (dynamic_shared_name(source.text).empty() ? 0 : dynamic_symbol_bytes);
  if (shared > 0 && static_cast<std::size_t>(shared) > limit)
    throw CompileError(
        fmt::format("Kernel {} has {} bytes of __shared__ variables; a GPU supports at most {}. Use dynamic shared "
                    "memory (extern __shared__).",
                    source.name, shared, max_static_shared),
        "", source.text);
  return binary;
}

int line_of(const std::string& binary, unsigned long address) noexcept try {
  const TemporaryFolder folder;
  const std::string file = folder.file("kernel.so");
  write_whole_file(file, binary);
  const ProcessResult result = run_process({"addr2line", "-i", "-e", file, fmt::format("{:#x}", address)});
  // "name.cu:12" or "name.cu:12 (discriminator 3)"; after functions of the shim that were inlined there.
  const std::size_t suffix = result.output.find(".cu:");
  int line = 0;
  if (!result.failed() && suffix != std::string::npos)
    std::from_chars(result.output.data() + suffix + 4, result.output.data() + result.output.size(), line);
  return line;
} catch (...) {
  return 0;
}

}  // namespace sinter::inline v1::runtime::vgpu
