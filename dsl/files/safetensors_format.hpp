// The safetensors format: eight bytes of length, a JSON header, then the elements of all tensors without gaps.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dsl/safetensors.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail::safetensors {

/// The reference library's limit.
inline constexpr std::uint64_t longest_header = 100'000'000;

/// The header's entry for one tensor.
struct TensorEntry {
  std::string name;
  DType dtype = DType::Float32;
  Shape shape{};
  std::uint64_t begin = 0, end = 0;  // its elements, in bytes from the end of the header
};

struct Header {
  std::vector<TensorEntry> entries;
  Metadata metadata;
  std::uint64_t data_offset = 0;  // start of the elements, in bytes from the file's start
};

/// Checks everything that can be checked without reading the elements: that tensors have the size of their shapes and
/// follow each other without gaps, and that the file ends after the last one. Throws FormatError, DTypeError.
Header read_header(ByteSource& source);

/// Parses the JSON; sets everything except data_offset and checks nothing. Throws FormatError, DTypeError.
Header parse_header(std::string_view json, const std::string& file);

/// The bytes before the elements: length and JSON, padded to eight bytes. Throws Error for a string that is not UTF-8,
/// FormatError if the header is too long.
std::string header_text(std::span<const TensorEntry> entries, const Metadata& metadata);

/// The format's name for a dtype; empty if it lacks the dtype.
std::string_view dtype_code(DType dtype) noexcept;
/// The order of dtypes in a file: tensors with a higher rank come first.
int dtype_rank(DType dtype) noexcept;
/// Throws DTypeError for a dtype that Sinter lacks or that does not exist.
DType dtype_of_code(std::string_view code, std::string_view tensor, const std::string& file);

}  // namespace sinter::inline v1::detail::safetensors
