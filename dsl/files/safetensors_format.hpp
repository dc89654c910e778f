// The safetensors format: eight bytes of length, a header in JSON, then the elements of all tensors without a gap.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dsl/safetensors.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail::safetensors {

/// As the reference library has it.
inline constexpr std::uint64_t longest_header = 100'000'000;

/// What the header says of one tensor.
struct Part {
  std::string name;
  DType dtype = DType::Float32;
  Shape shape{};
  std::uint64_t begin = 0, end = 0;  // its elements, in bytes from the header's end
};

struct Header {
  std::vector<Part> parts;
  Metadata metadata;
  std::uint64_t data_offset = 0;  // where the elements begin, in bytes from the file's start
};

/// Checks all that can be known without the elements: that the tensors are as large as their shapes, lie one behind the
/// other, and that the file ends behind the last one. Throws FormatError, DtypeError.
Header read_header(ByteSource& source);

/// Parses the JSON; sets all but data_offset and compares nothing. Throws FormatError, DtypeError.
Header parse_header(std::string_view json, const std::string& file);

/// What stands before the elements: length and JSON, padded to eight bytes. Throws Error for a text that is not UTF-8,
/// FormatError where the header gets too long.
std::string header_text(std::span<const Part> parts, const Metadata& metadata);

/// What the format calls a dtype; empty where it lacks it.
std::string_view dtype_code(DType dtype) noexcept;
/// Where a dtype's tensors stand in a file: those with the higher rank before the others.
int dtype_rank(DType dtype) noexcept;
/// Throws DtypeError for what Sinter lacks, or nobody has.
DType dtype_of_code(std::string_view code, std::string_view tensor, const std::string& file);

}  // namespace sinter::inline v1::detail::safetensors
