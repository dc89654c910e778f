/* ---- What all kernels of this file share -------------------------------------------------------------------------
 *
 * The CUDA driver is opened when the first kernel is launched, modules are loaded when they are first needed, once for
 * each context. All of it is static: two files of this kind in one program do not know of each other. */

typedef struct {
  int architecture;                 /* 90: compute capability 9.0 */
  bool is_ptx;                      /* text that the driver compiles; else a cubin */
  const unsigned long long *bytes;
} sinter_image;

/* One compiled form of a kernel. */
typedef struct {
  const char *entry;
  const sinter_image *images;
  int image_count;
  int lanes;                        /* elements that a thread handles at once, as one vector */
  bool is_wide;                     /* 64-bit indices */
  /* Of a kernel that reduces: which threads walk a row. */
  bool is_across;                   /* lanes are rows, which are neighbours in memory; else elements of a row */
  int team;                         /* threads that share a row; 0: the whole block */
  int block;                        /* threads of a block */
  int steps;                        /* vectors that each of them reads at once */
  bool is_kept;                     /* which are the whole row */
  bool is_split;                    /* several blocks share a row: one launch for each walk, parts in the workspace */
  int launches;
  const int *part_bytes;            /* of each launch but the last: what it leaves of a part of a row */
  int stash_bytes;                  /* of shared memory for each element of a row, where that stays there; else 0 */
  int shared_variables;             /* bytes of the block's other shared memory */
} sinter_variant;

/* The first rule that fits decides. */
typedef struct {
  int64_t rows, columns;            /* at most */
  const sinter_variant *variant;
} sinter_rule;

typedef struct {
  int outputs, operands;            /* operands: outputs, then inputs */
  int rank, combined;               /* dims of the loops; how many of them, the innermost ones, are combined */
  bool reduces;
  bool may_fault;                   /* may divide an integer by 0 */
  const char *patterns;             /* of each operand. L: all elements follow each other, R: those of the innermost dim
                                       do, r: one for each of these, U: one for all, S: strided */
  const int *element_bytes;
  const sinter_rule *rules;
  int rule_count;
} sinter_kernel;

/* The loops of one launch: extents outermost first, strides in elements, 0 where an operand is broadcast. */
typedef struct {
  int64_t extents[sinter_max_dims];
  void *data[sinter_max_operands];
  int64_t strides[sinter_max_operands][sinter_max_dims];
} sinter_nest;

typedef struct {
  void *stream;
  uint32_t *fault;
  char *parts;                      /* of rows that blocks share */
  size_t part_bytes;
} sinter_call;

/* ---- Arguments ---------------------------------------------------------------------------------------------------- */

typedef struct {
  uintptr_t low, high;
} sinter_range;

/* Elements of an array; -1 where an extent is negative, or more bytes are asked for than memory can have. */
static int64_t sinter_count(int rank, const int64_t *extents, int element_bytes) {
  int64_t count = 1, most = INT64_MAX / 1024 / element_bytes; /* sums of some do not overflow either */
  int d;
  for (d = 0; d < rank; ++d)
    if (extents[d] < 0) return -1;
  for (d = 0; d < rank; ++d)
    if (extents[d] == 0) return 0;
  for (d = 0; d < rank; ++d) {
    if (extents[d] > most / count) return -1;
    count *= extents[d];
  }
  return count;
}

/* Checks an array and finds where its bytes lie. Strides are in elements; NULL: contiguous. */
static int sinter_check_array(const void *data, int element_bytes, int rank, const int64_t *extents,
                              const int64_t *strides, sinter_range *range) {
  const int64_t count = sinter_count(rank, extents, element_bytes);
  int64_t below = 0, above = 0;
  int d;
  range->low = range->high = (uintptr_t)data;
  if (count < 0) return sinter_bad_size;
  if (count == 0) return sinter_ok;
  if (!data) return sinter_null_pointer;
  if ((uintptr_t)data % (uintptr_t)element_bytes != 0) return sinter_misaligned;
  if (!strides) above = count - 1;
  for (d = 0; strides && d < rank; ++d) {
    const int64_t most = INT64_MAX / 16 / element_bytes, steps = extents[d] - 1;
    if (strides[d] < -most || strides[d] > most) return sinter_bad_size;
    if (steps > 0 && (strides[d] < 0 ? -strides[d] : strides[d]) > most / steps) return sinter_bad_size;
    if (strides[d] < 0)
      below -= steps * strides[d];
    else
      above += steps * strides[d];
    if (below > most || above > most) return sinter_bad_size;
  }
  if (range->low < (uintptr_t)below * (uintptr_t)element_bytes) return sinter_bad_size;
  range->low -= (uintptr_t)below * (uintptr_t)element_bytes;
  range->high += ((uintptr_t)above + 1) * (uintptr_t)element_bytes;
  return range->high < range->low ? sinter_bad_size : sinter_ok;
}

/* ---- The driver --------------------------------------------------------------------------------------------------- */

typedef struct {
  int (*init)(unsigned);
  int (*error_string)(int, const char **);
  int (*current_context)(void **);
  int (*context_id)(void *, unsigned long long *); /* null before CUDA 12 */
  int (*context_device)(int *);
  int (*device_attribute)(int *, int, int);
  int (*module_load)(void **, const void *);
  int (*module_unload)(void *);
  int (*module_function)(void **, void *, const char *);
  int (*function_attribute)(int *, int, void *);
  int (*set_function_attribute)(void *, int, int);
  int (*resident_blocks)(int *, void *, int, size_t);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} sinter_driver;

/* A kernel that is loaded in a context. */
typedef struct sinter_loaded {
  struct sinter_loaded *next;
  const void *context;
  unsigned long long context_id;
  const sinter_variant *variant;
  void *function;
  int64_t blocks;                   /* that the GPU runs at once */
  int64_t shared;                   /* bytes of shared memory that a block may ask for */
} sinter_loaded;

static pthread_mutex_t sinter_mutex = PTHREAD_MUTEX_INITIALIZER;
static sinter_driver sinter_cuda; /* the three are guarded by the mutex */
static int sinter_driver_state = -1;
static sinter_loaded *sinter_all_loaded;

static int sinter_driver_failed(int result) {
  return result == 2 ? sinter_out_of_memory : sinter_driver_error + result;
}

static bool sinter_find(void *library, const char *name, void *function) {
  void *const found = dlsym(library, name);
  memcpy(function, &found, sizeof found); /* ISO C has no cast from a pointer to data to one to a function */
  return found != NULL;
}

static int sinter_open_driver(void) {
  void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  sinter_driver *const d = &sinter_cuda;
  int result;
  bool found;
  if (!library) return sinter_no_driver;
  found = sinter_find(library, "cuInit", &d->init) && sinter_find(library, "cuGetErrorString", &d->error_string) &&
          sinter_find(library, "cuCtxGetCurrent", &d->current_context) &&
          sinter_find(library, "cuCtxGetDevice", &d->context_device) &&
          sinter_find(library, "cuDeviceGetAttribute", &d->device_attribute) &&
          sinter_find(library, "cuModuleLoadData", &d->module_load) &&
          sinter_find(library, "cuModuleUnload", &d->module_unload) &&
          sinter_find(library, "cuModuleGetFunction", &d->module_function) &&
          sinter_find(library, "cuFuncGetAttribute", &d->function_attribute) &&
          sinter_find(library, "cuFuncSetAttribute", &d->set_function_attribute) &&
          sinter_find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", &d->resident_blocks) &&
          sinter_find(library, "cuLaunchKernel", &d->launch);
  if (!found) return sinter_old_driver;
  sinter_find(library, "cuCtxGetId", &d->context_id);
  result = d->init(0);
  return result == 0 ? sinter_ok : sinter_driver_failed(result);
}

/* The image for an architecture: a binary of the same major version, the newest that the GPU runs, else PTX. */
static const sinter_image *sinter_image_for(const sinter_variant *v, int architecture) {
  const sinter_image *best = NULL;
  int i;
  for (i = 0; i < v->image_count; ++i) {
    const sinter_image *const image = &v->images[i];
    if (image->architecture > architecture) continue;
    if (!image->is_ptx && image->architecture / 10 != architecture / 10) continue;
    if (!best || (best->is_ptx && !image->is_ptx) ||
        (best->is_ptx == image->is_ptx && best->architecture < image->architecture))
      best = image;
  }
  return best;
}

static int sinter_load_image(const sinter_variant *v, int device, sinter_loaded *to) {
  const sinter_driver *const d = &sinter_cuda;
  const sinter_image *image;
  void *module = NULL;
  int major = 0, minor = 0, processors = 0, resident = 0, shared = 0, variables = 0, result;
  if ((result = d->device_attribute(&major, 75, device)) != 0 ||
      (result = d->device_attribute(&minor, 76, device)) != 0 ||
      (result = d->device_attribute(&processors, 16, device)) != 0 ||
      (result = d->device_attribute(&shared, 97, device)) != 0)
    return sinter_driver_failed(result);
  image = sinter_image_for(v, 10 * major + minor);
  if (!image) return sinter_wrong_architecture;
  result = d->module_load(&module, image->bytes);
  if (result == 200 || result == 209) return sinter_wrong_architecture; /* an image that this GPU cannot run */
  if (result != 0) return sinter_driver_failed(result);
  if ((result = d->module_function(&to->function, module, v->entry)) == 0 &&
      (result = d->function_attribute(&variables, 1, to->function)) == 0 &&
      (result = d->resident_blocks(&resident, to->function, v->block, 0)) == 0) {
    to->shared = shared;
    if (v->stash_bytes > 0 && shared > variables)
      result = d->set_function_attribute(to->function, 8, shared - variables);
  }
  if (result != 0) {
    d->module_unload(module);
    return sinter_driver_failed(result);
  }
  to->blocks = (int64_t)processors * (resident > 0 ? resident : 1);
  return sinter_ok;
}

/* The variant in the current context; the mutex is held. */
static int sinter_load_locked(const sinter_variant *v, sinter_loaded *to) {
  const sinter_driver *const d = &sinter_cuda;
  sinter_loaded *known;
  void *context = NULL;
  unsigned long long id = 0; /* else a context that is destroyed and another one at its place would be the same */
  int result, device = 0;
  if (sinter_driver_state < 0) sinter_driver_state = sinter_open_driver();
  if (sinter_driver_state != sinter_ok) return sinter_driver_state;
  if ((result = d->current_context(&context)) != 0) return sinter_driver_failed(result);
  if (!context) return sinter_no_context;
  if (d->context_id && (result = d->context_id(context, &id)) != 0) return sinter_driver_failed(result);
  for (known = sinter_all_loaded; known; known = known->next)
    if (known->variant == v && known->context == context && known->context_id == id) {
      *to = *known;
      return sinter_ok;
    }
  if ((result = d->context_device(&device)) != 0) return sinter_driver_failed(result);
  known = (sinter_loaded *)malloc(sizeof *known);
  if (!known) return sinter_out_of_memory;
  result = sinter_load_image(v, device, known);
  if (result != sinter_ok) {
    free(known);
    return result;
  }
  known->context = context;
  known->context_id = id;
  known->variant = v;
  known->next = sinter_all_loaded;
  sinter_all_loaded = known;
  *to = *known;
  return sinter_ok;
}

static int sinter_load(const sinter_variant *v, sinter_loaded *to) {
  int result;
  pthread_mutex_lock(&sinter_mutex);
  result = sinter_load_locked(v, to);
  pthread_mutex_unlock(&sinter_mutex);
  return result;
}

static int sinter_load_all(const sinter_kernel *const *kernels, int count) {
  sinter_loaded loaded;
  int k, r, result;
  for (k = 0; k < count; ++k)
    for (r = 0; r < kernels[k]->rule_count; ++r)
      if ((result = sinter_load(kernels[k]->rules[r].variant, &loaded)) != sinter_ok) return result;
  return sinter_ok;
}

static const char *sinter_driver_text(int result) {
  const char *text = NULL;
  pthread_mutex_lock(&sinter_mutex);
  if (sinter_driver_state == sinter_ok) sinter_cuda.error_string(result, &text);
  pthread_mutex_unlock(&sinter_mutex);
  return text ? text : "the CUDA driver reports an error";
}

/* ---- Which variant ------------------------------------------------------------------------------------------------ */

static int64_t sinter_product(const sinter_nest *n, int from, int to) {
  int64_t product = 1;
  for (; from < to; ++from) product *= n->extents[from];
  return product;
}

/* Whether offsets do not fit 31 bits: of all elements, or, where rows are walked, of those of a row. */
static bool sinter_needs_wide(const sinter_kernel *k, const sinter_nest *n) {
  const int64_t limit = INT64_C(1) << 31;
  const int from = k->reduces ? k->rank - k->combined : 0;
  int o, d;
  if (sinter_product(n, from, k->rank) >= limit) return true;
  for (o = 0; o < k->operands; ++o) {
    int64_t reach = 0;
    for (d = from; d < k->rank; ++d) {
      const int64_t stride = n->strides[o][d] < 0 ? -n->strides[o][d] : n->strides[o][d];
      if (stride >= limit) return true;
      reach += n->extents[d] > 0 ? stride * (n->extents[d] - 1) : 0;
      if (reach >= limit) return true;
    }
  }
  return false;
}

/* Whether vectors of so many lanes can be read and written. Lanes lie along the innermost dim, or across rows. */
static bool sinter_has_lanes(const sinter_kernel *k, const sinter_nest *n, const sinter_variant *v) {
  const int dim = v->is_across ? k->rank - k->combined - 1 : k->rank - 1;
  const bool has_tail = k->rank == 1; /* such a kernel does the elements past the last vector one by one */
  int o, d;
  if (v->lanes == 1) return true;
  if (n->extents[dim] < v->lanes || (!has_tail && n->extents[dim] % v->lanes != 0)) return false;
  for (o = 0; o < k->operands; ++o) {
    if (n->strides[o][dim] != 1) continue;
    if ((uintptr_t)n->data[o] % ((uintptr_t)v->lanes * (uintptr_t)k->element_bytes[o]) != 0) return false;
    for (d = 0; d < k->rank; ++d)
      if (d != dim && n->extents[d] > 1 && n->strides[o][d] % v->lanes != 0) return false;
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
  if (k->may_fault) *words++ = (uint64_t)(uintptr_t)call->fault;
  for (o = 0; o < k->operands; ++o) *words++ = (uint64_t)(uintptr_t)n->data[o];
  return words;
}

static uint64_t *sinter_write_numbers(uint64_t *words, const sinter_kernel *k, const uint64_t *numbers, int count) {
  if (count > 0) memcpy(words, numbers, (size_t)count * sizeof *words);
  words += count;
  if (k->may_fault) *words++ = 1; /* what a kernel that divides by 0 sets the fault to */
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

static int64_t sinter_clamp(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}
static int64_t sinter_over(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* ---- Kernels that work element by element ------------------------------------------------------------------------- */

static int sinter_launch_elements(const sinter_kernel *k, const sinter_variant *v, const sinter_nest *n,
                                  const uint64_t *numbers, int number_count, const sinter_call *call) {
  uint64_t words[sinter_max_words], *word;
  const int64_t count = sinter_product(n, 0, k->rank);
  const int inner = k->rank - 1;
  sinter_loaded loaded;
  int64_t threads;
  int o, d, result;
  if ((result = sinter_load(v, &loaded)) != sinter_ok) return result;
  word = sinter_write_pointers(words, k, n, call);
  *word++ = (uint64_t)(k->rank == 1 ? count : count / v->lanes);
  for (d = inner; d >= 1; --d)
    word = sinter_write_extent(word, d == inner ? n->extents[d] / v->lanes : n->extents[d], v->is_wide);
  for (o = 0; o < k->operands; ++o) {
    const char p = k->patterns[o];
    const int strides = p == 'S' ? k->rank : p == 'R' || p == 'r' ? k->rank - 1 : 0;
    for (d = 0; d < strides; ++d) *word++ = (uint64_t)n->strides[o][d];
  }
  sinter_write_numbers(word, k, numbers, number_count);
  threads = count >= v->lanes ? count / v->lanes : count;
  return sinter_launch_words(&loaded, sinter_clamp(sinter_over(threads, v->block), 1, loaded.blocks), (unsigned)v->block,
                             0, words, call);
}

/* ---- Kernels that reduce ------------------------------------------------------------------------------------------ */

typedef struct {
  unsigned block;                   /* threads */
  int64_t tiles;                    /* sets of rows that a block handles together */
  int64_t splits;                   /* blocks that share a row */
  int64_t part;                     /* vectors of each */
} sinter_grid;

static sinter_grid sinter_row_grid(const sinter_variant *v, int64_t rows, int64_t columns) {
  const int64_t all_threads = 128 * 2048; /* of a large GPU: sums are the same on all */
  const int64_t vectors = v->is_across ? columns : columns / v->lanes;
  const int64_t teams = v->team == 0 ? 1 : v->block / v->team, team = v->team == 0 ? v->block : v->team;
  sinter_grid grid;
  int64_t most;
  grid.block = (unsigned)v->block;
  if (v->team == 0 && v->is_kept)
    grid.block = (unsigned)sinter_clamp(sinter_over(sinter_over(vectors, v->steps), 32) * 32, 32, v->block);
  grid.tiles = sinter_over(rows, v->is_across ? teams * v->lanes : teams);
  grid.splits = 1;
  grid.part = 0;
  if (!v->is_split) return grid;
  most = all_threads / v->block / (grid.tiles > 1 ? grid.tiles : 1);
  grid.splits = sinter_clamp(vectors / (v->is_across ? 32 * team : 16384 / v->lanes), 1, most > 1 ? most : 1);
  grid.part = sinter_over(sinter_over(vectors, grid.splits), team) * team;
  if (grid.part < 1) grid.part = 1;
  grid.splits = sinter_over(vectors, grid.part);
  if (grid.splits < 1) grid.splits = 1;
  return grid;
}

static size_t sinter_part_bytes(const sinter_variant *v, const sinter_grid *grid, int64_t rows, int launch) {
  return ((size_t)rows * (size_t)grid->splits * (size_t)v->part_bytes[launch] + 255) / 256 * 256;
}

static size_t sinter_all_part_bytes(const sinter_variant *v, const sinter_grid *grid, int64_t rows) {
  size_t bytes = 0;
  int i;
  for (i = 0; v->is_split && i + 1 < v->launches; ++i) bytes += sinter_part_bytes(v, grid, rows, i);
  return bytes;
}

/* Elements of a row that each input may leave in shared memory; 0: the row does not fit. */
static int64_t sinter_stash(const sinter_variant *v, int64_t columns, int64_t shared) {
  const int64_t room = shared - v->shared_variables - 1024;
  int64_t extent;
  if (v->stash_bytes == 0 || room <= 0 || columns > room / v->stash_bytes) return 0;
  extent = (columns + 15) / 16 * 16;
  return extent * v->stash_bytes <= room ? extent : 0;
}

static uint64_t *sinter_write_rows(uint64_t *word, const sinter_kernel *k, const sinter_variant *v,
                                   const sinter_nest *n) {
  const int row_rank = k->rank - k->combined;
  int o, d;
  for (d = row_rank - 1; d >= 1; --d) word = sinter_write_extent(word, n->extents[d], true);
  for (d = k->rank - 1; d > row_rank; --d) word = sinter_write_extent(word, n->extents[d], v->is_wide);
  for (o = 0; o < k->operands; ++o) {
    const char p = k->patterns[o];
    const int along = p == 'U' ? 0 : p == 'L' && !v->is_across ? k->combined - 1 : k->combined;
    for (d = 0; d < row_rank; ++d) *word++ = (uint64_t)n->strides[o][d];
    for (d = 0; d < along; ++d) *word++ = (uint64_t)n->strides[o][row_rank + d];
  }
  return word;
}

static int sinter_launch_rows(const sinter_kernel *k, const sinter_variant *v, const sinter_nest *n,
                              const uint64_t *numbers, int number_count, bool writes_elements,
                              const sinter_call *call) {
  uint64_t words[sinter_max_words], *word;
  const int row_rank = k->rank - k->combined, launches = v->is_split ? v->launches : 1;
  const int64_t rows = sinter_product(n, 0, row_rank), columns = sinter_product(n, row_rank, k->rank);
  const sinter_grid grid = sinter_row_grid(v, rows, columns);
  sinter_loaded loaded;
  int64_t stash;
  int walk, i, result;
  if ((result = sinter_load(v, &loaded)) != sinter_ok) return result;
  stash = sinter_stash(v, columns, loaded.shared);
  for (walk = 0; walk < launches; ++walk) {
    const int64_t spread = walk + 1 == launches && !writes_elements ? 1 : grid.splits;
    const int64_t resident = loaded.blocks * v->block / (int64_t)grid.block;
    char *part = call->parts;
    word = sinter_write_pointers(words, k, n, call);
    for (i = 0; v->is_split && i + 1 < v->launches; ++i) {
      *word++ = (uint64_t)(uintptr_t)part;
      part += sinter_part_bytes(v, &grid, rows, i);
    }
    *word++ = (uint64_t)(grid.tiles * spread);
    *word++ = (uint64_t)rows;
    *word++ = (uint64_t)columns;
    if (v->is_split) {
      *word++ = (uint64_t)grid.splits;
      *word++ = (uint64_t)grid.part;
      *word++ = (uint64_t)spread;
      *word++ = (uint64_t)walk;
    }
    if (v->stash_bytes > 0) *word++ = (uint64_t)stash;
    word = sinter_write_rows(word, k, v, n);
    sinter_write_numbers(word, k, numbers, number_count);
    result = sinter_launch_words(&loaded, sinter_clamp(grid.tiles * spread, 1, resident), grid.block,
                                 (unsigned)(stash * v->stash_bytes), words, call);
    if (result != sinter_ok) return result;
  }
  return sinter_ok;
}

/* ---- Any kernel --------------------------------------------------------------------------------------------------- */

/* Whether a rule fits; `parts` says how much room there is for parts of rows. */
static bool sinter_fits(const sinter_kernel *k, const sinter_nest *n, const sinter_rule *rule, bool is_wide,
                        size_t parts) {
  const int row_rank = k->rank - k->combined;
  const sinter_variant *const v = rule->variant;
  int64_t rows, columns;
  sinter_grid grid;
  if (is_wide && !v->is_wide) return false;
  if (!k->reduces) return sinter_has_lanes(k, n, v);
  rows = sinter_product(n, 0, row_rank);
  columns = sinter_product(n, row_rank, k->rank);
  if (rows > rule->rows || columns > rule->columns || !sinter_has_lanes(k, n, v)) return false;
  grid = sinter_row_grid(v, rows, columns);
  return sinter_all_part_bytes(v, &grid, rows) <= parts;
}

static int sinter_launch(const sinter_kernel *k, const sinter_nest *n, const uint64_t *numbers, int number_count,
                         bool writes_elements, const sinter_call *call) {
  const bool is_wide = sinter_needs_wide(k, n);
  int r;
  for (r = 0; r < k->rule_count; ++r) {
    const sinter_rule *const rule = &k->rules[r];
    if (!sinter_fits(k, n, rule, is_wide, call->part_bytes)) continue;
    return k->reduces ? sinter_launch_rows(k, rule->variant, n, numbers, number_count, writes_elements, call)
                      : sinter_launch_elements(k, rule->variant, n, numbers, number_count, call);
  }
  return sinter_bad_size; /* not reached: the last rule fits everything */
}
