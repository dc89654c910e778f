#include "safetensors_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <sinter/runtime/error.hpp>
#include "duplicate.hpp"
#include "excerpt.hpp"

namespace sinter::inline v1::detail::safetensors {

namespace {

/// In rank order.
constexpr struct {
  std::string_view code;
  DType dtype;
} codes[] = {{"BOOL", DType::Bool},  {"U8", DType::UInt8},    {"I8", DType::Int8},       {"I16", DType::Int16},
             {"U16", DType::UInt16}, {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"I32", DType::Int32},
             {"U32", DType::UInt32}, {"F32", DType::Float32}, {"C64", DType::Complex64}, {"F64", DType::Float64},
             {"I64", DType::Int64},  {"U64", DType::UInt64}};

/// A dtype to convert an unsupported element type to, for messages.
std::string_view nearest(std::string_view code) noexcept {
  return code.starts_with("C") ? "torch.complex64" : "torch.float16";
}

std::uint64_t bytes_of(const TensorEntry& part, const std::string& file) {
  std::int64_t all = static_cast<std::int64_t>(size_of(part.dtype));
  for (std::int64_t extent : part.shape)  // an extent of 0 must not hide that the product of the others overflows
    if (extent > 0 && __builtin_mul_overflow(all, extent, &all))
      throw FormatError(fmt::format("{}: tensor '{}' has shape {} of {}, which is too large: 2^63 bytes or more", file,
                                    excerpt(part.name), to_string(part.shape), name(part.dtype)));
  return static_cast<std::uint64_t>(part.shape.numel()) * size_of(part.dtype);
}

void check_size(const TensorEntry& part, const std::string& file) {
  const std::uint64_t bytes = bytes_of(part, file);
  if (part.begin > part.end || part.end - part.begin != bytes)
    throw FormatError(
        fmt::format("{}: tensor '{}' of shape {} and {} takes {} bytes, but its data_offsets are [{}, {}]", file,
                    excerpt(part.name), to_string(part.shape), name(part.dtype), bytes, part.begin, part.end));
}

/// Checks that each tensor begins where the previous one ends. Returns the end of the last one.
std::uint64_t check_order(const std::vector<TensorEntry>& entries, const std::string& file) {
  std::vector<const TensorEntry*> in_order;
  for (const TensorEntry& part : entries) in_order.push_back(&part);
  std::ranges::sort(in_order, {}, [](const TensorEntry* p) { return std::pair(p->begin, p->end); });
  std::uint64_t end = 0;
  const TensorEntry* before = nullptr;
  for (const TensorEntry* part : in_order) {
    if (part->begin != end)
      throw FormatError(fmt::format("{}: tensor '{}' begins at byte {} of the data, but {} at {}: {}", file,
                                    excerpt(part->name), part->begin,
                                    before ? fmt::format("tensor '{}' ends", excerpt(before->name)) : "the data begins",
                                    end, part->begin < end ? "they overlap" : "the bytes between belong to no tensor"));
    end = part->end;
    before = part;
  }
  return end;
}

void check_names(const Header& header, const std::string& file) {
  if (const std::string* name = first_duplicate(header.entries, &TensorEntry::name))
    throw FormatError(fmt::format("{}: there are two tensors '{}'", file, excerpt(*name)));
  if (const std::string* key = first_duplicate(header.metadata, &Metadata::value_type::first))
    throw FormatError(fmt::format("{}: the metadata has the key '{}' twice", file, excerpt(*key)));
}

}  // namespace

std::string_view dtype_code(DType dtype) noexcept {
  const auto* known = std::ranges::find(codes, dtype, [](const auto& c) { return c.dtype; });
  return known == std::end(codes) ? std::string_view() : known->code;
}

int dtype_rank(DType dtype) noexcept {
  return static_cast<int>(std::ranges::find(codes, dtype, [](const auto& c) { return c.dtype; }) - codes);
}

DType dtype_of_code(std::string_view code, std::string_view tensor, const std::string& file) {
  for (const auto& known : codes)
    if (known.code == code) return known.dtype;
  throw DTypeError(
      fmt::format("{}: tensor '{}' has the dtype '{}', which Sinter does not support. Sinter reads BOOL, U8, I8 to "
                  "I64, F16, BF16, F32, F64 and C64. Convert it with PyTorch: t.to({})",
                  file, excerpt(tensor), excerpt(code), nearest(code)));
}

Header read_header(ByteSource& source) {
  const std::string file = source.name();
  if (source.size() < 8)
    throw FormatError(
        fmt::format("{}: not a safetensors file: it has {} bytes, but a safetensors file begins with eight that hold "
                    "the header's length",
                    file, source.size()));
  std::byte prefix[8];
  source.read(0, prefix);
  const std::uint64_t length = little_endian(prefix);
  if (length > longest_header)
    throw FormatError(
        fmt::format("{}: not a safetensors file: it begins with a header's length of {} bytes; there are "
                    "{} at most",
                    file, length, longest_header));
  if (length > source.size() - 8)
    throw FormatError(fmt::format("{}: truncated: the header takes {} bytes from byte 8, but the file ends at byte {}",
                                  file, length, source.size()));
  std::string json(length, '\0');
  source.read(8, std::as_writable_bytes(std::span(json)));
  Header header = parse_header(json, file);
  header.data_offset = 8 + length;
  check_names(header, file);
  for (const TensorEntry& part : header.entries) check_size(part, file);
  const std::uint64_t end = check_order(header.entries, file), held = source.size() - header.data_offset;
  if (end != held)
    throw FormatError(fmt::format("{}: {}: its tensors take {} bytes from byte {}, but the file ends at byte {}", file,
                                  end > held ? "truncated" : "there are bytes after the last tensor", end,
                                  header.data_offset, source.size()));
  return header;
}

}  // namespace sinter::inline v1::detail::safetensors
