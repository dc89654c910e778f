// Random archives: bytes choose the entries' names, sizes and content; checksums are usually right.
#pragma once
#include <zlib.h>

#include <string>
#include <vector>

#include <jit/cache/disk_entry.hpp>
#include "program/choices.hpp"

namespace sinter::fuzz {

inline void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// A kernel's entry, whole or damaged.
inline std::string entry_bytes(Choices& choices) {
  jit::KernelKey key;
  key.text = "text" + std::to_string(choices.below(4));
  key.target = "none";
  key.name = choices.often(50) ? "kernel" : "../../k";
  std::string binary(static_cast<std::size_t>(1 + choices.below(64)), 'b');
  std::string bytes = jit::encode(key, binary);
  if (choices.often(30)) bytes[static_cast<std::size_t>(choices.below(256)) % bytes.size()] ^= 1;
  if (choices.often(10)) bytes.resize(bytes.size() / 2);
  if (choices.often(30)) jit::seal(bytes);
  return bytes;
}

inline std::string deflated(const std::string& content) {
  std::string packed(content.size() + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string archive_of(std::span<const std::uint8_t> data) {
  Choices choices(data);
  std::string archive, directory;
  const int entries = choices.between(1, 4);
  for (int i = 0; i < entries; ++i) {
    const std::string name = choices.pick<const char*>(
        {"a.kernel", "../out.kernel", "/tmp/sinter-fuzz-out", "d/", "", "../cache/b.kernel", "a.kernel", "..", "."});
    const std::string content = entry_bytes(choices);
    const bool packs = choices.often(40);
    const std::string packed = packs ? deflated(content) : content;
    const auto crc = choices.often(90)
                         ? crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()))
                         : 7;
    const std::uint64_t size =
        choices.often(90) ? content.size() : choices.pick<std::uint64_t>({0, 1, 0xFFFFFFFF, 5000});
    const std::size_t offset = archive.size();
    std::string about;  // fields common to both headers
    put(about, 20, 2), put(about, 0, 2), put(about, packs ? 8 : 0, 2), put(about, 0, 4), put(about, crc, 4);
    put(about, packed.size(), 4), put(about, size, 4), put(about, name.size(), 2), put(about, 0, 2);
    put(archive, 0x04034B50, 4);
    archive += about + name + packed;
    put(directory, 0x02014B50, 4), put(directory, 20, 2);
    directory += about;
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2);
    // The Unix file type and mode: 0120777 is a link.
    put(directory, choices.often(10) ? 0xA1FF0000u : 0x81A40000u, 4);
    put(directory, choices.often(95) ? offset : static_cast<std::size_t>(choices.below(200)), 4);
    directory += name;
  }
  const std::size_t at = archive.size();
  archive += directory;
  put(archive, 0x06054B50, 4), put(archive, 0, 4);
  put(archive, static_cast<std::uint64_t>(entries), 2), put(archive, static_cast<std::uint64_t>(entries), 2);
  put(archive, directory.size(), 4), put(archive, at, 4), put(archive, 0, 2);
  return archive;
}

}  // namespace sinter::fuzz
