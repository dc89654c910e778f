// Zip archives, of arrays (.npz) and of packed kernels: entries stored or deflated, of any size.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <runtime/replacement.hpp>
#include "byte_source.hpp"
#include "file.hpp"

namespace sinter::inline v1::detail {
class Inflater;
}
namespace sinter::inline v1::detail::zip {

/// In a field of 16 or 32 bits: the number is in a field of 64 bits instead.
inline constexpr std::uint64_t unset16 = 0xFFFF, unset32 = 0xFFFFFFFF;

/// What the directory says of one entry.
struct Entry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;     // of the content
  std::uint64_t size = 0;    // of the content
  std::uint64_t packed = 0;  // as it lies in the file
  std::uint64_t offset = 0;  // where it lies
};

/// The entries, in the order of the directory. Checks that they lie in the file, apart from each other, and that none
/// is said to unpack to more than deflate can: what they take is justified by the file's size. Throws FormatError.
std::vector<Entry> read_directory(ByteSource& file);

/// The content of an entry, meant to be read from its start to its end.
class EntrySource final : public ByteSource {
 public:
  /// Both must live as long.
  EntrySource(ByteSource& file, const Entry& entry);
  ~EntrySource() override;
  std::string name() const override;
  std::uint64_t size() const override { return entry_.size; }
  /// Reading what is before the last byte that was read begins anew.
  void read(std::uint64_t offset, std::span<std::byte> to) override;
  /// Reads what is left. Throws FormatError where the content is not what was stored.
  void check();

 private:
  void restart();
  void skip(std::uint64_t bytes);
  void next(std::span<std::byte> to);

  ByteSource& file_;
  const Entry& entry_;
  std::unique_ptr<Inflater> inflater_;  // where it is deflated
  std::uint64_t at_ = 0;
  std::uint32_t crc_ = 0;  // of what was read so far
};

/// Writes an archive of stored entries. Each record has fields of 64 bits, so that no size is a special one.
class Writer {
 public:
  explicit Writer(runtime::Replacement& file) : file_(file) {}
  /// Begins an entry of `size` bytes, to be handed to write(). Throws Error for a name past 65535 bytes; all throw
  /// FormatError.
  void begin(const std::string& name, std::uint64_t size);
  void write(std::span<const std::byte> bytes);
  void end();
  /// Writes the directory.
  void finish();

 private:
  void put(const std::string& record);

  runtime::Replacement& file_;
  std::vector<Entry> entries_;  // with the offsets of their headers
  std::uint64_t at_ = 0;
};

}  // namespace sinter::inline v1::detail::zip
