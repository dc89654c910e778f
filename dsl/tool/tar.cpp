#include "tar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::tool {
namespace {

constexpr std::size_t block = 512;
using Header = std::array<char, block>;

struct Field {
  std::size_t at, length;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8}, size_field{124, 12},
    time_field{136, 12}, sum_field{148, 8}, kind_field{156, 1}, magic_field{257, 8};
constexpr std::string_view magic("ustar\00000", 8);
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of a file

void put(Header& h, Field f, std::string_view text) { std::ranges::copy(text, h.begin() + static_cast<long>(f.at)); }
void put_octal(Header& h, Field f, std::uint64_t number) { put(h, f, fmt::format("{:0{}o}", number, f.length - 1)); }
std::string_view get(const Header& h, Field f) {
  const std::string_view all(h.data() + f.at, f.length);
  return all.substr(0, all.find('\0'));
}
std::optional<std::uint64_t> get_octal(const Header& h, Field f) {
  std::uint64_t number = 0;
  bool any = false;
  for (const char c : get(h, f)) {
    if (c == ' ') continue;
    if (c < '0' || c > '7') return {};
    number = number * 8 + static_cast<std::uint64_t>(c - '0');
    any = true;
  }
  return any ? std::optional(number) : std::nullopt;
}

/// Of the header's bytes, where its own field counts as spaces.
std::uint64_t sum_of(Header h) {
  std::fill_n(h.begin() + static_cast<long>(sum_field.at), sum_field.length, ' ');
  return std::accumulate(h.begin(), h.end(), std::uint64_t{0},
                         [](std::uint64_t sum, char c) { return sum + static_cast<unsigned char>(c); });
}

std::size_t padding(std::uint64_t bytes) { return static_cast<std::size_t>((block - bytes % block) % block); }

[[noreturn]] void throw_cannot(std::string_view what, const std::string& path) {
  const int error = errno;
  throw Error(fmt::format("cannot {} {}: {}", what, runtime::quote(path), std::strerror(error)));
}

}  // namespace

TarWriter::TarWriter(std::string path)
    : path_(std::move(path)),
      temporary_(fmt::format("{}.{:x}.tmp", path_, ::getpid())),
      out_(temporary_, std::ios::binary | std::ios::trunc) {
  if (!out_) throw_cannot("write", path_);
}

TarWriter::~TarWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void TarWriter::add(std::string_view name, std::string_view bytes) {
  Header h{};
  put(h, name_field, name);
  for (const Field f : {mode_field, owner_field, group_field}) put_octal(h, f, f.at == mode_field.at ? 0600 : 0);
  put_octal(h, size_field, bytes.size());
  put_octal(h, time_field, 0);  // the same kernels give the same file
  put(h, kind_field, "0");
  put(h, magic_field, magic);
  put(h, sum_field, fmt::format("{:06o}", sum_of(h)));
  h[sum_field.at + 6] = '\0', h[sum_field.at + 7] = ' ';
  out_.write(h.data(), block);
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const Header zeros{};
  out_.write(zeros.data(), static_cast<std::streamsize>(padding(bytes.size())));
}

void TarWriter::finish() {
  const Header zeros{};
  for (int i = 0; i < 2; ++i) out_.write(zeros.data(), block);
  out_.close();
  if (!out_) throw_cannot("write", path_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_cannot("write", path_);
  temporary_.clear();
}

TarReader::TarReader(const std::string& path) : path_(path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw Error(fmt::format("cannot read {}: it is no ordinary file", runtime::quote(path)));
  in_.open(path, std::ios::binary);
  left_ = in_ ? std::filesystem::file_size(path, error) : 0;
  if (!in_ || error) throw_cannot("read", path);
}

void TarReader::refuse(std::string_view why) const {
  throw FormatError(fmt::format("{} is no file of packed kernels: {}", runtime::quote(path_), why));
}

std::optional<TarFile> TarReader::next() {
  for (;;) {
    Header h{};
    if (left_ < block || !in_.read(h.data(), block)) refuse("it ends before a tar file does");
    left_ -= block;
    if (std::ranges::all_of(h, [](char c) { return c == '\0'; })) return {};
    const auto size = get_octal(h, size_field), sum = get_octal(h, sum_field);
    if (get(h, magic_field).substr(0, 5) != "ustar" || !sum || *sum != sum_of(h)) refuse("it is no tar file");
    if (!size || *size > most_bytes) refuse("a file in it is too large");
    const std::uint64_t taken = *size + padding(*size);
    if (taken > left_) refuse("it ends in the middle of a file");
    TarFile file{std::string(get(h, name_field)), std::string(static_cast<std::size_t>(*size), '\0')};
    if (!in_.read(file.bytes.data(), static_cast<std::streamsize>(*size)) ||
        !in_.ignore(static_cast<std::streamsize>(taken - *size)))
      refuse("it ends in the middle of a file");
    left_ -= taken;
    const char kind = h[kind_field.at];
    if (kind == '0' || kind == '\0') return file;
  }
}

}  // namespace sinter::tool
