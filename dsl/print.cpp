// A port of PyTorch's _tensor_str.py: gathers the shown elements, then formats each, then lays them out.
#include <sinter/dsl/array.hpp>
#include <sinter/dsl/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include <runtime/fork.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1 {

namespace {

/// The options without missing values.
struct Settings {
  int precision = 4;
  std::int64_t threshold = 1000;
  std::int64_t edgeitems = 3;
  std::int64_t linewidth = 80;
  std::optional<bool> sci_mode;
};

std::mutex settings_mutex;
constinit Settings current_settings;

Settings settings() {
  const runtime::ForkSafeLock lock(settings_mutex);
  return current_settings;
}

PrintOptions as_options(const Settings& s) {
  return {s.precision, s.threshold, static_cast<int>(s.edgeitems), static_cast<int>(s.linewidth), s.sci_mode};
}

void check_range(const char* name, std::int64_t value, std::int64_t last) {
  if (value < 0 || value > last)
    throw Error(fmt::format("set_printoptions: {} is {}, but must be in [0, {}]", name, value, last));
}

/// A range of an axis's shown positions.
struct IndexRange {
  std::int64_t first;
  std::int64_t count;
};

bool is_cut(std::int64_t extent, const Settings& s) { return extent > 2 * s.edgeitems; }

std::vector<IndexRange> shown_runs(std::int64_t extent, bool summarize, const Settings& s) {
  if (!summarize || !is_cut(extent, s)) return {{0, extent}};
  return {{0, s.edgeitems}, {extent - s.edgeitems, s.edgeitems}};
}

/// Calls f with every index of a box of these extents, row-major.
template <class F>
void for_each_index(const Shape& extents, F&& f) {
  Shape index = extents;
  for (int axis = 0; axis < index.ndim(); ++axis) index[axis] = 0;
  while (true) {
    f(index);
    int axis = extents.ndim() - 1;
    while (axis >= 0 && ++index[axis] == extents[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

std::int64_t offset_at(const Shape& index, const Shape& strides) {
  std::int64_t sum = 0;
  for (int i = 0; i < index.ndim(); ++i) sum += index[i] * strides[i];
  return sum;
}

/// The shown elements on the host, row-major. Each axis has one or two ranges, so they are at most 2^ndim boxes.
class ShownElements {
 public:
  ShownElements(const runtime::TensorImpl& t, bool summarize, const Settings& s) : size_(size_of(t.dtype)) {
    Shape boxes, shape;
    for (std::int64_t extent : t.shape) {
      runs_.push_back(shown_runs(extent, summarize, s));
      boxes.push_back(static_cast<std::int64_t>(runs_.back().size()));
      shape.push_back(runs_.back().size() * static_cast<std::size_t>(runs_.back()[0].count));
    }
    strides_ = contiguous_strides(shape);
    bytes_.resize(static_cast<std::size_t>(shape.numel()) * size_);
    if (!bytes_.empty()) for_each_index(boxes, [&](const Shape& box) { copy_box(t, box); });
  }

  template <class T>
  std::vector<T> values() const {
    std::vector<T> v(bytes_.size() / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), bytes_.data(), bytes_.size());
    return v;
  }

 private:
  void copy_box(const runtime::TensorImpl& t, const Shape& box) {
    Shape extents;
    std::int64_t from = 0, to = 0;
    for (int i = 0; i < t.ndim(); ++i) {
      const IndexRange run = runs_[static_cast<std::size_t>(i)][static_cast<std::size_t>(box[i])];
      extents.push_back(run.count);
      from += run.first * t.strides[i];
      to += box[i] * run.count * strides_[i];
    }
    const runtime::TensorRef part = runtime::view(t, extents, t.strides, from);
    const runtime::TensorRef host = jit::to(*part, t.dtype, Device());
    for_each_index(extents, [&](const Shape& index) {
      const std::int64_t source = offset_at(index, host->strides), target = to + offset_at(index, strides_);
      std::memcpy(bytes_.data() + static_cast<std::size_t>(target) * size_,
                  host->data + source * static_cast<std::int64_t>(size_), size_);
    });
  }

  std::size_t size_;
  std::vector<std::vector<IndexRange>> runs_;
  Shape strides_;
  std::vector<std::byte> bytes_;
};

/// The elements as text, each padded to `width` on the left. NaN and infinities may be wider.
struct Cells {
  std::vector<std::string> text;
  std::int64_t width = 1;

  void pad() {
    for (std::string& s : text)
      if (static_cast<std::int64_t>(s.size()) < width) s.insert(0, static_cast<std::size_t>(width) - s.size(), ' ');
  }
};

template <class T>
Cells format_integers(const std::vector<T>& values) {
  Cells cells;
  for (T v : values) {
    if constexpr (std::is_same_v<T, bool>)
      cells.text.emplace_back(v ? "True" : "False");
    else
      cells.text.push_back(fmt::format("{}", v));
    cells.width = std::max(cells.width, static_cast<std::int64_t>(cells.text.back().size()));
  }
  cells.pad();
  return cells;
}

enum class Notation { Integer, Fixed, Scientific };

std::string format_float(double v, Notation notation, int precision) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  switch (notation) {
    case Notation::Integer: return fmt::format("{:.0f}.", v);
    case Notation::Fixed: return fmt::format("{:.{}f}", v, precision);
    case Notation::Scientific: return fmt::format("{:.{}e}", v, precision);
  }
  __builtin_unreachable();
}

/// What PyTorch's _Formatter determines from the elements.
struct FloatFormat {
  Notation notation = Notation::Integer;
  std::int64_t width = 1;

  FloatFormat(const std::vector<double>& values, const Settings& s) {
    const auto counts = [](double v) { return std::isfinite(v) && v != 0; };
    double low = std::numeric_limits<double>::infinity(), high = 0;
    bool integers = true;
    for (double v : values)
      if (counts(v)) {
        low = std::min(low, std::abs(v));
        high = std::max(high, std::abs(v));
        integers = integers && v == std::ceil(v);
      }
    if (high != 0) {
      const bool scientific = s.sci_mode.value_or(high / low > 1000.0 || high > 1.0e8 || (!integers && low < 1.0e-4));
      notation = scientific ? Notation::Scientific : integers ? Notation::Integer : Notation::Fixed;
      for (double v : values)
        if (counts(v))
          width = std::max(width, static_cast<std::int64_t>(format_float(v, notation, s.precision).size()));
    }
  }
};

Cells format_floats(const std::vector<double>& values, const Settings& s) {
  const FloatFormat format(values, s);
  Cells cells;
  cells.width = format.width;
  for (double v : values) cells.text.push_back(format_float(v, format.notation, s.precision));
  cells.pad();
  return cells;
}

/// Formats alternating real and imaginary parts. Real and imaginary parts each have one notation; imaginary parts are
/// not padded, and their sign joins the two.
Cells format_complex(const std::vector<double>& values, const Settings& s) {
  std::vector<double> parts[2];
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % 2].push_back(values[i]);
  const Cells re = format_floats(parts[0], s);
  const FloatFormat im(parts[1], s);
  Cells cells;
  cells.width = re.width + im.width + 1;
  for (std::size_t i = 0; i < re.text.size(); ++i) {
    const std::string text = format_float(parts[1][i], im.notation, s.precision);
    cells.text.push_back(re.text[i] + (text[0] == '-' ? "" : "+") + text + "j");
  }
  return cells;
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  std::vector<double> doubles;
  for (const T v : values) doubles.push_back(static_cast<double>(v));
  return doubles;
}

Cells format_cells(const ShownElements& elements, DType dtype, const Settings& s) {
  switch (dtype) {
    case DType::Bool: {
      const std::vector<char> bytes = elements.values<char>();
      return format_integers(std::vector<bool>(bytes.begin(), bytes.end()));
    }
    case DType::UInt8: return format_integers(elements.values<std::uint8_t>());
    case DType::Int8: return format_integers(elements.values<std::int8_t>());
    case DType::UInt16: return format_integers(elements.values<std::uint16_t>());
    case DType::UInt32: return format_integers(elements.values<std::uint32_t>());
    case DType::UInt64: return format_integers(elements.values<std::uint64_t>());
    case DType::Int16: return format_integers(elements.values<std::int16_t>());
    case DType::Int32: return format_integers(elements.values<std::int32_t>());
    case DType::Int64: return format_integers(elements.values<std::int64_t>());
    case DType::Float16: return format_floats(as_doubles(elements.values<half>()), s);
    case DType::BFloat16: return format_floats(as_doubles(elements.values<bfloat16>()), s);
    case DType::Float32: return format_floats(as_doubles(elements.values<float>()), s);
    case DType::Float64: return format_floats(elements.values<double>(), s);
    case DType::Complex64: return format_complex(as_doubles(elements.values<float>()), s);
    case DType::Complex128: return format_complex(elements.values<double>(), s);
  }
  __builtin_unreachable();
}

/// Writes the cells as nested lists.
class NestedLists {
 public:
  NestedLists(const Shape& shape, bool summarize, const Settings& s, const Cells& cells)
      : shape_(shape), summarize_(summarize), settings_(s), cells_(cells) {}

  std::string text(int indent) {
    block(0, indent);
    return std::move(out_);
  }

 private:
  void block(int axis, int indent) {
    const int left = shape_.ndim() - axis;
    if (left == 0) {
      out_ += cells_.text[next_++];
    } else if (left == 1) {
      line_of_cells(axis, indent);
    } else {
      const std::string separator = "," + std::string(static_cast<std::size_t>(left - 1), '\n') +
                                    std::string(static_cast<std::size_t>(indent + 1), ' ');
      bool first = true;
      out_ += '[';
      for_each_shown(axis, [&](bool dots) {
        if (!first) out_ += separator;
        first = false;
        if (dots)
          out_ += "...";
        else
          block(axis + 1, indent + 1);
      });
      out_ += ']';
    }
  }

  void line_of_cells(int axis, int indent) {
    const std::int64_t per_line = std::max<std::int64_t>(1, (settings_.linewidth - indent) / (cells_.width + 2));
    const std::string new_line = ",\n" + std::string(static_cast<std::size_t>(indent + 1), ' ');
    std::int64_t column = 0;
    out_ += '[';
    for_each_shown(axis, [&](bool dots) {
      if (column > 0) out_ += column % per_line == 0 ? new_line : ", ";
      ++column;
      out_ += !dots ? cells_.text[next_++] : settings_.edgeitems > 0 ? " ..." : "...";
    });
    out_ += ']';
  }

  /// Calls f(false) for each shown position of the axis, and f(true) where positions are omitted.
  template <class F>
  void for_each_shown(int axis, F&& f) {
    const std::vector<IndexRange> runs = shown_runs(shape_[axis], summarize_, settings_);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (r > 0) f(true);
      for (std::int64_t i = 0; i < runs[r].count; ++i) f(false);
    }
  }

  const Shape& shape_;
  bool summarize_;
  const Settings& settings_;
  const Cells& cells_;
  std::size_t next_ = 0;
  std::string out_;
};

/// A suffix goes on the last line if it fits, else on a new line below the first element.
void add_suffixes(std::string& text, const std::vector<std::string>& suffixes, std::int64_t indent, const Settings& s) {
  const std::size_t last_break = text.rfind('\n');
  // One more than the line's length, or three more for a single-line text: PyTorch counts and wraps this way.
  auto line =
      static_cast<std::int64_t>(last_break == std::string::npos ? text.size() + 2 : text.size() - last_break + 1);
  for (const std::string& suffix : suffixes) {
    const auto length = static_cast<std::int64_t>(suffix.size());
    if (line + length + 2 > s.linewidth) {
      text += ",\n" + std::string(static_cast<std::size_t>(indent), ' ') + suffix;
      line = indent + length;
    } else {
      text += ", " + suffix;
      line += length + 2;
    }
  }
  text += ')';
}

std::vector<std::string> suffixes_of(const runtime::TensorImpl& t) {
  std::vector<std::string> suffixes;
  if (!t.device.is_cpu()) suffixes.push_back(fmt::format("device='{}'", to_string(t.device)));
  const bool empty = t.numel == 0;
  if (empty && t.ndim() != 1) suffixes.push_back("size=" + to_string(t.shape));
  // The elements themselves show int64 and bool, except in an empty tensor.
  const bool usual = t.dtype == DType::Float32 ||
                     (!empty && (t.dtype == DType::Int64 || t.dtype == DType::Bool || t.dtype == DType::Complex64));
  if (!usual) suffixes.push_back(fmt::format("dtype={}", name(t.dtype)));
  return suffixes;
}

}  // namespace

PrintOptions set_printoptions(const PrintOptions& changes) {
  constexpr int most = std::numeric_limits<int>::max();
  if (changes.precision) check_range("precision", *changes.precision, 1074);
  if (changes.threshold) check_range("threshold", *changes.threshold, std::numeric_limits<std::int64_t>::max());
  if (changes.edgeitems) check_range("edgeitems", *changes.edgeitems, most);
  if (changes.linewidth) check_range("linewidth", *changes.linewidth, most);
  const runtime::ForkSafeLock lock(settings_mutex);
  Settings& s = current_settings;
  const PrintOptions before = as_options(s);
  s.precision = changes.precision.value_or(s.precision);
  s.threshold = changes.threshold.value_or(s.threshold);
  s.edgeitems = changes.edgeitems.value_or(static_cast<int>(s.edgeitems));
  s.linewidth = changes.linewidth.value_or(static_cast<int>(s.linewidth));
  s.sci_mode = changes.sci_mode;
  return before;
}

PrintOptions printoptions() { return as_options(settings()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << to_string(device); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

namespace detail {

std::string to_string(const runtime::TensorImpl& t) {
  const runtime::DefaultFloatEnvironment floats;
  constexpr std::string_view prefix = "tensor(";
  constexpr int indent = static_cast<int>(prefix.size());
  const Settings s = settings();
  const bool summarize = t.numel > s.threshold;
  std::string text(prefix);
  if (t.numel == 0) {
    text += "[]";
  } else {
    const Cells cells = format_cells(ShownElements(*on_one_device(t), summarize, s), t.dtype, s);
    text += NestedLists(t.shape, summarize, s, cells).text(indent);
  }
  add_suffixes(text, suffixes_of(t), indent, s);
  return text;
}

}  // namespace detail
}  // namespace sinter::inline v1
