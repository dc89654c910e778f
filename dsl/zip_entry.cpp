#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include <sinter/runtime/error.hpp>
#include "excerpt.hpp"
#include "zip.hpp"

namespace sinter::inline v1::detail::zip {

namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

[[noreturn]] void fail(const ByteSource& entry, std::string_view what) {
  throw FormatError(fmt::format("{}: {}", entry.name(), what));
}

std::uint32_t crc_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

/// What a deflated entry holds, from its start to its end.
class EntrySource::Inflater {
 public:
  explicit Inflater(const EntrySource& entry) : entry_(entry) {
    constexpr int raw = -15;  // without zlib's own header
    if (::inflateInit2(&stream_, raw) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void read(std::span<std::byte> to) {
    while (!to.empty()) {
      const std::size_t made = step(to.first(std::min<std::size_t>(to.size(), 1 << 30)));
      if (made == 0 && ended_) fail(entry_, "it unpacks to less than the directory says");
      to = to.subspan(made);
    }
  }
  void check_end() {
    std::byte more[1];
    while (!ended_)
      if (step(more) > 0) fail(entry_, "it unpacks to more than the directory says");
  }

 private:
  /// Makes some of the bytes, or none, where input is missing yet or it ended.
  std::size_t step(std::span<std::byte> to) {
    if (ended_) return 0;
    const bool fed = feed();
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_BUF_ERROR && !fed) fail(entry_, "its compressed bytes are truncated");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail(entry_, fmt::format("its compressed bytes are malformed: {}", stream_.msg ? stream_.msg : "not deflate"));
    ended_ = status == Z_STREAM_END;
    return to.size() - stream_.avail_out;
  }
  /// Whether there is input.
  bool feed() {
    if (stream_.avail_in > 0) return true;
    const std::size_t bytes = std::min<std::uint64_t>(buffer_.size(), entry_.entry_.packed - taken_);
    entry_.file_.read(entry_.entry_.offset + taken_, std::span(buffer_).first(bytes));
    taken_ += bytes;
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(bytes);
    return bytes > 0;
  }

  const EntrySource& entry_;
  z_stream stream_{};
  std::uint64_t taken_ = 0;
  bool ended_ = false;
  std::array<std::byte, buffer_bytes> buffer_;
};

EntrySource::EntrySource(ByteSource& file, const Entry& entry) : file_(file), entry_(entry) { restart(); }
EntrySource::~EntrySource() = default;

std::string EntrySource::name() const { return fmt::format("{}, entry '{}'", file_.name(), excerpt(entry_.name)); }

void EntrySource::restart() {
  at_ = 0;
  crc_ = 0;
  if (entry_.deflated) inflater_ = std::make_unique<Inflater>(*this);
}

void EntrySource::next(std::span<std::byte> to) {
  if (inflater_)
    inflater_->read(to);
  else
    file_.read(entry_.offset + at_, to);
  at_ += to.size();
  crc_ = crc_of(crc_, to);
}

void EntrySource::skip(std::uint64_t bytes) {
  std::vector<std::byte> scratch(std::min<std::uint64_t>(bytes, buffer_bytes));
  while (bytes > 0) {
    const std::size_t some = std::min<std::uint64_t>(bytes, scratch.size());
    next(std::span(scratch).first(some));
    bytes -= some;
  }
}

void EntrySource::read(std::uint64_t offset, std::span<std::byte> to) {
  if (offset < at_) restart();
  skip(offset - at_);
  next(to);
}

void EntrySource::check() {
  skip(entry_.size - at_);
  if (inflater_) inflater_->check_end();
  if (crc_ != entry_.crc)
    fail(*this, fmt::format("its content is damaged: it has the checksum {:08x}, not {:08x}", crc_, entry_.crc));
}

}  // namespace sinter::inline v1::detail::zip
