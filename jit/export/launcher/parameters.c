/* ---- Which variant ------------------------------------------------------------------------------------------------ */

static int64_t sinter_product(const sinter_nest *n, int from, int to) {
  int64_t product = 1;
  for (; from < to; ++from) product *= n->extents[from];
  return product;
}

/* Whether offsets do not fit 31 bits: of all elements, or, in kernels that reduce, of those of a row. */
static bool sinter_needs_wide(const sinter_kernel *k, const sinter_nest *n) {
  const int64_t limit = INT64_C(1) << 31;
  const int from = k->reduces ? k->ndim - k->reduced : 0;
  int o, d;
  if (sinter_product(n, from, k->ndim) >= limit) return true;
  for (o = 0; o < k->operands; ++o) {
    int64_t reach = 0;
    for (d = from; d < k->ndim; ++d) {
      const int64_t stride = n->strides[o][d] < 0 ? -n->strides[o][d] : n->strides[o][d];
      if (stride >= limit) return true;
      reach += n->extents[d] > 0 ? stride * (n->extents[d] - 1) : 0;
      if (reach >= limit) return true;
    }
  }
  return false;
}

/* Whether the variant's vectors can be read and written: along the innermost dim, or across rows. */
static bool sinter_allows_vectors(const sinter_kernel *k, const sinter_nest *n, const sinter_variant *v) {
  const int dim = v->is_row_per_element ? k->ndim - k->reduced - 1 : k->ndim - 1;
  const bool has_tail = k->ndim == 1; /* such a kernel processes the elements past the last vector one by one */
  int o, d;
  if (v->vector_width == 1) return true;
  if (n->extents[dim] < v->vector_width || (!has_tail && n->extents[dim] % v->vector_width != 0)) return false;
  for (o = 0; o < k->operands; ++o) {
    if (n->strides[o][dim] != 1 || k->element_bytes[o] == 0) continue;
    if ((uintptr_t)n->data[o] % ((uintptr_t)v->vector_width * (uintptr_t)k->element_bytes[o]) != 0) return false;
    for (d = 0; d < k->ndim; ++d)
      if (d != dim && n->extents[d] > 1 && n->strides[o][d] % v->vector_width != 0) return false;
  }
  return true;
}

/* ---- Parameters: words of 8 bytes --------------------------------------------------------------------------------- */

static int sinter_log2_ceil(uint64_t d) {
  int log2 = 0;
  while (log2 < 63 && (UINT64_C(1) << log2) < d) ++log2;
  return log2;
}

/* floor((high * 2^64) / d), high < d < 2^63. */
static uint64_t sinter_divide_high(uint64_t high, uint64_t d) {
  uint64_t quotient = 0;
  int bit;
  for (bit = 0; bit < 64; ++bit) {
    high <<= 1;
    quotient <<= 1;
    if (high >= d) {
      high -= d;
      quotient |= 1;
    }
  }
  return quotient;
}

/* An extent and what divides by it: a multiplier and a shift. */
static uint64_t *sinter_write_extent(uint64_t *words, int64_t extent, bool is_wide) {
  const uint64_t d = (uint64_t)(extent > 0 ? extent : 1);
  const int shift = sinter_log2_ceil(d);
  const uint64_t rest = (UINT64_C(1) << shift) - d;
  *words++ = d;
  if (is_wide) {
    *words++ = sinter_divide_high(rest, d) + 1;
    *words++ = (uint64_t)shift;
  } else {
    *words++ = ((rest << 32) / d + 1) | (uint64_t)shift << 32;
  }
  return words;
}

static uint64_t *sinter_write_pointers(uint64_t *words, const sinter_kernel *k, const sinter_nest *n,
                                       const sinter_call *call) {
  int o;
  if (k->may_divide_by_0 || k->takes_indices) *words++ = (uint64_t)(uintptr_t)call->fault;
  for (o = 0; o < k->operands; ++o) *words++ = (uint64_t)(uintptr_t)n->data[o];
  return words;
}

static uint64_t *sinter_write_scalars(uint64_t *words, const sinter_kernel *k, const uint64_t *scalars, int count) {
  if (count > 0) memcpy(words, scalars, (size_t)count * sizeof *words);
  words += count;
  if (k->may_divide_by_0) *words++ = 1; /* the value of the fault word for this error */
  if (k->takes_indices) *words++ = 2;
  return words;
}

static int sinter_launch_words(const sinter_loaded *loaded, int64_t grid, unsigned block, unsigned shared,
                               uint64_t *words, const sinter_call *call) {
  void *parameters[1];
  int result;
  parameters[0] = words;
  result = sinter_cuda.launch(loaded->function, (unsigned)grid, 1, 1, block, 1, 1, shared, call->stream, parameters, NULL);
  return result == 0 ? sinter_ok : sinter_driver_failed(result);
}

static int64_t sinter_clamp(int64_t value, int64_t min, int64_t max) {
  return value < min ? min : value > max ? max : value;
}
static int64_t sinter_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
