/* ---- Kernels that reduce ------------------------------------------------------------------------------------------ */

typedef struct {
  unsigned block;                   /* threads */
  int64_t row_blocks;               /* each processed by one block, or by `splits` blocks */
  int64_t splits;                   /* blocks that share a row */
  int64_t vectors_per_split;        /* of a row */
} sinter_grid;

static sinter_grid sinter_row_grid(const sinter_variant *v, int64_t rows, int64_t columns) {
  const int64_t all_threads = 128 * 2048; /* of a nominal large GPU: sums are the same on all GPUs */
  const int64_t vectors = v->is_row_per_element ? columns : columns / v->vector_width;
  const int64_t teams = v->team == 0 ? 1 : v->block / v->team, team = v->team == 0 ? v->block : v->team;
  sinter_grid grid;
  int64_t max;
  grid.block = (unsigned)v->block;
  if (v->team == 0 && v->is_in_registers)
    grid.block = (unsigned)sinter_clamp(
        sinter_ceil_div(sinter_ceil_div(vectors, v->vectors_per_thread), 32) * 32, 32, v->block);
  grid.row_blocks = sinter_ceil_div(rows, v->is_row_per_element ? teams * v->vector_width : teams);
  grid.splits = 1;
  grid.vectors_per_split = 0;
  if (!v->is_split) return grid;
  max = all_threads / v->block / (grid.row_blocks > 1 ? grid.row_blocks : 1);
  grid.splits = sinter_clamp(vectors / (v->is_row_per_element ? 32 * team : 16384 / v->vector_width), 1,
                             max > 1 ? max : 1);
  grid.vectors_per_split = sinter_ceil_div(sinter_ceil_div(vectors, grid.splits), team) * team;
  if (grid.vectors_per_split < 1) grid.vectors_per_split = 1;
  grid.splits = sinter_ceil_div(vectors, grid.vectors_per_split);
  if (grid.splits < 1) grid.splits = 1;
  return grid;
}

static size_t sinter_partial_bytes(const sinter_variant *v, const sinter_grid *grid, int64_t rows, int launch) {
  return ((size_t)rows * (size_t)grid->splits * (size_t)v->partial_bytes[launch] + 255) / 256 * 256;
}

static size_t sinter_all_partial_bytes(const sinter_variant *v, const sinter_grid *grid, int64_t rows) {
  size_t bytes = 0;
  int i;
  for (i = 0; v->is_split && i + 1 < v->launches; ++i) bytes += sinter_partial_bytes(v, grid, rows, i);
  return bytes;
}

/* Elements of each cached input that shared memory holds; 0: the row does not fit. */
static int64_t sinter_row_cache(const sinter_variant *v, int64_t columns, int64_t shared) {
  const int64_t room = shared - v->shared_variables - 1024;
  int64_t extent;
  if (v->row_cache_bytes == 0 || room <= 0 || columns > room / v->row_cache_bytes) return 0;
  extent = (columns + 15) / 16 * 16;
  return extent * v->row_cache_bytes <= room ? extent : 0;
}

static uint64_t *sinter_write_rows(uint64_t *word, const sinter_kernel *k, const sinter_variant *v,
                                   const sinter_nest *n) {
  const int row_ndim = k->ndim - k->reduced;
  int o, d;
  for (d = row_ndim - 1; d >= 1; --d) word = sinter_write_extent(word, n->extents[d], true);
  for (d = k->ndim - 1; d > row_ndim; --d) word = sinter_write_extent(word, n->extents[d], v->is_wide);
  for (o = 0; o < k->operands; ++o) {
    const char p = k->patterns[o];
    const int along = p == 'U' ? 0 : p == 'C' && !v->is_row_per_element ? k->reduced - 1 : k->reduced;
    for (d = 0; d < row_ndim; ++d) *word++ = (uint64_t)n->strides[o][d];
    for (d = 0; d < along; ++d) *word++ = (uint64_t)n->strides[o][row_ndim + d];
  }
  return word;
}

static int sinter_launch_rows(const sinter_kernel *k, const sinter_variant *v, const sinter_nest *n,
                              const uint64_t *scalars, int scalar_count, bool has_final_pass,
                              const sinter_call *call) {
  uint64_t words[sinter_max_words], *word;
  const int row_ndim = k->ndim - k->reduced, launches = v->is_split ? v->launches : 1;
  const int64_t rows = sinter_product(n, 0, row_ndim), columns = sinter_product(n, row_ndim, k->ndim);
  const sinter_grid grid = sinter_row_grid(v, rows, columns);
  sinter_loaded loaded;
  int64_t row_cache;
  int pass, i, result;
  if ((result = sinter_load(v, &loaded)) != sinter_ok) return result;
  row_cache = sinter_row_cache(v, columns, loaded.shared);
  for (pass = 0; pass < launches; ++pass) {
    const int64_t splits_in_launch = pass + 1 == launches && !has_final_pass ? 1 : grid.splits;
    char *partial = call->partials;
    word = sinter_write_pointers(words, k, n, call);
    for (i = 0; v->is_split && i + 1 < v->launches; ++i) {
      *word++ = (uint64_t)(uintptr_t)partial;
      partial += sinter_partial_bytes(v, &grid, rows, i);
    }
    *word++ = (uint64_t)(grid.row_blocks * splits_in_launch);
    *word++ = (uint64_t)rows;
    *word++ = (uint64_t)columns;
    if (v->is_split) {
      *word++ = (uint64_t)grid.splits;
      *word++ = (uint64_t)grid.vectors_per_split;
      *word++ = (uint64_t)splits_in_launch;
      *word++ = (uint64_t)pass;
    }
    if (v->row_cache_bytes > 0) *word++ = (uint64_t)row_cache;
    word = sinter_write_rows(word, k, v, n);
    sinter_write_scalars(word, k, scalars, scalar_count);
    result = sinter_launch_words(&loaded, sinter_clamp(grid.row_blocks * splits_in_launch, 1, sinter_max_blocks), grid.block,
                                 (unsigned)(row_cache * v->row_cache_bytes), words, call);
    if (result != sinter_ok) return result;
  }
  return sinter_ok;
}
