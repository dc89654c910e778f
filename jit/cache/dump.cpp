#include "dump.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <runtime/environment.hpp>
#include <runtime/log.hpp>
#include <runtime/write.hpp>

namespace sinter::inline v1::jit {
namespace {

void dump(const KernelKey& key, std::string_view suffix, std::string_view content) {
  const std::string folder = runtime::environment("SINTER_DUMP_DIR");
  if (folder.empty()) return;
  const XXH64_hash_t hash = XXH3_64bits(key.text.data(), key.text.size());
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto path = std::filesystem::path(folder) / fmt::format("{}_{:016x}{}", key.name, hash, suffix);
  const int error = runtime::write_file(path, content);
  static std::atomic<bool> said{false};
  if (error != 0 && !said.exchange(true))
    runtime::notice(
        fmt::format("cannot write kernels to SINTER_DUMP_DIR: {} ({})", path.string(), runtime::write_problem(error)));
}

}  // namespace

void dump_text(const KernelKey& key, std::string_view suffix) { dump(key, suffix, key.text); }
void dump_binary(const KernelKey& key, std::string_view binary) { dump(key, extension(binary), binary); }

std::string_view extension(std::string_view binary) noexcept {
  constexpr std::uint16_t cuda = 190;  // EM_CUDA, missing in older headers
  Elf64_Ehdr header;
  if (binary.size() < sizeof header || !binary.starts_with(ELFMAG)) return ".ptx";
  std::memcpy(&header, binary.data(), sizeof header);
  return header.e_machine == cuda ? ".cubin" : ".so";
}

}  // namespace sinter::inline v1::jit
