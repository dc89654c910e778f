// Atomic file replacement: a file is written beside the old one and then renamed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "file_descriptor.hpp"

namespace sinter::inline v1::runtime {

/// Returns the path. Throws FormatError if it contains a NUL byte, at which the system would truncate it and open
/// another file.
const std::filesystem::path& checked_name(const std::filesystem::path& path);

/// A new file beside the one that it replaces; removed unless committed. Follows a symbolic link; replaces regular
/// files only. All functions throw FormatError with the path and the system's reason.
class AtomicFileWriter {
 public:
  explicit AtomicFileWriter(const std::filesystem::path& path);
  AtomicFileWriter(const AtomicFileWriter&) = delete;
  AtomicFileWriter& operator=(const AtomicFileWriter&) = delete;
  ~AtomicFileWriter();

  /// Appends.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Overwrites.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Closes the file. Finish all of several files before committing the first: errors then mostly precede any change.
  void finish();
  /// Renames the file into place, finished or not.
  void commit();

 private:
  FileDescriptor create();

  std::filesystem::path asked_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  FileDescriptor file_;
};

}  // namespace sinter::inline v1::runtime
