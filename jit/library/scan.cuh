// Inclusive scans of lines, whose elements are `inner` apart in memory. The entry point for an operation and a dtype is
// appended to this text. A block scans a line tile by tile with shuffles (Kogge and Stone, 1973); long lines are reduced
// in chunks first, then what is before each chunk is scanned, then the chunks from there (reduce-then-scan: Merrill and
// Grimshaw, "Parallel Scan for Stream Architectures", 2009), so that no block waits for another.

// Each operation: the state of one element, the state of two adjacent runs, and the value that is written.
template <class Element_, class State_>
struct Number {
  using Element = Element_;
  using State = State_;
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

// The whole block: from `first` to `end`, after `before` where there is something.
template <class Op, class Read, class Write>
static __device__ __forceinline__ typename Op::State scan_range(long long first, long long end,
                                                                typename Op::State before, bool started, Read read,
                                                                Write write) {
  using State = typename Op::State;
  constexpr int items = 4, tile = items * 256;
  __shared__ State totals[2][8];  // of warps, by turns
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
  for (int turn = 0; first < end; first += tile, turn ^= 1) {
    const long long at = first + threadIdx.x * items;
    State s[items];
    s[0] = at < end ? read(at) : State{};  // past the end: ignored
#pragma unroll
    for (int j = 1; j < items; ++j) s[j] = at + j < end ? Op::join(s[j - 1], read(at + j)) : s[j - 1];
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
#pragma unroll
    for (int j = 0; j < items; ++j)
      if (at + j < end) write(at + j, joins || lane > 0 ? Op::join(prefix, s[j]) : s[j]);
    before = totals[turn][7];
    started = true;
  }
  return before;
}

// A block for each chunk of a line: scans it, or reduces it to its total.
template <class Op>
static __device__ __forceinline__ void scan_lines(const ScanParams<Op>& p) {
  using State = typename Op::State;
  const long long line = blockIdx.x / p.chunks, chunk = blockIdx.x % p.chunks;
  const long long origin = line / p.inner * p.length * p.inner + line % p.inner, first = chunk * p.chunk;
  const bool resumes = chunk > 0 && !p.reduces;
  const State before = resumes ? p.totals[blockIdx.x - 1] : State{};
  const State total = scan_range<Op>(
      first, first + p.chunk < p.length ? first + p.chunk : p.length, before, resumes,
      [&](long long i) { return Op::start(p.x[origin + i * p.inner], i); },
      [&](long long i, State s) {
        if (!p.reduces) Op::write(s, p.to + origin + i * p.inner, p.indices + origin + i * p.inner);
      });
  if (p.reduces && threadIdx.x == 0) p.totals[blockIdx.x] = total;
}

// A block for the totals of each line.
template <class Op>
static __device__ __forceinline__ void scan_totals(const ScanParams<Op>& p) {
  using State = typename Op::State;
  State* const totals = p.totals + blockIdx.x * p.chunks;
  scan_range<Op>(
      0, p.chunks, State{}, false, [&](long long i) { return totals[i]; },
      [&](long long i, State s) { totals[i] = s; });
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
