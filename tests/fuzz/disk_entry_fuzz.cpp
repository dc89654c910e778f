// Any bytes as an entry of the disk cache: they are refused, or are exactly what encoding their content gives.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <jit/cache/disk_entry.hpp>

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

/// Decodes what is as it was written and nothing else.
bool decodes(std::string_view file) {
  const auto entry = jit::decode(file);
  if (!entry) return false;
  check(!entry->binary.empty() && entry->binary.size() < file.size());
  check(jit::encode(entry->key, entry->binary) == file);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  decodes(file);
  // A checksum that fits lets the lengths be read: no input would find one by itself.
  jit::seal(file);
  if (!decodes(file) || size == 0) return 0;
  file[data[size - 1] % size] ^= static_cast<char>(1 << data[0] % 8);
  check(!decodes(file));
  return 0;
}
