// Inclusive scans of lines, whose elements are `inner` apart in memory. The entry point for an operation and a dtype is
// appended to this text. A block scans a line tile by tile with shuffles (Kogge and Stone, 1973); long lines are reduced
// in chunks first, then what is before each chunk is scanned, then the chunks from there (reduce-then-scan: Merrill and
// Grimshaw, "Parallel Scan for Stream Architectures", 2009), so that no block waits for another.

// Each operation: the state of one element, the state of two adjacent runs, and the value that is written.
template <class Element_, class State_>
struct Number {
  using Element = Element_;
  using State = State_;
  static constexpr bool has_indices = false;
  static __device__ __forceinline__ State start(Element x, long long) { return sinter::convert<State>(x); }
  static __device__ __forceinline__ State up(State s, int lanes) { return __shfl_up_sync(~0u, s, lanes); }
  // Turns -0 into 0, as adding to 0 does.
  static __device__ __forceinline__ void write(State s, Element* to, long long*) {
    *to = sinter::convert<Element>(s + State(0));
  }
};
template <class Element, class State>
struct Sum : Number<Element, State> {
  static __device__ __forceinline__ State join(State a, State b) { return a + b; }
};
template <class Element, class State>
struct Product : Number<Element, State> {
  static __device__ __forceinline__ State join(State a, State b) { return a * b; }
  static __device__ __forceinline__ void write(State s, Element* to, long long*) { *to = sinter::convert<Element>(s); }
};

static __device__ __noinline__ float log_add_exp(float a, float b) {
  if (a != a || b != b) return a + b;
  const float least = ::fminf(a, b), most = ::fmaxf(a, b);
  if (least == most && least - least != 0) return a;
  return ::log1pf(::expf(least - most)) + most;
}
static __device__ __noinline__ double log_add_exp(double a, double b) {
  if (a != a || b != b) return a + b;
  const double least = ::fmin(a, b), most = ::fmax(a, b);
  if (least == most && least - least != 0) return a;
  return ::log1p(::exp(least - most)) + most;
}
template <class Element, class State>
struct LogSumExp : Number<Element, State> {
  static __device__ __forceinline__ State join(State a, State b) { return log_add_exp(a, b); }
};

struct ComplexState {
  double re, im;
};
template <class Element_, class Part>
struct ComplexNumber {
  using Element = Element_;
  using State = ComplexState;
  static constexpr bool has_indices = false;
  static __device__ __forceinline__ State start(Element x, long long) { return {double(x.re), double(x.im)}; }
  static __device__ __forceinline__ State up(State s, int lanes) {
    return {__shfl_up_sync(~0u, s.re, lanes), __shfl_up_sync(~0u, s.im, lanes)};
  }
  static __device__ __forceinline__ void write(State s, Element* to, long long*) {
    *to = {Part(s.re + 0.0), Part(s.im + 0.0)};
  }
};
template <class Element, class Part>
struct ComplexSum : ComplexNumber<Element, Part> {
  static __device__ __forceinline__ ComplexState join(ComplexState a, ComplexState b) { return {a.re + b.re, a.im + b.im}; }
};
template <class Element, class Part>
struct ComplexProduct : ComplexNumber<Element, Part> {
  static __device__ __forceinline__ ComplexState join(ComplexState a, ComplexState b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  static __device__ __forceinline__ void write(ComplexState s, Element* to, long long*) { *to = {Part(s.re), Part(s.im)}; }
};

// The last of the extreme elements, or of NaN.
template <class Element_, class Value, bool max>
struct Extreme {
  using Element = Element_;
  static constexpr bool has_indices = true;
  struct State {
    Value value;
    long long index;
  };
  static __device__ __forceinline__ State start(Element x, long long index) {
    return {sinter::convert<Value>(x), index};
  }
  static __device__ __forceinline__ State join(State a, State b) {
    const bool as_far = max ? b.value >= a.value : b.value <= a.value;
    return b.value != b.value || (as_far && a.value == a.value) ? b : a;
  }
  static __device__ __forceinline__ State up(State s, int lanes) {
    return {__shfl_up_sync(~0u, s.value, lanes), __shfl_up_sync(~0u, s.index, lanes)};
  }
  static __device__ __forceinline__ void write(State s, Element* to, long long* index) {
    *to = sinter::convert<Element>(s.value);
    *index = s.index;
  }
};
// Scans bytes that are true unless they are 0.
template <bool max>
struct ExtremeOfBools : Extreme<unsigned char, int, max> {
  static __device__ __forceinline__ typename ExtremeOfBools::State start(unsigned char x, long long index) {
    return {x != 0, index};
  }
};

template <class Op>
struct ScanParams {
  typename Op::Element* to;
  long long* indices;
  typename Op::State* totals;  // of chunks
  const typename Op::Element* x;
  long long lines, length, inner, chunk, chunks, reduces;
};

// The elements of a thread at a time.
constexpr int items = 8;

// Loads the first `count` elements of a thread, by vectors if they are adjacent; the others are 0.
template <int width, class T>
static __device__ __forceinline__ void load_items(const T* from, long long step, int count, T (&x)[items]) {
#pragma unroll
  for (int j = 0; j < items; j += width) {
    sinter::Vec<T, width> v{};
    if (j < count) v = *reinterpret_cast<const sinter::Vec<T, width>*>(from + (width == 1 ? j * step : j));
#pragma unroll
    for (int l = 0; l < width; ++l) x[j + l] = v.at[l];
  }
}
template <int width, class T>
static __device__ __forceinline__ void store_items(T* to, long long step, int count, const T (&x)[items]) {
#pragma unroll
  for (int j = 0; j < items; j += width) {
    sinter::Vec<T, width> v;
#pragma unroll
    for (int l = 0; l < width; ++l) v.at[l] = x[j + l];
    if (j < count) *reinterpret_cast<sinter::Vec<T, width>*>(to + (width == 1 ? j * step : j)) = v;
  }
}

// The whole block: from `first` to `end`, after `before` where there is something. Elements past the end count as 0, and
// nothing before the end depends on them; the total that is returned does, so that of a line's last chunk is not read.
template <class Op, class Load, class Store>
static __device__ __forceinline__ typename Op::State scan_range(long long first, long long end,
                                                                typename Op::State before, bool started, Load load,
                                                                Store store) {
  using State = typename Op::State;
  constexpr int tile = items * 256;
  __shared__ State totals[2][8];  // of warps, by turns
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
  for (int turn = 0; first < end; first += tile, turn ^= 1) {
    const long long at = first + threadIdx.x * items;
    const int count = at + items <= end ? items : at < end ? int(end - at) : 0;
    State s[items];
    load(at, count, s);
#pragma unroll
    for (int j = 1; j < items; ++j) s[j] = Op::join(s[j - 1], s[j]);
    State all = s[items - 1];
#pragma unroll 1
    for (int lanes = 1; lanes < 32; lanes *= 2) {
      const State lower = Op::up(all, lanes);
      if (lane >= lanes) all = Op::join(lower, all);
    }
    const State lower = Op::up(all, 1);
    if (lane == 31) totals[turn][warp] = all;
    __syncthreads();
    if (warp == 0) {
      State t = lane < 8 ? totals[turn][lane] : all;
#pragma unroll 1
      for (int lanes = 1; lanes < 8; lanes *= 2) {
        const State earlier = Op::up(t, lanes);
        if (lane >= lanes) t = Op::join(earlier, t);
      }
      if (started) t = Op::join(before, t);
      if (lane < 8) totals[turn][lane] = t;
    }
    __syncthreads();
    const bool joins = started || warp > 0;
    State prefix = warp > 0 ? totals[turn][warp - 1] : before;
    if (lane > 0) prefix = joins ? Op::join(prefix, lower) : lower;
    if (joins || lane > 0) {
#pragma unroll
      for (int j = 0; j < items; ++j) s[j] = Op::join(prefix, s[j]);
    }
    store(at, count, s);
    before = totals[turn][7];
    started = true;
  }
  return before;
}

// A block for each chunk of a line: scans it, or reduces it to its total. Elements are adjacent and aligned to vectors
// of `width`, if that is more than 1.
template <int width, class Op>
static __device__ __forceinline__ void scan_lines(const ScanParams<Op>& p) {
  using State = typename Op::State;
  using Element = typename Op::Element;
  const long long line = blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const long long origin = line / p.inner * p.length * p.inner + line % p.inner, first = chunk * p.chunk;
  const bool resumes = chunk > 0 && !p.reduces;
  const State before = resumes ? p.totals[blockIdx.x - 1] : State{};
  const State total = scan_range<Op>(
      first, first + p.chunk < p.length ? first + p.chunk : p.length, before, resumes,
      [&](long long at, int count, State(&s)[items]) {
        Element x[items];
        load_items<width>(p.x + origin + at * p.inner, p.inner, count, x);
#pragma unroll
        for (int j = 0; j < items; ++j) s[j] = Op::start(x[j], at + j);
      },
      [&](long long at, int count, State(&s)[items]) {
        if (p.reduces) return;
        const long long offset = origin + at * p.inner;
        Element x[items];
        long long indices[items];
#pragma unroll
        for (int j = 0; j < items; ++j) Op::write(s[j], x + j, indices + j);
        store_items<width>(p.to + offset, p.inner, count, x);
        if (Op::has_indices) store_items<width>(p.indices + offset, p.inner, count, indices);
      });
  if (p.reduces && threadIdx.x == 0) p.totals[blockIdx.x] = total;
}

// A block for the totals of each line.
template <class Op>
static __device__ __forceinline__ void scan_totals(const ScanParams<Op>& p) {
  using State = typename Op::State;
  State* const totals = p.totals + blockIdx.x * p.chunks;
  scan_range<Op>(
      0, p.chunks, State{}, false,
      [&](long long at, int count, State(&s)[items]) { load_items<1>(totals + at, 1, count, s); },
      [&](long long at, int count, State(&s)[items]) { store_items<1>(totals + at, 1, count, s); });
}

// A thread for each line: where there are many side by side, or short ones.
template <class Op>
static __device__ __forceinline__ void scan_serially(const ScanParams<Op>& p) {
  const long long line = blockIdx.x * 256ll + threadIdx.x;
  if (line >= p.lines) return;
  long long at = line / p.inner * p.length * p.inner + line % p.inner;
  typename Op::State s = Op::start(p.x[at], 0);
  Op::write(s, p.to + at, p.indices + at);
#pragma unroll 4
  for (long long i = 1; i < p.length; ++i) {
    at += p.inner;
    s = Op::join(s, Op::start(p.x[at], i));
    Op::write(s, p.to + at, p.indices + at);
  }
}
