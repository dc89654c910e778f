// Files: read in place or mapped; written beside the old one, whose place they then take.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "byte_source.hpp"

namespace sinter::inline v1::detail {

/// An open file; closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  ~Descriptor();
  int get() const { return fd_; }
  /// Closes and reports: what was written may fail as late as here. 0, or the error.
  int close();

 private:
  int fd_;
};

/// A file's bytes as memory. What is written there stays there: the file keeps its own, and pages are copied one by one
/// when they are written to. The file may be removed or replaced; who makes it shorter ends the process that reads on.
class Mapping {
 public:
  Mapping(std::byte* data, std::size_t bytes) noexcept : bytes_(data, bytes) {}
  Mapping(Mapping&& o) noexcept : bytes_(std::exchange(o.bytes_, {})) {}
  ~Mapping();
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

class FileSource final : public ByteSource {
 public:
  /// Throws FormatError where there is no file that can be read.
  explicit FileSource(std::filesystem::path path);
  std::string name() const override { return "'" + path_.string() + "'"; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) override;
  /// All of it. Throws FormatError with the system's reason.
  Mapping map() const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

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
  void commit();

 private:
  Descriptor create();

  std::filesystem::path asked_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  Descriptor file_;
};

}  // namespace sinter::inline v1::detail
