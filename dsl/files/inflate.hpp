// What zlib unpacks, from its start to its end.
#pragma once
#include <zlib.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "byte_source.hpp"

namespace sinter::inline v1::detail {

/// As many bytes one packed byte can stand for: a pair of a length and a distance is two bits at least, and stands for
/// 258 bytes at most.
inline constexpr std::uint64_t most_inflated = 258 * 8 / 2;

class Inflater {
 public:
  /// Deflate alone, as in zip archives, or .gz files of it, of which several may follow each other.
  enum class Wrapping : std::uint8_t { None, Gzip };

  /// The `packed` bytes at `offset` of the file, which must live as long; `name` is for messages.
  Inflater(ByteSource& file, std::uint64_t offset, std::uint64_t packed, Wrapping wrapping, std::string name);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `to`, as far as there are bytes; how many there were. Throws FormatError.
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
