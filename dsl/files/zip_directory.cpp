// Parses a zip archive: the end record, the directory that it points to, and the headers that the directory points to.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <sinter/runtime/error.hpp>
#include "excerpt.hpp"
#include "inflate.hpp"
#include "zip.hpp"

namespace sinter::inline v1::detail::zip {

namespace {

constexpr std::uint64_t end_bytes = 22, end64_bytes = 56, locator_bytes = 20, record_bytes = 46, header_bytes = 30;
constexpr std::uint64_t longest_comment = 0xFFFF;

[[noreturn]] void fail(const ByteSource& file, std::string_view what) {
  throw FormatError(fmt::format("{}: this zip archive is malformed: {}", file.name(), what));
}

/// Part of the file, whose fields are read by offset.
class Record {
 public:
  Record(ByteSource& file, std::uint64_t offset, std::uint64_t bytes, std::string_view what)
      : file_(file), bytes_((check(file, offset, bytes, what), bytes)) {
    file.read(offset, bytes_);
  }
  std::uint64_t size() const { return bytes_.size(); }
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t bytes) const {
    check(file_, at, bytes, "a record", bytes_.size());
    return std::span(bytes_).subspan(at, bytes);
  }
  std::uint64_t number(std::uint64_t at, std::uint64_t bytes) const { return little_endian(part(at, bytes)); }
  std::string text(std::uint64_t at, std::uint64_t bytes) const {
    const auto span = part(at, bytes);
    return {reinterpret_cast<const char*>(span.data()), span.size()};
  }
  bool begins(std::uint64_t at, std::string_view signature) const {
    return at + 4 <= size() && text(at, 4) == signature;
  }

 private:
  static void check(const ByteSource& file, std::uint64_t at, std::uint64_t bytes, std::string_view what) {
    check(file, at, bytes, what, file.size());
  }
  static void check(const ByteSource& file, std::uint64_t at, std::uint64_t bytes, std::string_view what,
                    std::uint64_t size) {
    if (at > size || bytes > size - at)
      fail(file, fmt::format("{} takes {} bytes from byte {}, but there are {}", what, bytes, at, size));
  }
  ByteSource& file_;
  std::vector<std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset, bytes, count;
};

Directory find_directory64(ByteSource& file, std::uint64_t end, const Directory& small) {
  if (end < locator_bytes) fail(file, "there is no room for its 64-bit end record");
  const Record locator(file, end - locator_bytes, locator_bytes, "the locator");
  if (!locator.begins(0, "PK\6\7")) return small;
  const Record end64(file, locator.number(8, 8), end64_bytes, "the 64-bit end record");
  if (!end64.begins(0, "PK\6\6")) fail(file, "its locator points to no 64-bit end record");
  return {end64.number(48, 8), end64.number(40, 8), end64.number(32, 8)};
}

Directory find_directory(ByteSource& file) {
  const std::uint64_t bytes = std::min(file.size(), end_bytes + longest_comment), start = file.size() - bytes;
  const Record tail(file, start, bytes, "the end");
  for (std::uint64_t at = bytes - end_bytes + 1; at-- > 0;) {
    if (!tail.begins(at, "PK\5\6") || tail.number(at + 20, 2) != bytes - at - end_bytes) continue;
    if (tail.number(at + 4, 2) != 0 && tail.number(at + 4, 2) != unset16) fail(file, "it is one of several parts");
    const Directory small{tail.number(at + 16, 4), tail.number(at + 12, 4), tail.number(at + 10, 2)};
    const bool is_small = small.offset != unset32 && small.bytes != unset32 && small.count != unset16;
    const Directory found = is_small ? small : find_directory64(file, start + at, small);
    if (found.offset > start + at || found.bytes > start + at - found.offset)
      fail(file, fmt::format("its directory of {} bytes from byte {} is not before its end record at byte {}",
                             found.bytes, found.offset, start + at));
    return found;
  }
  fail(file, "it is truncated: there is no end record");
}

/// The 64-bit fields of a record, which replace its 32-bit fields that are unset.
void read_extra(const Record& directory, std::uint64_t at, std::uint64_t end, std::span<std::uint64_t* const> fields,
                const ByteSource& file, const std::string& name) {
  std::vector<std::uint64_t*> missing;
  std::ranges::copy_if(fields, std::back_inserter(missing), [](const std::uint64_t* f) { return *f == unset32; });
  while (!missing.empty() && end - at >= 4) {
    const std::uint64_t id = directory.number(at, 2), bytes = directory.number(at + 2, 2);
    at += 4;
    if (bytes > end - at) break;
    if (id == 1 && bytes >= 8 * missing.size()) {
      for (std::size_t i = 0; i < missing.size(); ++i) *missing[i] = directory.number(at + 8 * i, 8);
      return;
    }
    at += bytes;
  }
  if (!missing.empty()) fail(file, fmt::format("entry '{}' lacks its 64-bit sizes", excerpt(name)));
}

void check_entry(const Entry& e, std::uint64_t flags, std::uint64_t method, const ByteSource& file) {
  const std::string name = excerpt(e.name);
  if (flags & 1) fail(file, fmt::format("entry '{}' is encrypted", name));
  if (method != 0 && method != 8)
    throw FormatError(
        fmt::format("{}: entry '{}' is compressed by method {}; Sinter reads stored (0) and deflated (8) entries, as "
                    "numpy.savez and numpy.savez_compressed write",
                    file.name(), name, method));
  if (!e.deflated && e.packed != e.size)
    fail(file, fmt::format("entry '{}' of {} bytes is stored in {}", name, e.size, e.packed));
  if (e.size / max_inflated > e.packed)
    fail(file, fmt::format("entry '{}' has {} bytes, more than {} deflated ones can hold", name, e.size, e.packed));
}

/// Reads the header before the content. Returns the offset of the content.
std::uint64_t content_offset(ByteSource& file, std::uint64_t at, const std::string& name) {
  const std::string what = fmt::format("the header of entry '{}'", excerpt(name));
  const Record header(file, at, header_bytes, what);
  if (!header.begins(0, "PK\3\4"))
    fail(file, fmt::format("there is no header of entry '{}' at byte {}", excerpt(name), at));
  const std::uint64_t name_bytes = header.number(26, 2), extra_bytes = header.number(28, 2);
  if (Record(file, at + header_bytes, name_bytes, what).text(0, name_bytes) != name)
    fail(file,
         fmt::format("the entry at byte {} has another name than '{}', its name in the directory", at, excerpt(name)));
  return at + header_bytes + name_bytes + extra_bytes;
}

/// Entries that share bytes could unpack to any size.
void check_outputs_disjoint(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges, const ByteSource& file) {
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      fail(file, fmt::format("two entries overlap at byte {}", ranges[i].first));
}

}  // namespace

std::vector<Entry> read_directory(ByteSource& file) {
  if (file.size() < end_bytes)
    fail(file, fmt::format("it has {} bytes, and the smallest has {}", file.size(), end_bytes));
  const Directory where = find_directory(file);
  const Record directory(file, where.offset, where.bytes, "the directory");
  std::vector<Entry> entries;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::uint64_t at = 0;
  while (at < directory.size()) {
    if (!directory.begins(at, "PK\1\2"))
      fail(file, fmt::format("there is no record of an entry at byte {}, in its directory", where.offset + at));
    const std::uint64_t name_bytes = directory.number(at + 28, 2), extra_bytes = directory.number(at + 30, 2);
    const std::uint64_t extra = at + record_bytes + name_bytes, method = directory.number(at + 10, 2);
    Entry e{.name = directory.text(at + record_bytes, name_bytes),
            .deflated = method == 8,
            .crc = static_cast<std::uint32_t>(directory.number(at + 16, 4)),
            .size = directory.number(at + 24, 4),
            .packed = directory.number(at + 20, 4)};
    std::uint64_t header = directory.number(at + 42, 4);
    directory.part(extra, extra_bytes);
    std::uint64_t* const fields[] = {&e.size, &e.packed, &header};
    read_extra(directory, extra, extra + extra_bytes, fields, file, e.name);
    check_entry(e, directory.number(at + 8, 2), method, file);
    e.offset = content_offset(file, header, e.name);
    if (e.offset > where.offset || e.packed > where.offset - e.offset)
      fail(file, fmt::format("entry '{}' of {} bytes from byte {} is not before the directory at byte {}",
                             excerpt(e.name), e.packed, e.offset, where.offset));
    ranges.emplace_back(header, e.offset + e.packed);
    at = extra + extra_bytes + directory.number(at + 32, 2);
    entries.push_back(std::move(e));
  }
  if (entries.size() != where.count)
    fail(file, fmt::format("its directory has {} entries, not {}", entries.size(), where.count));
  check_outputs_disjoint(std::move(ranges), file);
  return entries;
}

}  // namespace sinter::inline v1::detail::zip
