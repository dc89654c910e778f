/* ---- DLPack ------------------------------------------------------------------------------------------------------- */

/* A DLTensor, whose layout is the same in all versions of DLPack. */
typedef struct {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} sinter_tensor;

enum { sinter_cpu_device = 1, sinter_cuda_device = 2, sinter_pinned = 3, sinter_managed = 13 };

/* Axes behind the first `min_ndim` may be missing. */
static int sinter_check_tensor(const sinter_tensor *t, int code, int bits, int min_ndim, int ndim, bool is_launch) {
  enum { boolean = 6, unsigned_integer = 1 };
  if (!t) return sinter_null_pointer;
  if (t->ndim < min_ndim || t->ndim > ndim || t->bits != bits || t->lanes != 1) return sinter_bad_tensor;
  if (t->code != code && !(code == boolean && t->code == unsigned_integer)) return sinter_bad_tensor;
  if (t->ndim > 0 && !t->shape) return sinter_bad_tensor;
  if (t->byte_offset > UINTPTR_MAX - (uintptr_t)t->data) return sinter_bad_size;
  return t->device_type == sinter_pinned || t->device_type == sinter_managed ||
                 t->device_type == (is_launch ? sinter_cuda_device : sinter_cpu_device)
             ? sinter_ok
             : sinter_wrong_device;
}

/* Whether it has these extents, and where it must be, is contiguous. */
static bool sinter_tensor_fits(const sinter_tensor *t, const int64_t *extents, bool is_contiguous) {
  uint64_t step = 1;
  bool is_empty = false;
  int d;
  for (d = 0; d < t->ndim; ++d) {
    if (t->shape[d] != extents[d]) return false;
    if (extents[d] == 0) is_empty = true;
  }
  for (d = t->ndim - 1; d >= 0 && t->strides && is_contiguous && !is_empty; --d) {
    if (extents[d] != 1 && (uint64_t)t->strides[d] != step) return false;
    step *= (uint64_t)extents[d];
  }
  return true;
}

static void *sinter_tensor_data(const sinter_tensor *t) { return t->data ? (char *)t->data + t->byte_offset : NULL; }
