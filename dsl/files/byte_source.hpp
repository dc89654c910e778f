// Sources of a format's bytes: a file, a part of one, memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sinter::inline v1::detail {

/// Bytes per step when a GPU tensor is transferred from or to a file, or when packed data is inflated.
inline constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

/// Bytes with random access.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// For messages.
  virtual std::string name() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Fills `to` with the bytes at `offset`; the caller has checked that they are within size(). Throws FormatError.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

/// A number of up to eight bytes, lowest first.
inline std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace sinter::inline v1::detail
