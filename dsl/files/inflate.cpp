#include "inflate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

namespace {

constexpr int window_bits(Inflater::Wrapping wrapping) {
  return wrapping == Inflater::Wrapping::Gzip ? 16 + 15 : -15;  // as documented for inflateInit2
}

}  // namespace

Inflater::Inflater(ByteSource& file, std::uint64_t offset, std::uint64_t packed, Wrapping wrapping, std::string name)
    : file_(file), offset_(offset), packed_(packed), wrapping_(wrapping), name_(std::move(name)) {
  if (::inflateInit2(&stream_, window_bits(wrapping)) != Z_OK) throw std::bad_alloc();
}
Inflater::~Inflater() { ::inflateEnd(&stream_); }

std::size_t Inflater::read(std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size() && !ended_) done += step(to.subspan(done, std::min<std::size_t>(to.size() - done, 1 << 30)));
  return done;
}

/// Produces some bytes, or none if it needs input or the data has ended.
std::size_t Inflater::step(std::span<std::byte> to) {
  const auto fail = [&](std::string_view what) { throw FormatError(fmt::format("{}: {}", name_, what)); };
  const bool fed = feed();
  stream_.next_out = reinterpret_cast<Bytef*>(to.data());
  stream_.avail_out = static_cast<uInt>(to.size());
  const int status = ::inflate(&stream_, Z_NO_FLUSH);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status == Z_BUF_ERROR && !fed) fail("its compressed bytes are truncated");
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
    fail(fmt::format("its compressed bytes are malformed: {}", stream_.msg ? stream_.msg : "not deflate"));
  if (status == Z_STREAM_END) {
    ended_ = wrapping_ == Wrapping::None || !feed();
    if (!ended_) ::inflateReset(&stream_);
  }
  return to.size() - stream_.avail_out;
}

/// Returns whether there is input.
bool Inflater::feed() {
  if (stream_.avail_in > 0) return true;
  const std::size_t bytes = std::min<std::uint64_t>(buffer_.size(), packed_ - taken_);
  file_.read(offset_ + taken_, std::span(buffer_).first(bytes));
  taken_ += bytes;
  stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_in = static_cast<uInt>(bytes);
  return bytes > 0;
}

}  // namespace sinter::inline v1::detail
