/* ---- Any kernel --------------------------------------------------------------------------------------------------- */

/* Whether a rule applies, given the room for partial results. */
static bool sinter_rule_applies(const sinter_kernel *k, const sinter_nest *n, const sinter_rule *rule, bool is_wide,
                                size_t partial_bytes) {
  const int row_ndim = k->ndim - k->reduced;
  const sinter_variant *const v = rule->variant;
  int64_t rows, columns;
  sinter_grid grid;
  if (is_wide && !v->is_wide) return false;
  if (!k->reduces) return sinter_allows_vectors(k, n, v);
  rows = sinter_product(n, 0, row_ndim);
  columns = sinter_product(n, row_ndim, k->ndim);
  if (rows > rule->rows || columns > rule->columns || !sinter_allows_vectors(k, n, v)) return false;
  grid = sinter_row_grid(v, rows, columns);
  return sinter_all_partial_bytes(v, &grid, rows) <= partial_bytes;
}

static int sinter_launch(const sinter_kernel *k, const sinter_nest *n, const uint64_t *scalars, int scalar_count,
                         bool has_final_pass, const sinter_call *call) {
  const bool is_wide = sinter_needs_wide(k, n);
  int r;
  for (r = 0; r < k->rule_count; ++r) {
    const sinter_rule *const rule = &k->rules[r];
    if (!sinter_rule_applies(k, n, rule, is_wide, call->partial_bytes)) continue;
    return k->reduces ? sinter_launch_rows(k, rule->variant, n, scalars, scalar_count, has_final_pass, call)
                      : sinter_launch_elements(k, rule->variant, n, scalars, scalar_count, call);
  }
  return sinter_bad_size; /* not reached: the last rule fits everything */
}
