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
    grid.block = (unsigned)sinter_clamp(sinter_ceil_div(sinter_ceil_div(vectors, v->steps), 32) * 32, 32, v->block);
  grid.tiles = sinter_ceil_div(rows, v->is_across ? teams * v->lanes : teams);
  grid.splits = 1;
  grid.part = 0;
  if (!v->is_split) return grid;
  most = all_threads / v->block / (grid.tiles > 1 ? grid.tiles : 1);
  grid.splits = sinter_clamp(vectors / (v->is_across ? 32 * team : 16384 / v->lanes), 1, most > 1 ? most : 1);
  grid.part = sinter_ceil_div(sinter_ceil_div(vectors, grid.splits), team) * team;
  if (grid.part < 1) grid.part = 1;
  grid.splits = sinter_ceil_div(vectors, grid.part);
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
    const int along = p == 'U' ? 0 : p == 'L' && !v->is_across ? k->reduced - 1 : k->reduced;
    for (d = 0; d < row_ndim; ++d) *word++ = (uint64_t)n->strides[o][d];
    for (d = 0; d < along; ++d) *word++ = (uint64_t)n->strides[o][row_ndim + d];
  }
  return word;
}

static int sinter_launch_rows(const sinter_kernel *k, const sinter_variant *v, const sinter_nest *n,
                              const uint64_t *numbers, int number_count, bool writes_elements,
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
    const int64_t spread = pass + 1 == launches && !writes_elements ? 1 : grid.splits;
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
      *word++ = (uint64_t)pass;
    }
    if (v->row_cache_bytes > 0) *word++ = (uint64_t)row_cache;
    word = sinter_write_rows(word, k, v, n);
    sinter_write_numbers(word, k, numbers, number_count);
    result = sinter_launch_words(&loaded, sinter_clamp(grid.tiles * spread, 1, resident), grid.block,
                                 (unsigned)(row_cache * v->row_cache_bytes), words, call);
    if (result != sinter_ok) return result;
  }
  return sinter_ok;
}
