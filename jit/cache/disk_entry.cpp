#include "disk_entry.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace sinter::inline v1::jit {
namespace {

constexpr char magic[8] = {'s', 'i', 'n', 't', 'e', 'r', 'k', '\n'};

/// In the machine's byte order: with the other order the version does not match, and the binaries would be useless.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t target_bytes;
  std::uint32_t name_bytes;
  std::uint32_t text_bytes;
  std::uint64_t binary_bytes;
  std::uint64_t checksum[2];  // of the file with these 16 bytes zero
};
static_assert(sizeof(Header) == 48 && std::is_trivially_copyable_v<Header>);

Header header_for(const KernelKey& key, std::string_view binary) {
  Header h{};
  std::memcpy(h.magic, magic, sizeof magic);
  h.version = entry_version;
  h.target_bytes = static_cast<std::uint32_t>(key.target.size());
  h.name_bytes = static_cast<std::uint32_t>(key.name.size());
  h.text_bytes = static_cast<std::uint32_t>(key.text.size());
  h.binary_bytes = binary.size();
  return h;
}

std::string_view bytes_of(const Header& h) { return {reinterpret_cast<const char*>(&h), sizeof h}; }

/// The checksum of a header, with its own checksum zero, and of what follows.
XXH128_hash_t checksum(const Header& unsealed, std::string_view payload) {
  const XXH128_hash_t of_payload = XXH3_128bits(payload.data(), payload.size());
  std::string text(bytes_of(unsealed));
  text.append(reinterpret_cast<const char*>(&of_payload), sizeof of_payload);
  return XXH3_128bits(text.data(), text.size());
}

Header unsealed(Header h) {
  h.checksum[0] = h.checksum[1] = 0;
  return h;
}

}  // namespace

std::string encode(const KernelKey& key, std::string_view binary) {
  std::string file(bytes_of(header_for(key, binary)));
  file.reserve(file.size() + key.target.size() + key.name.size() + key.text.size() + binary.size());
  file.append(key.target).append(key.name).append(key.text).append(binary);
  seal(file);
  return file;
}

void seal(std::string& file) {
  Header h;
  if (file.size() < sizeof h) return;
  std::memcpy(&h, file.data(), sizeof h);
  const XXH128_hash_t sum = checksum(unsealed(h), std::string_view(file).substr(sizeof h));
  h.checksum[0] = sum.low64;
  h.checksum[1] = sum.high64;
  std::memcpy(file.data(), &h, sizeof h);
}

std::optional<DiskEntry> decode(std::string_view file) {
  Header h;
  if (file.size() < sizeof h) return {};
  std::memcpy(&h, file.data(), sizeof h);
  std::string_view rest = file.substr(sizeof h);
  if (std::memcmp(h.magic, magic, sizeof magic) != 0 || h.version != entry_version) return {};
  // Three 32-bit numbers add up without overflow, and the rest is the binary.
  const std::uint64_t key_bytes = std::uint64_t{h.target_bytes} + h.name_bytes + h.text_bytes;
  if (key_bytes >= rest.size() || h.binary_bytes != rest.size() - key_bytes) return {};
  const XXH128_hash_t sum = checksum(unsealed(h), rest);
  if (sum.low64 != h.checksum[0] || sum.high64 != h.checksum[1]) return {};
  const auto take = [&](std::size_t bytes) {
    const std::string_view part = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return std::string(part);
  };
  DiskEntry entry;
  entry.key.target = take(h.target_bytes);
  entry.key.name = take(h.name_bytes);
  entry.key.text = take(h.text_bytes);
  entry.binary = std::string(rest);
  return entry;
}

std::string entry_name(const KernelKey& key) {
  std::string text(bytes_of(header_for(key, {})));  // with the lengths, so that different keys give different text
  text.append(key.target).append(key.name).append(key.text);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}.kernel", hash.high64, hash.low64);
}

}  // namespace sinter::inline v1::jit
