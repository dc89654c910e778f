#include "cpu_scan.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include <runtime/bools.hpp>
#include <runtime/parallel.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../cpu/is_nan.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t scan_part = 1 << 16;     // elements per task
constexpr std::int64_t chunk_length = 1 << 14;  // of a long line
constexpr std::int64_t long_line = 1 << 17;     // split into chunks if there are few lines
constexpr std::int64_t few_lines = 16;

/// The accumulator: twice the precision for floats; integers wrap.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<std::int64_t> {
  using type = std::uint64_t;
};
template <>
struct Wide<half> {
  using type = float;
};
template <>
struct Wide<bfloat16> {
  using type = float;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<std::complex<float>> {
  using type = std::complex<double>;
};

// Each: the state of one element, of two consecutive runs, and the value that is written. `join` is associative.
template <class T>
struct Number {
  using Element = T;
  using State = typename Wide<T>::type;

  static State start(T x, std::int64_t) noexcept { return static_cast<State>(x); }
  /// Turns -0 into 0, as adding to 0 does.
  static void write(State s, std::int64_t at, T* to, std::int64_t*) noexcept {
    if constexpr (complex_element<T>)
      to[at] = T(s + State());
    else
      to[at] = static_cast<T>(s + State(0));
  }
};
template <class T>
struct SumOf : Number<T> {
  using State = typename Number<T>::State;
  static State join(State a, State b) noexcept { return a + b; }
};
template <class T>
struct ProductOf : Number<T> {
  using State = typename Number<T>::State;
  static State join(State a, State b) noexcept {
    if constexpr (complex_element<T>)  // without std::complex's recovery of infinities
      return State(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
      return a * b;
  }
  static void write(State s, std::int64_t at, T* to, std::int64_t*) noexcept { to[at] = static_cast<T>(s); }
};
template <class T>
struct LogSumExpOf : Number<T> {
  using State = typename Number<T>::State;
  static State join(State a, State b) noexcept {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    const State least = std::min(a, b), most = std::max(a, b);
    if (least == most && std::isinf(least)) return a;  // their difference is NaN
    return std::log1p(std::exp(least - most)) + most;
  }
};

/// The last of the extreme elements, or of NaN.
template <class T, bool max>
struct ExtremeOf {
  using Element = T;
  struct State {
    T value;
    std::int64_t index;
  };

  static State start(T x, std::int64_t index) noexcept { return {x, index}; }
  static State join(State a, State b) noexcept {
    const bool less_far = max ? b.value < a.value : b.value > a.value;  // false if either is NaN
    return !less_far && (!is_nan(a.value) || is_nan(b.value)) ? b : a;
  }
  static void write(State s, std::int64_t at, T* to, std::int64_t* indices) noexcept {
    to[at] = s.value;
    indices[at] = s.index;
  }
};

/// Adjacent lines, scanned together: each element depends only on those before it in its own line.
struct Strip {
  std::int64_t first;     // element
  std::int64_t length;    // of each line
  std::int64_t step;      // from an element to the next
  std::int64_t across;    // from a line to the next
  std::int64_t position;  // of the first element along the axis
  std::int64_t further;   // the increment of `position` from line to line

  Strip after(std::int64_t lines) const noexcept {
    return {first + lines * across, length, step, across, position + lines * further, further};
  }
};

constexpr std::int64_t max_columns = 64;
using OneLine = std::integral_constant<std::int64_t, 1>;
using FourLines = std::integral_constant<std::int64_t, 4>;

template <class Width>
inline constexpr std::int64_t max_lines = max_columns;
template <std::int64_t lines>
inline constexpr std::int64_t max_lines<std::integral_constant<std::int64_t, lines>> = lines;

template <class Op>
class Scanner {
  using T = typename Op::Element;
  using State = typename Op::State;

 public:
  Scanner(const Lines& lines, std::byte* to, std::int64_t* indices)
      : lines_(lines), x_(reinterpret_cast<const T*>(lines.data)), to_(reinterpret_cast<T*>(to)), indices_(indices) {}

  void run() const {
    if (lines_.inner > 1) return scan_columns();
    if (lines_.length >= long_line && lines_.outer < few_lines) {
      for (std::int64_t line = 0; line < lines_.outer; ++line) scan_in_pieces(line * lines_.length);
    } else {
      const std::int64_t at_once = std::max<std::int64_t>(1, scan_part / lines_.length / 4) * 4;
      for_each_group(lines_.outer, at_once, [this](std::int64_t first, std::int64_t end) { scan_rows(first, end); });
    }
  }

 private:
  /// Calls f(first, end) for several units at a time.
  template <class F>
  static void for_each_group(std::int64_t units, std::int64_t at_once, F f) {
    runtime::parallel_for_erased((units + at_once - 1) / at_once, [=](std::int64_t part) {
      const runtime::DefaultFloatEnvironment floats;
      f(part * at_once, std::min((part + 1) * at_once, units));
    });
  }

  /// If `started`, `states` are those before the lines; afterwards they are those up to the lines' ends.
  template <bool writes, class Width>
  void scan_strip(const Strip& s, Width width, State* states, bool started) const {
    State now[max_lines<Width>] = {};  // which no result that is written can be
    const T* const x = x_ + s.first;
    if (started) std::copy_n(states, static_cast<std::int64_t>(width), now);
    for (std::int64_t i = 0; i < s.length; ++i, started = true)
      for (std::int64_t c = 0; c < width; ++c) {
        const std::int64_t at = i * s.step + c * s.across;
        const State next = Op::start(runtime::element_at(x + at), s.position + i + c * s.further);
        now[c] = started ? Op::join(now[c], next) : next;
        if constexpr (writes) Op::write(now[c], s.first + at, to_, indices_);
      }
    std::copy_n(now, static_cast<std::int64_t>(width), states);
  }
  /// Four lines at a time, then the rest.
  template <bool writes>
  void scan_by_fours(const Strip& s, std::int64_t width, State* states, bool started) const {
    std::int64_t c = 0;
    for (; c + 4 <= width; c += 4) scan_strip<writes>(s.after(c), FourLines(), states + c, started);
    for (; c < width; ++c) scan_strip<writes>(s.after(c), OneLine(), states + c, started);
  }

  void scan_rows(std::int64_t first, std::int64_t end) const {
    State states[4];
    const Strip all{0, lines_.length, 1, lines_.length, 0, 0};
    for (std::int64_t row = first; row < end; row += 4)
      scan_by_fours<true>(all.after(row), std::min<std::int64_t>(end - row, 4), states, false);
  }

  void scan_columns() const {
    const std::int64_t strips = (lines_.inner + max_columns - 1) / max_columns;
    const std::int64_t columns = std::min(lines_.inner, max_columns);
    const std::int64_t at_once = std::max<std::int64_t>(1, scan_part / (lines_.length * columns));
    for_each_group(lines_.outer * strips, at_once, [=, this](std::int64_t first, std::int64_t end) {
      State states[max_columns];
      for (std::int64_t unit = first; unit < end; ++unit) {
        const std::int64_t column = unit % strips * max_columns;
        const Strip s{unit / strips * lines_.length * lines_.inner + column, lines_.length, lines_.inner, 1, 0, 0};
        scan_strip<true>(s, std::min(lines_.inner - column, max_columns), states, false);
      }
    });
  }

  /// Reduces each chunk, scans the totals, then scans each chunk from its offset (reduce-then-scan).
  void scan_in_pieces(std::int64_t line) const {
    const std::int64_t chunks = lines_.length / chunk_length;  // the last one also takes the rest
    const Strip all{line, chunk_length, 1, chunk_length, 0, chunk_length};
    std::vector<State> states(static_cast<std::size_t>(chunks));
    for_each_group(chunks, 4, [&](std::int64_t first, std::int64_t end) {
      scan_by_fours<false>(all.after(first), end - first, states.data() + first, false);
    });
    State before = states[0];
    for (std::size_t chunk = 1; chunk < states.size(); ++chunk) {
      const State all_before = before;
      before = Op::join(before, states[chunk]);
      states[chunk] = all_before;
    }
    scan_strip<true>(all, OneLine(), states.data(), false);
    for_each_group(chunks - 1, 4, [&](std::int64_t first, std::int64_t end) {
      scan_by_fours<true>(all.after(first + 1), end - first, states.data() + first + 1, true);
    });
    Strip rest = all.after(chunks);
    rest.length = lines_.length % chunk_length;
    scan_strip<true>(rest, OneLine(), &before, true);
  }

  const Lines lines_;
  const T* const x_;
  T* const to_;
  std::int64_t* const indices_;
};

template <class T>
constexpr bool is_scanned = sizeof(T) == 8 || !std::is_integral_v<T>;

}  // namespace

void scan(const Lines& x, Scan what, std::byte* to) {
  visit(x.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_scanned<T>) {
      if (what == Scan::Sum) return Scanner<SumOf<T>>(x, to, nullptr).run();
      if (what == Scan::Prod) return Scanner<ProductOf<T>>(x, to, nullptr).run();
      if constexpr (floating_element<T>) return Scanner<LogSumExpOf<T>>(x, to, nullptr).run();
    }
  });
}

void scan(const Lines& x, Extreme what, std::byte* values, std::int64_t* indices) {
  visit(x.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!complex_element<T>) {
      if (what == Extreme::Max) return Scanner<ExtremeOf<T, true>>(x, values, indices).run();
      return Scanner<ExtremeOf<T, false>>(x, values, indices).run();
    }
  });
}

}  // namespace sinter::inline v1::jit::cpu
