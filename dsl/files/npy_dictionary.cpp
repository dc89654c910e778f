// The header's text: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>

#include <sinter/runtime/error.hpp>
#include "excerpt.hpp"
#include "npy_format.hpp"

namespace sinter::inline v1::detail::npy {

namespace {

constexpr std::string_view supported =
    "Sinter reads bool ('|b1'), uint8 to uint64 ('|u1' to '<u8'), int8 to int64 ('|i1' to '<i8'), float16 to float64 "
    "('<f2' to '<f8'), "
    "complex64 and complex128 ('<c8', '<c16'), big-endian too";

constexpr struct {
  std::string_view code;
  DType dtype;
} codes[] = {{"b1", DType::Bool},      {"u1", DType::UInt8},      {"u2", DType::UInt16},  {"u4", DType::UInt32},
             {"u8", DType::UInt64},    {"i1", DType::Int8},       {"i2", DType::Int16},   {"i4", DType::Int32},
             {"i8", DType::Int64},     {"f2", DType::Float16},    {"f4", DType::Float32}, {"f8", DType::Float64},
             {"c8", DType::Complex64}, {"c16", DType::Complex128}};

/// NumPy's name of an element type that Sinter lacks, for messages; empty for an unknown code.
std::string foreign_name(std::string_view code) {
  static constexpr struct {
    char kind;
    std::string_view name;
    bool sized;  // the number after the letter is a size in bytes
  } kinds[] = {{'i', "int", true},     {'u', "uint", true},        {'f', "float", true},       {'c', "complex", true},
               {'O', "object", false}, {'S', "bytes", false},      {'a', "bytes", false},      {'U', "str", false},
               {'V', "void", false},   {'M', "datetime64", false}, {'m', "timedelta64", false}};
  for (const auto& kind : kinds) {
    if (code.empty() || code[0] != kind.kind) continue;
    int bytes = 0;
    const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), bytes);
    if (!kind.sized) return std::string(kind.name);
    if (error == std::errc() && end == code.data() + code.size() && bytes > 0 && bytes <= 32)
      return fmt::format("{}{}", kind.name, bytes * 8);
  }
  return {};
}

/// NumPy's name of the dtype that holds most such elements.
std::string_view nearest(std::string_view foreign) noexcept {
  if (foreign.starts_with("complex")) return "complex128";
  return foreign.starts_with("uint") || foreign.starts_with("int") ? "int64" : "float64";
}

/// A strict parser of the one literal that the format allows. It does not recurse, so no nesting can be too deep.
class Parser {
 public:
  Parser(std::string_view text, std::uint64_t offset, const std::string& file)
      : text_(text), offset_(offset), file_(file) {}

  Header dictionary() {
    expect('{', "a dictionary");
    while (!accept('}')) {
      entry();
      if (accept('}')) break;
      expect(',', "',' or '}' after a value");
    }
    skip_space();
    if (at_ != text_.size()) fail("nothing but spaces after the dictionary");
    if (!dtype_) missing("descr");
    if (!fortran_order_) missing("fortran_order");
    if (!shape_) missing("shape");
    Header header;
    header.dtype = *dtype_;
    header.swapped = swapped_;
    header.fortran_order = *fortran_order_;
    header.shape = *shape_;
    return header;
  }

 private:
  void entry() {
    const std::size_t start = (skip_space(), at_);
    const std::string_view key = string();
    expect(':', "':' after a key");
    if (key == "descr" && !dtype_)
      descr();
    else if (key == "fortran_order" && !fortran_order_)
      fortran_order_ = boolean();
    else if (key == "shape" && !shape_)
      shape_ = shape();
    else
      at_ = start, fail("each of the keys 'descr', 'fortran_order' and 'shape' once");
  }

  void descr() {
    skip_space();
    const std::size_t start = at_;
    if (peek() == '[' || peek() == '(') unsupported(text_.substr(start), "a structured type", start);
    const std::string_view descr = string();
    std::string_view code = descr;
    char order = '=';
    if (!code.empty() && std::string_view("<>=|").find(code[0]) != std::string_view::npos) {
      order = code[0];
      code.remove_prefix(1);
    }
    for (const auto& [known, dtype] : codes)
      if (code == known) dtype_ = dtype;
    if (!dtype_) unsupported(descr, foreign_name(code), start);
    constexpr bool little = std::endian::native == std::endian::little;
    swapped_ = size_of(*dtype_) > 1 && (order == '<' ? !little : order == '>' ? little : false);
  }

  Shape shape() {
    Shape shape;
    expect('(', "a tuple");
    // As in Python, (3) is a number: a tuple of one needs its comma.
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("',' or ')' after an extent");
      const std::size_t start = (skip_space(), at_);
      const std::int64_t extent = integer();
      if (shape.ndim() == max_ndim) at_ = start, fail(fmt::format("at most {} dimensions", max_ndim));
      shape.push_back(extent);
      comma = accept(',');
    }
    if (shape.ndim() == 1 && !comma) fail("',' after the only extent");
    return shape;
  }

  std::int64_t integer() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + at_, value);
    if (error != std::errc() || (at_ - start > 1 && text_[start] == '0'))
      at_ = start, fail("an extent: an integer from 0 to 2^63 - 1");
    if (peek() == 'L') ++at_;  // how Python 2 wrote long integers
    return value;
  }

  bool boolean() {
    skip_space();
    for (bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::string_view string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted string");
    const std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' || text_[at_] == '\n') fail("a string without escapes");
      ++at_;
    }
    if (at_ == text_.size()) fail("the string's closing quote");
    return text_.substr(start, at_++ - start);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c, std::string_view what) {
    if (!accept(c)) fail(what);
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    const std::string found =
        at_ < text_.size() ? fmt::format("'{}'", excerpt(text_.substr(at_, 20))) : "the header's end";
    throw FormatError(fmt::format("{}: the header of this .npy file is malformed at byte {}: expected {}, found {}",
                                  file_, offset_ + at_, wanted, found));
  }
  [[noreturn]] void missing(std::string_view key) const {
    throw FormatError(fmt::format("{}: the header of this .npy file, {} bytes from byte {}, lacks the key '{}'", file_,
                                  text_.size(), offset_, key));
  }
  [[noreturn]] void unsupported(std::string_view descr, const std::string& name, std::size_t at) const {
    throw DTypeError(fmt::format(
        "{}: the elements are '{}'{} (at byte {} of the file), which Sinter does not support. {}. Convert it with "
        "NumPy: np.save(path, array.astype('{}'))",
        file_, excerpt(descr), name.empty() ? "" : fmt::format(", {}", name), offset_ + at, supported, nearest(name)));
  }

  std::string_view text_;
  std::uint64_t offset_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::optional<DType> dtype_;
  bool swapped_ = false;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

Header parse_dictionary(std::string_view text, std::uint64_t offset, const std::string& file) {
  return Parser(text, offset, file).dictionary();
}

std::string header_text(const Header& header) {
  std::string_view code;
  for (const auto& known : codes)
    if (known.dtype == header.dtype) code = known.code;
  if (code.empty())
    throw DTypeError(fmt::format(
        "the .npy format has no {0}: convert the tensor first, with .to<float>(), which holds all of its values",
        name(header.dtype)));
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': {}, }}", size_of(header.dtype) == 1 ? '|' : native,
                  code, header.fortran_order ? "True" : "False", to_string(header.shape));
  // NumPy leaves room for the axis that grows by appending to have 21 digits.
  if (const int ndim = header.shape.ndim(); ndim > 0)
    text.append(21 - std::to_string(header.shape[header.fortran_order ? ndim - 1 : 0]).size(), ' ');
  // The elements begin at a multiple of 64.
  constexpr std::size_t alignment = 64, prefix = 10;
  text.append(alignment - (prefix + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string magic("\x93NUMPY\x01\x00", 8);
  magic += static_cast<char>(text.size() & 0xFF);
  magic += static_cast<char>(text.size() >> 8);
  return magic + text;
}

}  // namespace sinter::inline v1::detail::npy
