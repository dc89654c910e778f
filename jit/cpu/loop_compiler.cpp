#include "loop_compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <initializer_list>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <runtime/fork.hpp>
#include <runtime/host_compiler.hpp>
#include <runtime/shared_object.hpp>

namespace sinter::inline v1::embedded {
extern const std::string_view simd_headers;
}

namespace sinter::inline v1::jit::cpu {
namespace {

/// The build gives the flags of the library's own loops (jit/CMakeLists.txt), so that results are the same bits.
constexpr const char* isa_flags[] = {SINTER_ISA_FLAGS};
static_assert(std::size(isa_flags) == isa_count);
constexpr const char* loop_flags = SINTER_LOOP_FLAGS;
constexpr const char* gcc_flags = SINTER_GCC_FLAGS;
/// What makes a shared object, without what it does not need.
constexpr const char* object_flags =
    "-w -pipe -shared -fPIC -nostdlib -Wl,--no-as-needed -DSINTER_FEW_INTRINSICS "
    "-lm "  // fmod, and fma where no instruction is
    "-ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-asynchronous-unwind-tables "
    "-fno-stack-protector";

std::vector<std::string> words_of(std::initializer_list<const char*> texts) {
  std::vector<std::string> words;
  for (const char* const text : texts) {
    std::istringstream stream(text);
    words.insert(words.end(), std::istream_iterator<std::string>(stream), {});
  }
  return words;
}

struct LoadedLoops {
  explicit LoadedLoops(const std::string& binary, const std::string& name)
      : object(binary, name), loops(object.find("sinter_loops")) {
    if (loops == nullptr)
      throw runtime::BinaryRefused(fmt::format("Cannot load the loops of {}: the binary holds none.", name));
  }
  runtime::SharedObject object;
  const void* loops;
};

class LoopCompiler final : public runtime::KernelTarget {
 public:
  /// `language`: flags. `headers` precede each text. `needs`: as HostSource::needs.
  LoopCompiler(Isa isa, const char* language, std::string_view headers, std::string_view needs)
      : headers_(headers),
        needs_(needs),
        flags_(words_of({language, object_flags, loop_flags, isa_flags[static_cast<int>(isa)]})) {
    const std::string key = fmt::format("{} {}\n{}", fmt::join(flags_, " "), gcc_flags, headers_);
    const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
    tag_ = fmt::format("cpu {} {:016x}{:016x}", isa_name(isa), hash.high64, hash.low64);
  }

  std::string binary_tag() const override { return tag_; }
  const char* source_suffix() const noexcept override { return ".cpp"; }
  std::string compile(const runtime::KernelSource& source) override {
    return runtime::HostCompiler::instance().compile({source.name, source.text,
                                                      fmt::format("{}\n{}", headers_, source.text), needs_, flags_,
                                                      words_of({gcc_flags})});
  }
  runtime::KernelHandle load(const std::string& binary, const std::string& name) override {
    return runtime::KernelHandle(std::make_shared<LoadedLoops>(binary, name));
  }

 private:
  const std::string_view headers_, needs_;
  const std::vector<std::string> flags_;
  std::string tag_;
};

using Compilers = runtime::NoDestructor<LoopCompiler>[isa_count];
constinit Compilers loop_compilers, function_compilers;

}  // namespace

runtime::KernelTarget& loop_compiler(Isa isa) {
  return loop_compilers[static_cast<int>(isa)].get([&] {
    return new LoopCompiler(isa, "-xc++ -std=gnu++20 -fno-rtti", embedded::simd_headers,
                            "The CPU's loops are compiled by the host's C++ compiler");
  });
}

runtime::KernelTarget& function_compiler(Isa isa) {
  return function_compilers[static_cast<int>(isa)].get([&] {
    return new LoopCompiler(isa, "-xc -std=gnu99", "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n",
                            "Device functions are compiled for the CPU by the host's C++ compiler");
  });
}

const ChainLoop* chain_loops(void* handle) noexcept {
  return static_cast<const ChainLoop*>(static_cast<const LoadedLoops*>(handle)->loops);
}
Loop function_loop(void* handle) noexcept {
  return *static_cast<const Loop*>(static_cast<const LoadedLoops*>(handle)->loops);
}

}  // namespace sinter::inline v1::jit::cpu
