// NVIDIA's container of binaries for several architectures. Its layout is documented nowhere: it is what `fatbinary` of
// CUDA 13.0 writes of the same images, uncompressed. The launcher does not rely on it: it hands the driver the image
// that it wants, at the offset that is written into the source.
#include <fmt/format.h>

#include <charconv>
#include <tuple>

#include "library.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

constexpr std::size_t file_header = 16, binary_header = 64, ptx_header = 80;

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[at + i] = static_cast<char>(value >> 8 * i & 0xFF);
}

/// The numbers of ".version 9.0".
std::pair<std::uint16_t, std::uint16_t> ptx_version(std::string_view text) {
  constexpr std::string_view word = ".version ";
  std::uint16_t major = 0, minor = 0;
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return {};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + at + word.size(), end, major);
  if (read.ptr != end) std::from_chars(read.ptr + 1, end, minor);
  return {major, minor};
}

/// An image with its header. Text ends with a zero, and each begins at a multiple of 8.
std::string entry(const Target& target, std::string_view image) {
  const std::size_t header = target.is_ptx ? ptx_header : binary_header;
  std::string out(header, '\0');
  out.append(image);
  if (target.is_ptx) out += '\0';
  out.resize((out.size() + 7) / 8 * 8, '\0');
  std::uint16_t major = 1, minor = image.size() > 8 ? static_cast<unsigned char>(image[8]) : 0;  // of the ELF's ABI
  if (target.is_ptx) std::tie(major, minor) = ptx_version(image);
  put<std::uint16_t>(out, 0, target.is_ptx ? 1 : 2);
  put<std::uint16_t>(out, 2, 0x101);
  put(out, 4, static_cast<std::uint32_t>(header));
  put(out, 8, std::uint64_t{out.size() - header});
  put(out, 24, minor);
  put(out, 26, major);
  put(out, 28, static_cast<std::uint32_t>(target.architecture));
  put<std::uint64_t>(out, 40, 0x11);                                                        // of 64 bits, for Linux
  if (target.is_ptx) put<std::uint32_t>(out, 20, 0x40), put<std::uint32_t>(out, 64, 0x48);  // no options of ptxas
  return out;
}

}  // namespace

Fatbin make_fatbin(const Library& library) {
  Fatbin out{std::string(file_header, '\0'), {}};
  for (const Image& image : library.images) {
    std::vector<std::size_t>& offsets = out.offsets.emplace_back();
    for (std::size_t t = 0; t < library.targets.size(); ++t) {
      offsets.push_back(out.bytes.size() + (library.targets[t].is_ptx ? ptx_header : binary_header));
      out.bytes += entry(library.targets[t], image.compiled[t].binary);
    }
  }
  put<std::uint32_t>(out.bytes, 0, 0xBA55ED50);
  put<std::uint16_t>(out.bytes, 4, 1);
  put(out.bytes, 6, static_cast<std::uint16_t>(file_header));
  put(out.bytes, 8, std::uint64_t{out.bytes.size() - file_header});
  return out;
}

}  // namespace sinter::inline v1::jit::exporting
