/* ---- Kernels that work element by element ------------------------------------------------------------------------- */

static int sinter_launch_elements(const sinter_kernel *k, const sinter_variant *v, const sinter_nest *n,
                                  const uint64_t *scalars, int scalar_count, const sinter_call *call) {
  uint64_t words[sinter_max_words], *word;
  const int64_t count = sinter_product(n, 0, k->ndim);
  sinter_loaded loaded;
  int64_t threads;
  int o, d, result;
  if ((result = sinter_load(v, &loaded)) != sinter_ok) return result;
  word = sinter_write_pointers(words, k, n, call);
  *word++ = (uint64_t)count;
  for (d = k->ndim - 1; d >= 1; --d) word = sinter_write_extent(word, n->extents[d], v->is_wide);
  for (o = 0; o < k->operands; ++o) {
    const char p = k->patterns[o];
    const int strides = p == 'S' ? k->ndim : p == 'I' || p == 'B' ? k->ndim - 1 : 0;
    for (d = 0; d < strides; ++d) *word++ = (uint64_t)n->strides[o][d];
  }
  sinter_write_scalars(word, k, scalars, scalar_count);
  threads = count >= v->vector_width ? count / v->vector_width : count;
  return sinter_launch_words(&loaded, sinter_clamp(sinter_ceil_div(threads, v->block), 1, sinter_max_blocks), (unsigned)v->block,
                             0, words, call);
}
