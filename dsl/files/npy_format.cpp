#include "npy_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include <runtime/bools.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/transfer.hpp>
#include "byte_order.hpp"

namespace sinter::inline v1::detail::npy {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::string_view reads = "Sinter reads the .npy formats 1.0, 2.0 and 3.0";
/// Far more than the header of any array of numbers needs, and still small.
constexpr std::uint64_t longest_header = 1 << 20;

/// `count` bytes at `offset`, which hold `what`. Throws FormatError if the source ends before.
std::vector<std::byte> read_part(ByteSource& source, std::uint64_t offset, std::uint64_t count, std::string_view what) {
  if (offset + count > source.size())
    throw FormatError(fmt::format("{}: truncated: {} takes {} bytes from byte {}, but the file ends at byte {}. {}",
                                  source.name(), what, count, offset, source.size(), reads));
  std::vector<std::byte> bytes(count);
  source.read(offset, bytes);
  return bytes;
}

/// Number of bytes of the elements. Throws FormatError beyond the maximum size of a tensor; an extent of 0 does not
/// excuse the others.
std::uint64_t payload_bytes(const Header& header, const std::string& file) {
  std::int64_t most = sizeof(std::complex<double>);
  for (std::int64_t extent : header.shape)
    if (extent > 0 && __builtin_mul_overflow(most, extent, &most))
      throw FormatError(fmt::format("{}: the header's shape {} is too large: a tensor has less than 2^60 elements",
                                    file, to_string(header.shape)));
  return static_cast<std::uint64_t>(header.shape.numel()) * size_of(header.dtype);
}

/// Converts from the file's representation to the machine's.
void convert(std::span<std::byte> bytes, const Header& header) {
  const std::size_t number_bytes = size_of(real_of(header.dtype));  // each part of a complex number is a number
  if (header.dtype == DType::Bool)
    runtime::make_bools(bytes);
  else if (header.swapped)
    reverse_bytes(bytes, number_bytes);
}

void read_elements(ByteSource& source, const Header& header, runtime::TensorImpl& to) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(to.numel) * size_of(to.dtype);
  if (to.device.is_cpu()) {
    const std::span<std::byte> all(to.data, bytes);
    source.read(header.data_offset, all);
    return convert(all, header);
  }
  std::vector<std::byte> chunk(std::min<std::uint64_t>(bytes, chunk_bytes));
  for (std::uint64_t done = 0; done < bytes; done += chunk.size()) {
    const std::span<std::byte> part(chunk.data(), std::min<std::uint64_t>(chunk.size(), bytes - done));
    source.read(header.data_offset + done, part);
    convert(part, header);
    runtime::upload({to.buffer.get(), to.data + done}, part.data(), part.size());
  }
}

Shape reversed(const Shape& shape) {
  Shape r;
  for (int axis = shape.ndim(); axis-- > 0;) r.push_back(shape[axis]);
  return r;
}

}  // namespace

Header read_header(ByteSource& source) {
  const std::string file = source.name();
  if (source.size() == 0) throw FormatError(fmt::format("{}: the file is empty. {}", file, reads));
  const std::vector<std::byte> begin = read_part(source, 0, std::min<std::uint64_t>(source.size(), 8), "the start");
  for (std::size_t i = 0; i < std::min(begin.size(), magic.size()); ++i)
    if (begin[i] != static_cast<std::byte>(magic[i]))
      throw FormatError(
          fmt::format("{}: not a .npy file: byte {} is 0x{:02x}, but a .npy file begins with \\x93NUMPY. {}", file, i,
                      std::to_integer<int>(begin[i]), reads));
  read_part(source, 0, 8, "the magic number with the version");
  const int major = std::to_integer<int>(begin[6]), minor = std::to_integer<int>(begin[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw FormatError(fmt::format("{}: unknown .npy format {}.{} (at byte 6). {}", file, major, minor, reads));
  const std::uint64_t length_bytes = major == 1 ? 2 : 4, text_offset = 8 + length_bytes;
  const std::uint64_t length = little_endian(read_part(source, 8, length_bytes, "the header's length"));
  if (length > longest_header)
    throw FormatError(
        fmt::format("{}: a header of {} bytes is announced at byte 8; Sinter reads headers of up to {} bytes", file,
                    length, longest_header));
  const std::vector<std::byte> text = read_part(source, text_offset, length, "the header");
  Header header = parse_dictionary({reinterpret_cast<const char*>(text.data()), text.size()}, text_offset, file);
  header.data_offset = text_offset + length;
  const std::uint64_t bytes = payload_bytes(header, file);
  if (bytes > source.size() - header.data_offset)
    throw FormatError(
        fmt::format("{}: truncated: shape {} of {} takes {} bytes from byte {}, but the file ends at byte {}", file,
                    to_string(header.shape), name(header.dtype), bytes, header.data_offset, source.size()));
  return header;
}

runtime::TensorRef read(ByteSource& source, Device device) {
  if (device.is_mesh()) {
    const runtime::TensorRef here = read(source, Device());
    return jit::to(*here, here->dtype, device);
  }
  const Header header = read_header(source);
  // Fortran order is row-major order of the reversed shape: a view reverses it.
  const Shape stored = header.fortran_order ? reversed(header.shape) : header.shape;
  runtime::TensorRef t = runtime::empty(stored, header.dtype, device);
  if (t->numel > 0) read_elements(source, header, *t);
  return header.fortran_order ? runtime::view(*t, header.shape, reversed(t->strides)) : t;
}

}  // namespace sinter::inline v1::detail::npy
