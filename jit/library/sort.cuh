// Order within rows. Behind this text stands the entry for a kernel and a dtype; an `Order` names the dtype and its
// keys: unsigned numbers of the same order, inverted by `flip` where it descends. Entries, keys with their positions,
// are all different, so that every order of them is a stable one.

// The key of a float's bits: NaN gives the largest, whatever its sign; -0 and 0 the same.
template <class Key>
static __device__ __forceinline__ Key float_key(Key bits, Key infinity) {
  const Key sign = Key(Key(1) << (8 * sizeof(Key) - 1));
  if (Key(bits & Key(sign - 1)) > infinity) return Key(~Key(0));
  return bits & sign ? Key(0 - bits) : Key(bits | sign);
}

// Which elements of a sorted row are written: the first ones, or the one that the statistic selects.
enum Statistic { Kth, Median, NanMedian, First };

// The position, in a sorted row, of the element that the statistic selects: NaNs, which `is_nan` finds, come last.
template <class IsNan>
static __device__ __forceinline__ long long position_of(int statistic, long long position, long long length, IsNan is_nan) {
  if (statistic == Kth) return position;
  long long numbers = 0;
  for (long long end = length; numbers < end;) {
    const long long middle = (numbers + end) / 2;
    if (is_nan(middle))
      end = middle;
    else
      numbers = middle + 1;
  }
  if (statistic == Median && numbers < length) return numbers;
  return numbers > 0 ? (numbers - 1) / 2 : 0;
}

constexpr int block_slots = 2048;  // that a block sorts

template <class Order>
struct BlockSortParams {
  typename Order::Element* values;  // may be null
  long long* indices;
  const typename Order::Element* x;
  const long long* origins;  // where the elements come from; null: they are in their places
  unsigned long long flip;
  long long rows, length, first, statistic, position, log2;  // `first` of each row are written; 2^log2 >= length
};

// As many rows as fit into a block, each padded to a power of two (bitonic sort: Batcher, "Sorting Networks and their
// Applications", 1968, with all comparisons in one direction).
template <class Order>
static __device__ __forceinline__ void sort_in_block(const BlockSortParams<Order>& p) {
  using Key = typename Order::Key;
  __shared__ Key keys[block_slots];
  __shared__ unsigned short positions[block_slots];
  const int log2 = int(p.log2), padded = 1 << log2;
  const long long first_row = (long long)(blockIdx.x) * (block_slots >> log2);
#pragma unroll 1
  for (int slot = threadIdx.x; slot < block_slots; slot += 256) {
    const long long row = first_row + (slot >> log2);
    const int i = slot & (padded - 1);
    const bool there = row < p.rows && i < p.length;
    keys[slot] = there ? Key(Order::key(p.x[row * p.length + i]) ^ Key(p.flip)) : Key(~Key(0));
    positions[slot] = static_cast<unsigned short>(i);
  }
  __syncthreads();
  const auto order = [&](int a, int b) {
    const Key x = keys[a], y = keys[b];
    const unsigned short i = positions[a], j = positions[b];
    if (x < y || (x == y && i < j)) return;
    keys[a] = y, keys[b] = x;
    positions[a] = j, positions[b] = i;
  };
#pragma unroll 1
  for (int half = 0; half < log2; ++half) {
    // Runs of 2^half are in order: the second of two is read backwards.
#pragma unroll 1
    for (int pair = threadIdx.x; pair < block_slots / 2; pair += 256) {
      const int run = pair >> half << (half + 1), i = pair & ((1 << half) - 1);
      order(run + i, run + (2 << half) - 1 - i);
    }
    __syncthreads();
#pragma unroll 1
    for (int quarter = half - 1; quarter >= 0; --quarter) {
#pragma unroll 1
      for (int pair = threadIdx.x; pair < block_slots / 2; pair += 256) {
        const int a = (pair >> quarter << (quarter + 1)) + (pair & ((1 << quarter) - 1));
        order(a, a + (1 << quarter));
      }
      __syncthreads();
    }
  }
#pragma unroll 1
  for (int slot = threadIdx.x; slot < block_slots; slot += 256) {
    const long long row = first_row + (slot >> log2);
    const int i = slot & (padded - 1);
    if (row >= p.rows || i >= p.first) continue;
    const int at = p.statistic == First ? slot
                                   : slot + int(position_of(int(p.statistic), p.position, p.length, [&](long long j) {
                                       return Order::has_nan && keys[slot + j] == Key(~Key(0));
                                     }));
    const long long from = row * p.length + positions[at], to = row * p.first + i;
    if (p.values) p.values[to] = p.x[from];
    p.indices[to] = p.origins ? p.origins[from] : positions[at];
  }
}

template <class Order>
struct KeysParams {
  typename Order::Key* keys;
  const typename Order::Element* x;
  unsigned long long flip;
  long long n;
};
template <class Order>
static __device__ __forceinline__ void make_keys(const KeysParams<Order>& p) {
  using Key = typename Order::Key;
#pragma unroll 1
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < p.n; i += gridDim.x * 256ll)
    p.keys[i] = Key(Order::key(p.x[i]) ^ Key(p.flip));
}

// Long rows: by one byte of the keys after the other, the lowest first, each time stable. A block counts the digits of a
// tile, a warp adds up what is before each tile, a block moves a tile (Satish, Harris and Garland, "Designing Efficient
// Sorting Algorithms for Manycore GPUs", 2009).
constexpr int digits = 256, tile_items = 8, tile = 256 * tile_items;

template <class Key>
struct RadixParams {
  Key* keys_to;
  unsigned* positions_to;
  unsigned* counts;  // (rows, digits, tiles)
  unsigned* totals;  // (rows, digits)
  const Key* keys;
  const unsigned* positions;  // null: they are in order
  long long rows, length, tiles, shift;
};

template <class Key>
static __device__ __forceinline__ void count_digits(const RadixParams<Key>& p) {
  __shared__ unsigned counts[digits];
  const long long row = blockIdx.x / p.tiles, in_row = blockIdx.x % p.tiles;
  counts[threadIdx.x] = 0;
  __syncthreads();
  const Key* const keys = p.keys + row * p.length;
#pragma unroll
  for (int item = 0; item < tile_items; ++item) {
    const long long i = in_row * tile + item * 256 + threadIdx.x;
    if (i < p.length) atomicAdd(&counts[keys[i] >> p.shift & (digits - 1)], 1u);
  }
  __syncthreads();
  p.counts[(row * digits + threadIdx.x) * p.tiles + in_row] = counts[threadIdx.x];
}

// A warp for each digit of a row.
template <class Key>
static __device__ __forceinline__ void add_counts(const RadixParams<Key>& p) {
  const long long line = (blockIdx.x * 256ll + threadIdx.x) / 32;  // rows * digits is a multiple of a block's warps
  const int lane = threadIdx.x % 32;
  unsigned* const counts = p.counts + line * p.tiles;
  unsigned before = 0;
#pragma unroll 1
  for (long long first = 0; first < p.tiles; first += 32) {
    const bool there = first + lane < p.tiles;
    const unsigned count = there ? counts[first + lane] : 0;
    unsigned sum = count;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
      const unsigned lower = __shfl_up_sync(~0u, sum, lanes);
      if (lane >= lanes) sum += lower;
    }
    if (there) counts[first + lane] = before + sum - count;
    before += __shfl_sync(~0u, sum, 31);
  }
  if (lane == 0) p.totals[line] = before;
}

template <class Key>
static __device__ __forceinline__ void move_by_digit(const RadixParams<Key>& p) {
  __shared__ unsigned counts[8][digits];  // by warps, then where each warp's elements of a digit go
  __shared__ unsigned warp_totals[8];
  const long long row = blockIdx.x / p.tiles, in_row = blockIdx.x % p.tiles;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int w = 0; w < 8; ++w) counts[w][threadIdx.x] = 0;
  __syncthreads();
  const Key* const keys = p.keys + row * p.length;
  const long long first = in_row * tile + warp * (32 * tile_items) + lane;
  unsigned char digit[tile_items];  // keys are read once more: to hold them takes too many registers
  unsigned place[tile_items];       // among the warp's elements of its digit
#pragma unroll
  for (int item = 0; item < tile_items; ++item) {
    const bool there = first + item * 32 < p.length;
    digit[item] = there ? static_cast<unsigned char>(keys[first + item * 32] >> p.shift) : 0;
    const unsigned peers = __match_any_sync(~0u, there ? unsigned(digit[item]) : unsigned(digits));
    const unsigned lower = __popc(peers & ((1u << lane) - 1)), before = there ? counts[warp][digit[item]] : 0;
    __syncwarp();
    if (there && lower == 0) counts[warp][digit[item]] = before + __popc(peers);
    __syncwarp();
    place[item] = before + lower;
  }
  __syncthreads();
  const unsigned total = p.totals[row * digits + threadIdx.x];
  unsigned sum = total;
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const unsigned lower = __shfl_up_sync(~0u, sum, lanes);
    if (lane >= lanes) sum += lower;
  }
  if (lane == 31) warp_totals[warp] = sum;
  __syncthreads();
  unsigned start = p.counts[(row * digits + threadIdx.x) * p.tiles + in_row] + sum - total;
  for (int w = 0; w < warp; ++w) start += warp_totals[w];
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    const unsigned count = counts[w][threadIdx.x];
    counts[w][threadIdx.x] = start;
    start += count;
  }
  __syncthreads();
#pragma unroll
  for (int item = 0; item < tile_items; ++item) {
    const long long i = first + item * 32;
    if (i >= p.length) continue;
    const long long to = row * p.length + counts[warp][digit[item]] + place[item];
    p.keys_to[to] = keys[i];
    p.positions_to[to] = p.positions ? p.positions[row * p.length + i] : unsigned(i);
  }
}

// What sorted positions say of elements as large as their keys.
template <class Key>
struct GatherParams {
  Key* values;  // may be null
  long long* indices;
  const Key* x;
  const Key* keys;
  const unsigned* positions;
  const long long* origins;  // as for a block
  long long rows, length, first, statistic, position, has_nan;
};
template <class Key>
static __device__ __forceinline__ void gather_sorted(const GatherParams<Key>& p) {
#pragma unroll 1
  for (long long to = blockIdx.x * 256ll + threadIdx.x; to < p.rows * p.first; to += gridDim.x * 256ll) {
    const long long row = to / p.first, i = to - row * p.first;
    const Key* const keys = p.keys + row * p.length;
    const long long at = p.statistic == First ? i
                                         : position_of(int(p.statistic), p.position, p.length, [&](long long j) {
                                             return p.has_nan && keys[j] == Key(~Key(0));
                                           });
    const long long from = row * p.length + p.positions[row * p.length + at];
    if (p.values) p.values[to] = p.x[from];
    p.indices[to] = p.origins ? p.origins[from] : from - row * p.length;
  }
}

// For many long rows, few elements of each requested: a block finds the key at a position, a byte at a time from the
// highest (Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection Algorithms for Graphics Processing Units", 2012),
// then writes what is not above it, in the order of positions.
template <class Order>
struct SelectParams {
  typename Order::Element* values;
  long long* indices;
  const typename Order::Element* x;
  unsigned long long flip;
  long long length, first, statistic, position;
};

// For each thread of a block: the sums up to and before its number, and the sum of all.
struct BlockSum {
  unsigned before, all;
};
static __device__ __forceinline__ BlockSum block_sum(unsigned number) {
  __shared__ unsigned warps[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = number;
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const unsigned lower = __shfl_up_sync(~0u, sum, lanes);
    if (lane >= lanes) sum += lower;
  }
  __syncthreads();  // all threads have read the previous contents
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  BlockSum result = {sum - number, 0};
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    if (w < warp) result.before += warps[w];
    result.all += warps[w];
  }
  return result;
}

template <class Order>
static __device__ __forceinline__ void select_in_row(const SelectParams<Order>& p) {
  using Key = typename Order::Key;
  __shared__ unsigned counts[digits];
  __shared__ unsigned found_digit, found_before;
  const typename Order::Element* const x = p.x + blockIdx.x * p.length;
  const auto key_at = [&](long long i) { return Key(Order::key(x[i]) ^ Key(p.flip)); };
  long long position = p.position;
  if (Order::has_nan && (p.statistic == Median || p.statistic == NanMedian)) {
    unsigned mine = 0;
#pragma unroll 4
    for (long long i = threadIdx.x; i < p.length; i += 256) mine += key_at(i) == Key(~Key(0));
    const long long numbers = p.length - block_sum(mine).all;
    position = position_of(int(p.statistic), 0, p.length, [&](long long i) { return i >= numbers; });
  } else if (p.statistic != First && p.statistic != Kth) {
    position = (p.length - 1) / 2;
  }
  Key prefix = 0, known = 0;
  unsigned rest = unsigned(position);  // elements before the one in question, among those with its known bytes
#pragma unroll 1
  for (int shift = 8 * (sizeof(Key) - 1); shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 4
    for (long long i = threadIdx.x; i < p.length; i += 256) {
      const Key key = key_at(i);
      if (Key(key & known) == prefix) atomicAdd(&counts[key >> shift & (digits - 1)], 1u);
    }
    __syncthreads();
    const unsigned count = counts[threadIdx.x], before = block_sum(count).before;
    if (before <= rest && rest < before + count) found_digit = threadIdx.x, found_before = before;
    __syncthreads();
    prefix = Key(prefix | Key(Key(found_digit) << shift));
    known = Key(known | Key(Key(digits - 1) << shift));
    rest -= found_before;
  }
  // The first ones are those with lower keys, and of equal ones `rest` + 1.
  constexpr int items = 4;
  unsigned lower_before = 0, equal_before = 0;
#pragma unroll 1
  for (long long tile_first = 0; tile_first < p.length; tile_first += 256 * items) {
    const long long at = tile_first + threadIdx.x * items;
    Key key[items];
    unsigned lower = 0, equal = 0;
#pragma unroll
    for (int j = 0; j < items; ++j) {
      key[j] = at + j < p.length ? key_at(at + j) : Key(0);
      lower += at + j < p.length && key[j] < prefix;
      equal += at + j < p.length && key[j] == prefix;
    }
    const BlockSum sum = block_sum(lower | equal << 16);  // of 1024 at most
    unsigned lower_at = lower_before + (sum.before & 0xFFFF), equal_at = equal_before + (sum.before >> 16);
#pragma unroll
    for (int j = 0; j < items; ++j) {
      if (at + j >= p.length || key[j] > prefix) continue;
      const bool is_equal = key[j] == prefix;
      const bool writes = p.statistic == First ? !is_equal || equal_at <= rest : is_equal && equal_at == rest;
      if (writes) {
        const long long to = blockIdx.x * p.first + (p.statistic == First ? lower_at + (equal_at < rest + 1 ? equal_at : rest + 1) : 0);
        p.values[to] = x[at + j];
        p.indices[to] = at + j;
      }
      lower_at += !is_equal;
      equal_at += is_equal;
    }
    lower_before += sum.all & 0xFFFF;
    equal_before += sum.all >> 16;
  }
}
