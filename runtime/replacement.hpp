// Files that appear when they are complete: written beside the old one, whose place they then take.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "descriptor.hpp"

namespace sinter::inline v1::runtime {

/// The same path. Throws FormatError where it contains a NUL byte: the system would end the name there, and open
/// another file.
const std::filesystem::path& checked_name(const std::filesystem::path& path);

/// A new file beside the one that it is to replace; removed unless it took that one's place. Follows a symbolic link;
/// replaces files only. All throw FormatError with the path and the system's reason.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  /// Behind what was written so far.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Over what was written before.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Closes the file. Of several, all are finished before the first is committed: what can go wrong then has.
  void finish();
  /// Puts it in its place, finished or not.
  void commit();

 private:
  Descriptor create();

  std::filesystem::path asked_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  Descriptor file_;
};

}  // namespace sinter::inline v1::runtime
