#include <sinter/data/idx.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <limits>
#include <optional>

#include <sinter/runtime/error.hpp>
#include "../files/byte_order.hpp"
#include "../files/excerpt.hpp"
#include "../files/file.hpp"
#include "../files/inflate.hpp"
#include "idx_format.hpp"

namespace sinter::inline v1 {

namespace detail::idx {

namespace {

/// A file's content from start to end, decompressed if necessary.
class Content {
 public:
  explicit Content(ByteSource& file) : file_(file) {
    std::array<std::byte, 2> start{};
    if (file.size() >= start.size()) file.read(0, start);
    if (start == std::array{std::byte{0x1F}, std::byte{0x8B}})
      inflater_.emplace(file, 0, file.size(), Inflater::Wrapping::Gzip, file.name());
  }
  [[noreturn]] void fail(std::string_view what) const { throw FormatError(fmt::format("{}: {}", file_.name(), what)); }
  bool is_packed() const { return inflater_.has_value(); }
  /// The maximum number of bytes that can follow those already read.
  std::uint64_t max_left() const {
    std::uint64_t most = file_.size();
    if (inflater_ && __builtin_mul_overflow(most, max_inflated, &most))
      most = std::numeric_limits<std::uint64_t>::max();
    return most - std::min(most, at_);
  }
  /// Returns the number of bytes read.
  std::size_t read_some(std::span<std::byte> to) {
    const std::uint64_t there = std::min<std::uint64_t>(to.size(), max_left());
    const std::size_t done = inflater_ ? inflater_->read(to) : (file_.read(at_, to.first(there)), there);
    at_ += done;
    return done;
  }
  void read(std::span<std::byte> to, std::string_view what) {
    const std::uint64_t from = at_;
    if (const std::size_t done = read_some(to); done < to.size())
      fail(fmt::format("truncated: {} takes {} bytes from byte {}, but the content ends at byte {}", what, to.size(),
                       from, from + done));
  }
  void check_end() {
    std::byte more[1];
    if (inflater_ ? inflater_->read(more) > 0 : at_ < file_.size())
      fail(fmt::format("there are bytes after the array, which ends at byte {}", at_));
  }

 private:
  ByteSource& file_;
  std::optional<Inflater> inflater_;
  std::uint64_t at_ = 0;
};

DType dtype_of_code(std::byte code, const Content& content) {
  switch (std::to_integer<int>(code)) {
    case 0x08: return DType::UInt8;
    case 0x09: return DType::Int8;
    case 0x0B: return DType::Int16;
    case 0x0C: return DType::Int32;
    case 0x0D: return DType::Float32;
    case 0x0E: return DType::Float64;
    default: break;
  }
  content.fail(
      fmt::format("unknown element type 0x{:02x} at byte 2; IDX files have 0x08 (uint8), 0x09 (int8), 0x0b "
                  "(int16), 0x0c (int32), 0x0d (float32) and 0x0e (float64)",
                  std::to_integer<int>(code)));
}

Shape read_shape(Content& content, int ndim) {
  if (ndim > max_ndim) content.fail(fmt::format("{} axes at byte 3; a tensor has up to {}", ndim, max_ndim));
  Shape shape;
  for (int axis = 0; axis < ndim; ++axis) {
    std::array<std::byte, 4> extent;
    content.read(extent, fmt::format("the extent of axis {}", axis));
    std::ranges::reverse(extent);
    shape.push_back(static_cast<std::int64_t>(little_endian(extent)));
  }
  return shape;
}

/// Throws if the file cannot hold the elements; an extent of 0 must not hide that the product of the others overflows.
void check_room(const Content& content, const Shape& shape, DType dtype) {
  std::int64_t most = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : shape)
    if (extent > 0 && __builtin_mul_overflow(most, extent, &most))
      content.fail(
          fmt::format("the header's shape {} is too large: a tensor has less than 2^60 elements", to_string(shape)));
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.numel()) * size_of(dtype);
  if (bytes > content.max_left())
    content.fail(fmt::format("truncated: shape {} of {} takes {} bytes, but {} {} after the header", to_string(shape),
                             name(dtype), bytes, content.max_left(),
                             content.is_packed() ? "is the most that can be unpacked" : "follow"));
}

/// The first four bytes. Throws if they are not those of an IDX file.
std::array<std::byte, 4> read_magic(Content& content) {
  std::array<std::byte, 4> magic{};
  const std::size_t there = content.read_some(magic);
  const bool zeros = std::ranges::all_of(std::span(magic).first(std::min<std::size_t>(there, 2)),
                                         [](std::byte b) { return b == std::byte{0}; });
  if (zeros && there == magic.size()) return magic;
  std::string start, text;
  for (const std::byte b : std::span(magic).first(there)) {
    start += fmt::format("{:02x}", std::to_integer<int>(b));
    text += static_cast<char>(b);
  }
  start = there == 0 ? "is empty" : fmt::format("begins with 0x{} ('{}')", start, excerpt(text));
  if (zeros && there > 0) start += " and ends there";
  content.fail(
      fmt::format("not an IDX file: it {}, but an IDX file begins with four bytes: two zeros, the element type (0x08 "
                  "is uint8) and the number of axes",
                  start));
}

}  // namespace

runtime::TensorRef read(ByteSource& file) {
  Content content(file);
  const std::array<std::byte, 4> magic = read_magic(content);
  const DType dtype = dtype_of_code(magic[2], content);
  const Shape shape = read_shape(content, std::to_integer<int>(magic[3]));
  check_room(content, shape, dtype);
  runtime::TensorRef t = runtime::empty(shape, dtype, Device());
  const std::span<std::byte> bytes(t->data, static_cast<std::size_t>(t->numel) * size_of(dtype));
  content.read(bytes, "the array");
  content.check_end();
  if constexpr (std::endian::native == std::endian::little) reverse_bytes(bytes, size_of(dtype));
  return t;
}

}  // namespace detail::idx

namespace {

namespace fs = std::filesystem;

/// The file of that name, or its gzipped form. Throws FormatError unless it is an array of uint8 with `axes` axes.
Tensor<std::uint8_t, Cpu> read_bytes(const fs::path& folder, const std::string& file, int axes) {
  const fs::path plain = folder / file, packed = folder / (file + ".gz");
  std::error_code ignored;
  const bool is_plain = fs::exists(plain, ignored);
  if (!is_plain && !fs::exists(packed, ignored))
    throw FormatError(fmt::format("mnist: there is neither '{}' nor '{}'", plain.string(), packed.string()));
  const fs::path& path = is_plain ? plain : packed;
  const AnyTensor array = load_idx(path);
  if (array.dtype() != DType::UInt8 || array.dim() != axes)
    throw FormatError(fmt::format("mnist: '{}' holds {} {}, not uint8 of {} {}", path.string(), name(array.dtype()),
                                  to_string(array.shape()), axes, axes == 1 ? "axis" : "axes"));
  return Tensor<std::uint8_t, Cpu>(array);
}

}  // namespace

AnyTensor load_idx(const detail::FileName& name, Device device) {
  detail::FileSource file(name.text);
  return AnyTensor(detail::idx::read(file)).to(device);
}

ImageDataset mnist(const detail::FileName& folder, bool train) {
  const std::string part = train ? "train" : "t10k";
  const Tensor images = read_bytes(folder.text, part + "-images-idx3-ubyte", 3);
  const Tensor labels = read_bytes(folder.text, part + "-labels-idx1-ubyte", 1);
  return ImageDataset(images, labels.to<std::int64_t>());
}

}  // namespace sinter::inline v1
