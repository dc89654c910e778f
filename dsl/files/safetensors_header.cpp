// The header's JSON: {"__metadata__": {"format": "pt"}, "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0,
// 24]}}
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "excerpt.hpp"
#include "safetensors_format.hpp"

namespace sinter::inline v1::detail::safetensors {

namespace {

using nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";

/// A SAX handler: takes the header's values as they are parsed and rejects unexpected ones at once. Unused values are
/// not stored, and no nesting can be too deep.
class Reader final : public nlohmann::json_sax<json> {
 public:
  explicit Reader(const std::string& file) : file_(file) {}
  Header header;

  bool start_object(std::size_t) override {
    if (at_ == At::Start) return enter(At::Names);
    if (at_ != At::Names) refuse("an object");
    if (name_ == metadata_key) {
      if (std::exchange(had_metadata_, true)) fail("the key '__metadata__' occurs twice");
      return enter(At::Metadata);
    }
    header.entries.push_back({.name = name_});
    had_dtype_ = had_shape_ = had_offsets_ = false;
    return enter(At::Tensor);
  }
  bool key(string_t& text) override {
    if (at_ == At::Names)
      name_ = std::move(text);
    else if (at_ == At::Metadata)
      header.metadata.emplace_back(std::move(text), "");
    else
      begin_field(text);
    return true;
  }
  bool end_object() override {
    if (at_ == At::Names) return enter(At::End);
    if (at_ == At::Tensor && !(had_dtype_ && had_shape_ && had_offsets_))
      fail(fmt::format("tensor '{}' lacks the key '{}'", excerpt(name_),
                       !had_dtype_   ? "dtype"
                       : !had_shape_ ? "shape"
                                     : "data_offsets"));
    return enter(At::Names);
  }
  bool start_array(std::size_t) override {
    if (at_ != At::Shape && at_ != At::Offsets) refuse("a list");
    if (std::exchange(inside_, true)) refuse("a list");
    return true;
  }
  bool end_array() override {
    if (at_ == At::Offsets && count_ != 2) refuse(fmt::format("a list of {}", count_));
    inside_ = false;
    return enter(At::Tensor);
  }
  bool string(string_t& text) override {
    if (at_ == At::Metadata) {
      header.metadata.back().second = std::move(text);
      return true;
    }
    if (at_ != At::Dtype) refuse("a string");
    header.entries.back().dtype = dtype_of_code(text, name_, file_);
    return enter(At::Tensor);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!inside_) refuse("a number");
    return at_ == At::Shape ? add_extent(value) : add_offset(value);
  }
  bool number_integer(number_integer_t value) override { refuse(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { refuse(excerpt(text)); }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  bool null() override { refuse("null"); }
  bool binary(binary_t&) override { refuse("bytes"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    std::string_view what = error.what();
    // After the library's own name for the error and the position.
    if (const std::size_t at = what.find(": "); at != std::string_view::npos) what.remove_prefix(at + 2);
    throw FormatError(fmt::format("{}: the header of this safetensors file is malformed at byte {}: {}", file_,
                                  8 + position - (position > 0), excerpt(what, 200)));
  }

 private:
  enum class At { Start, Names, Metadata, Tensor, Dtype, Shape, Offsets, End };

  bool enter(At at) {
    at_ = at;
    return true;
  }
  void begin_field(std::string_view field) {
    count_ = 0;
    bool again = false;
    if (field == "dtype")
      at_ = At::Dtype, again = std::exchange(had_dtype_, true);
    else if (field == "shape")
      at_ = At::Shape, again = std::exchange(had_shape_, true);
    else if (field == "data_offsets")
      at_ = At::Offsets, again = std::exchange(had_offsets_, true);
    else
      fail(fmt::format("tensor '{}' has the unknown key '{}'; the keys are 'dtype', 'shape' and 'data_offsets'",
                       excerpt(name_), excerpt(field)));
    if (again) fail(fmt::format("tensor '{}' has the key '{}' twice", excerpt(name_), field));
  }
  bool add_extent(std::uint64_t extent) {
    Shape& shape = header.entries.back().shape;
    if (shape.ndim() == max_ndim)
      fail(fmt::format("tensor '{}' has more than {} dimensions, the most that Sinter supports", excerpt(name_),
                       max_ndim));
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) refuse(std::to_string(extent));
    shape.push_back(static_cast<std::int64_t>(extent));
    return true;
  }
  bool add_offset(std::uint64_t offset) {
    if (count_ == 2) refuse("more of them");
    (count_++ ? header.entries.back().end : header.entries.back().begin) = offset;
    return true;
  }
  std::string expected() const {
    const std::string tensor = fmt::format(" of tensor '{}'", excerpt(name_));
    switch (at_) {
      case At::Names: return fmt::format("an object for '{}'", excerpt(name_));
      case At::Metadata: return fmt::format("a string for '{}' of __metadata__", excerpt(header.metadata.back().first));
      case At::Dtype: return "a string for 'dtype'" + tensor;
      case At::Shape: return "a list of integers from 0 to 2^63 - 1 for 'shape'" + tensor;
      case At::Offsets: return "a list of two integers for 'data_offsets'" + tensor;
      default: return "an object";
    }
  }
  [[noreturn]] void refuse(std::string_view found) const {
    fail(fmt::format("expected {}, found {}", expected(), found));
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw FormatError(fmt::format("{}: the header of this safetensors file is malformed: {}", file_, what));
  }

  const std::string& file_;
  At at_ = At::Start;
  std::string name_;
  bool had_metadata_ = false, had_dtype_ = false, had_shape_ = false, had_offsets_ = false;
  bool inside_ = false;  // a list
  int count_ = 0;        // number of its offsets
};

/// In double quotes, escaped as in JSON.
std::string json_text(const std::string& text) try { return json(text).dump(); } catch (const json::exception&) {
  throw Error(fmt::format("'{}' cannot be stored in a safetensors file: it is not UTF-8", excerpt(text)));
}

}  // namespace

Header parse_header(std::string_view text, const std::string& file) {
  const runtime::DefaultFloatEnvironment floats;  // the library also converts numbers that are not valid in a header
  Reader reader(file);
  json::sax_parse(text, &reader);
  return std::move(reader.header);
}

std::string header_text(std::span<const TensorEntry> entries, const Metadata& metadata) {
  std::string json = "{";
  const auto comma = [&](char before) -> std::string_view { return json.back() == before ? "" : ","; };
  if (!metadata.empty()) {
    json += fmt::format("\"{}\":{{", metadata_key);
    for (const auto& [key, value] : metadata)
      json += fmt::format("{}{}:{}", comma('{'), json_text(key), json_text(value));
    json += "}";
  }
  for (const TensorEntry& part : entries) {
    json += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", comma('{'),
                        json_text(part.name), dtype_code(part.dtype), fmt::join(part.shape, ","), part.begin, part.end);
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > longest_header)
    throw FormatError(
        fmt::format("the names and shapes of {} tensors take {} bytes of header; a safetensors file has "
                    "{} at most",
                    entries.size(), json.size(), longest_header));
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(json.size() >> 8 * i & 0xFF);
  return length + json;
}

}  // namespace sinter::inline v1::detail::safetensors
