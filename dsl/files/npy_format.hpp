// The .npy format over any source of bytes; load_npy and save_npy apply it to files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <sinter/runtime/tensor_impl.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail::npy {

/// The description of a file's array.
struct Header {
  DType dtype = DType::Float32;
  bool swapped = false;        // the elements have the opposite byte order to this machine's
  bool fortran_order = false;  // the first axis varies fastest
  Shape shape;
  std::uint64_t data_offset = 0;  // start of the elements, in bytes from the file's start
};

/// Checks everything that can be checked without reading the elements, including that the source holds all of them.
/// Throws FormatError, DTypeError.
Header read_header(ByteSource& source);

/// The array on `device`. Throws FormatError, DTypeError, OutOfMemory, DeviceError.
runtime::TensorRef read(ByteSource& source, Device device);

/// Magic, version, length, dictionary and padding of a format 1.0 file, as NumPy writes them.
std::string header_text(const Header& header);

/// The parts of a tensor's file.
struct Contents {
  std::string header;
  runtime::TensorRef elements;  // its memory follows, beginning with its first element
};
/// A tensor in Fortran order is stored that way; other non-contiguous views are copied. Throws DTypeError, OutOfMemory.
Contents contents_of(const runtime::TensorImpl& t);

/// Parses the dictionary, `text`, whose first byte is at `offset` of the file; sets all but data_offset.
/// Throws FormatError, DTypeError.
Header parse_dictionary(std::string_view text, std::uint64_t offset, const std::string& file);

}  // namespace sinter::inline v1::detail::npy
