// Files that are read or mapped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <runtime/file_descriptor.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail {

/// A file's bytes as memory. Writes stay in memory: pages are copied when they are first written to, and the file is
/// unchanged. The file may be removed or replaced; truncating it kills a process that reads beyond its new end.
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
  /// Throws FormatError if the file cannot be read.
  explicit FileSource(std::filesystem::path path);
  std::string name() const override { return "'" + path_.string() + "'"; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) override;
  /// The whole file. Throws FormatError with the system's reason.
  Mapping map() const;

 private:
  std::filesystem::path path_;
  runtime::FileDescriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace sinter::inline v1::detail
