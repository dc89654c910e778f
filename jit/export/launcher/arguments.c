/* ---- Arguments ---------------------------------------------------------------------------------------------------- */

typedef struct {
  uintptr_t low, high;
} sinter_range;

/* Elements of an array; -1 where an extent is negative, or more bytes are asked for than memory can have. */
static int64_t sinter_count(int ndim, const int64_t *extents, int element_bytes) {
  int64_t count = 1, max = INT64_MAX / 1024 / element_bytes; /* sums of some do not overflow either */
  int d;
  for (d = 0; d < ndim; ++d)
    if (extents[d] < 0) return -1;
  for (d = 0; d < ndim; ++d)
    if (extents[d] == 0) return 0;
  for (d = 0; d < ndim; ++d) {
    if (extents[d] > max / count) return -1;
    count *= extents[d];
  }
  return count;
}

/* Checks an array and finds where its bytes lie. Strides are in elements; NULL: contiguous. */
static int sinter_check_array(const void *data, int element_bytes, int alignment, int ndim, const int64_t *extents,
                              const int64_t *strides, sinter_range *range) {
  const int64_t count = sinter_count(ndim, extents, element_bytes);
  int64_t below = 0, above = 0;
  int d;
  range->low = range->high = (uintptr_t)data;
  if (count < 0) return sinter_bad_size;
  if (count == 0) return sinter_ok;
  if (!data) return sinter_null_pointer;
  if ((uintptr_t)data % (uintptr_t)alignment != 0) return sinter_misaligned;
  if (!strides) above = count - 1;
  for (d = 0; strides && d < ndim; ++d) {
    const int64_t max = INT64_MAX / 16 / element_bytes, steps = extents[d] - 1;
    if (strides[d] < -max || strides[d] > max) return sinter_bad_size;
    if (steps > 0 && (strides[d] < 0 ? -strides[d] : strides[d]) > max / steps) return sinter_bad_size;
    if (strides[d] < 0)
      below -= steps * strides[d];
    else
      above += steps * strides[d];
    if (below > max || above > max) return sinter_bad_size;
  }
  if (range->low < (uintptr_t)below * (uintptr_t)element_bytes) return sinter_bad_size;
  range->low -= (uintptr_t)below * (uintptr_t)element_bytes;
  range->high += ((uintptr_t)above + 1) * (uintptr_t)element_bytes;
  return range->high < range->low ? sinter_bad_size : sinter_ok;
}
