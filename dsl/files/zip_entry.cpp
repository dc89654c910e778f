#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include <sinter/runtime/error.hpp>
#include "excerpt.hpp"
#include "inflate.hpp"
#include "zip.hpp"

namespace sinter::inline v1::detail::zip {

namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

[[noreturn]] void throw_damaged(const ByteSource& entry, std::string_view what) {
  throw FormatError(fmt::format("{}: {}", entry.name(), what));
}

std::uint32_t crc_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

EntrySource::EntrySource(ByteSource& file, const Entry& entry) : file_(file), entry_(entry) { restart(); }
EntrySource::~EntrySource() = default;

std::string EntrySource::name() const { return fmt::format("{}, entry '{}'", file_.name(), excerpt(entry_.name)); }

void EntrySource::restart() {
  at_ = 0;
  crc_ = 0;
  if (entry_.deflated)
    inflater_ = std::make_unique<Inflater>(file_, entry_.offset, entry_.packed, Inflater::Wrapping::None, name());
}

void EntrySource::next(std::span<std::byte> to) {
  if (inflater_ && inflater_->read(to) < to.size()) throw_damaged(*this, "it unpacks to less than the directory says");
  if (!inflater_) file_.read(entry_.offset + at_, to);
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
  std::byte more[1];
  if (inflater_ && inflater_->read(more) > 0) throw_damaged(*this, "it unpacks to more than the directory says");
  if (crc_ != entry_.crc)
    throw_damaged(*this,
                  fmt::format("its content is damaged: it has the checksum {:08x}, not {:08x}", crc_, entry_.crc));
}

}  // namespace sinter::inline v1::detail::zip
