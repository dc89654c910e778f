// Zip archives, of arrays (.npz) and of compressed kernels: entries stored or deflated, of any size.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <runtime/atomic_file_writer.hpp>
#include "byte_source.hpp"
#include "file.hpp"

namespace sinter::inline v1::detail {
class Inflater;
}
namespace sinter::inline v1::detail::zip {

/// Values of 16-bit and 32-bit fields that refer to a 64-bit field instead.
inline constexpr std::uint64_t unset16 = 0xFFFF, unset32 = 0xFFFFFFFF;

/// The directory's record of one entry.
struct Entry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;     // of the uncompressed content
  std::uint64_t size = 0;    // of the uncompressed content
  std::uint64_t packed = 0;  // size in the file
  std::uint64_t offset = 0;  // offset in the file
};

/// The entries, in directory order. Checks that they are within the file and do not overlap, and that none claims to
/// expand to more than deflate allows, so memory use is bounded by the file's size. Throws FormatError.
std::vector<Entry> read_directory(ByteSource& file);

/// The content of an entry, meant to be read from start to end.
class EntrySource final : public ByteSource {
 public:
  /// Both must outlive this object.
  EntrySource(ByteSource& file, const Entry& entry);
  ~EntrySource() override;
  std::string name() const override;
  std::uint64_t size() const override { return entry_.size; }
  /// Reading before the last byte read starts over.
  void read(std::uint64_t offset, std::span<std::byte> to) override;
  /// Reads the rest. Throws FormatError if the content is not what was stored.
  void check();

 private:
  void restart();
  void skip(std::uint64_t bytes);
  void next(std::span<std::byte> to);

  ByteSource& file_;
  const Entry& entry_;
  std::unique_ptr<Inflater> inflater_;  // if it is deflated
  std::uint64_t at_ = 0;
  std::uint32_t crc_ = 0;  // of the bytes read so far
};

/// Writes an archive of stored entries. All records use 64-bit fields, so no size needs special treatment.
class Writer {
 public:
  explicit Writer(runtime::AtomicFileWriter& file) : file_(file) {}
  /// Begins an entry of `size` bytes, which are passed to write(). Throws Error for a name of more than 65535 bytes;
  /// all functions throw FormatError.
  void begin(const std::string& name, std::uint64_t size);
  void write(std::span<const std::byte> bytes);
  void end();
  /// Writes the directory.
  void finish();

 private:
  void put(const std::string& record);

  runtime::AtomicFileWriter& file_;
  std::vector<Entry> entries_;  // with their headers' offsets
  std::uint64_t at_ = 0;
};

}  // namespace sinter::inline v1::detail::zip
