// The .npy format over any source of bytes; load_npy and save_npy put files under it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail::npy {

/// How much of a GPU's tensor is on its way from or to a file at a time.
inline constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

/// What a file says about its array.
struct Header {
  DType dtype = DType::Float32;
  bool swapped = false;        // the elements' bytes are in the other order than this machine's
  bool fortran_order = false;  // the first axis varies fastest
  Shape shape;
  std::uint64_t data_offset = 0;  // where the elements begin, in bytes from the file's start
};

/// Bytes that can be read anywhere.
class Source {
 public:
  virtual ~Source() = default;
  /// For messages.
  virtual std::string name() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Fills `to` with the bytes at `offset`; the caller has checked that they lie within size(). Throws FormatError.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

/// Checks everything that can be known without the elements: also that the source holds all of them.
/// Throws FormatError, DtypeError.
Header read_header(Source& source);

/// The array on `device`. Throws FormatError, DtypeError, OutOfMemory, DeviceError.
runtime::TensorRef read(Source& source, Device device);

/// Magic, version, length, dictionary and padding of a format 1.0 file, as NumPy writes them.
std::string header_text(const Header& header);

/// Parses the dictionary, `text`, whose first byte is at `offset` of the file; sets all but data_offset.
/// Throws FormatError, DtypeError.
Header parse_dictionary(std::string_view text, std::uint64_t offset, const std::string& file);

}  // namespace sinter::inline v1::detail::npy
