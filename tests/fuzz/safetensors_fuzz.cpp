// Any bytes as a safetensors file: its header is read or refused with a Sinter error, and nothing else happens. What is
// read is written again and must come back as it was.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <dsl/files/safetensors_format.hpp>
#include <sinter/runtime/error.hpp>
#include "../dsl/npy_bytes.hpp"

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

detail::safetensors::Header read(std::string_view file) {
  testing::Bytes source(file);
  return detail::safetensors::read_header(source);
}

void read_and_write_again(std::string_view file) {
  const detail::safetensors::Header header = read(file);
  const std::uint64_t bytes = file.size() - header.data_offset;
  for (const auto& entry : header.entries) {
    check(entry.begin <= entry.end && entry.end <= bytes);
    check(static_cast<std::uint64_t>(entry.shape.numel()) * size_of(entry.dtype) == entry.end - entry.begin);
  }
  const std::string again =
      detail::safetensors::header_text(header.entries, header.metadata) + std::string(bytes, '\0');
  const detail::safetensors::Header back = read(again);
  check(back.metadata == header.metadata);
  check(std::ranges::equal(back.entries, header.entries, [](const auto& a, const auto& b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.begin == b.begin && a.end == b.end;
  }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_and_write_again({reinterpret_cast<const char*>(data), size});
  } catch (const FormatError&) {
  } catch (const DTypeError&) {
  }
  return 0;
}
