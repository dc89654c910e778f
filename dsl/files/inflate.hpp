// Sequential decompression by zlib.
#pragma once
#include <zlib.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "byte_source.hpp"

namespace sinter::inline v1::detail {

/// The most bytes that one compressed byte can expand to: a pair of length and distance takes at least two bits and
/// expands to at most 258 bytes.
inline constexpr std::uint64_t max_inflated = 258 * 8 / 2;

class Inflater {
 public:
  /// Raw deflate, as in zip archives, or a sequence of .gz members.
  enum class Wrapping : std::uint8_t { None, Gzip };

  /// The `packed` bytes at `offset` of the file, which must outlive this object; `name` is for messages.
  Inflater(ByteSource& file, std::uint64_t offset, std::uint64_t packed, Wrapping wrapping, std::string name);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `to` as far as there are bytes, and returns their number. Throws FormatError.
  std::size_t read(std::span<std::byte> to);

 private:
  std::size_t step(std::span<std::byte> to);
  bool feed();

  ByteSource& file_;
  const std::uint64_t offset_, packed_;
  const Wrapping wrapping_;
  const std::string name_;
  z_stream stream_{};
  std::uint64_t taken_ = 0;
  bool ended_ = false;
  std::array<std::byte, 1 << 16> buffer_;
};

}  // namespace sinter::inline v1::detail
