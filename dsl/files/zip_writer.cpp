#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include <sinter/runtime/error.hpp>
#include "excerpt.hpp"
#include "zip.hpp"

namespace sinter::inline v1::detail::zip {

namespace {

constexpr std::uint64_t version = 45;          // the first version with 64-bit fields
constexpr std::uint64_t first_of_1980 = 0x21;  // the earliest possible date; archives of equal tensors are equal
constexpr std::uint64_t utf8 = 1 << 11;        // for names that are not ASCII
constexpr std::uint64_t crc_offset = 14;

/// Numbers of the given sizes in bytes, lowest byte first.
std::string fields(std::initializer_list<std::pair<std::uint64_t, int>> numbers) {
  std::string text;
  for (const auto& [number, bytes] : numbers)
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xFF);
  return text;
}

std::uint64_t flags(const std::string& name) {
  return std::ranges::all_of(name, [](unsigned char c) { return c < 0x80; }) ? 0 : utf8;
}

/// The fields that an entry's header and its directory record share.
std::string common(const Entry& e, int extra_bytes) {
  return fields({{version, 2},
                 {flags(e.name), 2},
                 {0, 2},
                 {0, 2},
                 {first_of_1980, 2},
                 {e.crc, 4},
                 {unset32, 4},
                 {unset32, 4},
                 {e.name.size(), 2},
                 {static_cast<std::uint64_t>(extra_bytes), 2}});
}

}  // namespace

void Writer::put(const std::string& record) {
  file_.write(record);
  at_ += record.size();
}

void Writer::begin(const std::string& name, std::uint64_t size) {
  if (name.size() > 0xFFFF)
    throw Error(fmt::format("a name of {} bytes is too long for a zip archive, which allows at most 65535: '{}'",
                            name.size(), excerpt(name)));
  entries_.push_back({.name = name, .size = size, .packed = size, .offset = at_});
  put("PK\3\4" + common(entries_.back(), 20) + name + fields({{1, 2}, {16, 2}, {size, 8}, {size, 8}}));
}

void Writer::write(std::span<const std::byte> bytes) {
  std::uint32_t& crc = entries_.back().crc;
  crc = static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  file_.write(bytes);
  at_ += bytes.size();
}

void Writer::end() {
  const std::string crc = fields({{entries_.back().crc, 4}});
  file_.write_at(entries_.back().offset + crc_offset, std::as_bytes(std::span(crc)));
}

void Writer::finish() {
  const std::uint64_t start = at_, count = entries_.size();
  if (count == 0) return put("PK\5\6" + std::string(18, '\0'));  // NumPy looks for a lone end record
  for (const Entry& e : entries_)
    put("PK\1\2" + fields({{version, 2}}) + common(e, 28) + fields({{0, 2}, {0, 2}, {0, 2}, {0, 4}, {unset32, 4}}) +
        e.name + fields({{1, 2}, {24, 2}, {e.size, 8}, {e.packed, 8}, {e.offset, 8}}));
  const std::uint64_t end64 = at_, bytes = end64 - start;
  put("PK\6\6" +
      fields({{44, 8}, {version, 2}, {version, 2}, {0, 4}, {0, 4}, {count, 8}, {count, 8}, {bytes, 8}, {start, 8}}));
  put("PK\6\7" + fields({{0, 4}, {end64, 8}, {1, 4}}));
  put("PK\5\6" + fields({{0, 2}, {0, 2}, {unset16, 2}, {unset16, 2}, {unset32, 4}, {unset32, 4}, {0, 2}}));
}

}  // namespace sinter::inline v1::detail::zip
