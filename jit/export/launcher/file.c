/* ---- The file of kernels ------------------------------------------------------------------------------------------ */

/* Takes these bytes, which then stay, unless others that are the same were taken before. */
static int sinter_take_file(const void *bytes, size_t count, size_t expected, uint64_t hash, bool *is_taken) {
  const unsigned char *const data = (const unsigned char *)bytes;
  uint64_t found = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  size_t i;
  *is_taken = false;
  if (!bytes) return sinter_null_pointer;
  if ((uintptr_t)bytes % 8 != 0) return sinter_misaligned;
  if (count != expected) return sinter_other_file;
  for (i = 0; i < count; ++i) found = (found ^ data[i]) * UINT64_C(0x100000001b3);
  if (found != hash) return sinter_other_file;
  sinter_lock();
  *is_taken = !sinter_file;
  if (*is_taken) sinter_file = (const char *)bytes;
  sinter_unlock();
  return sinter_ok;
}

static int sinter_open_file(const char *path, size_t expected, uint64_t hash) {
  FILE *file;
  char *bytes;
  size_t count;
  bool is_taken = false;
  int result;
  if (!path) return sinter_null_pointer;
  file = fopen(path, "rb");
  if (!file) return sinter_no_file;
  bytes = (char *)malloc(expected + 1); /* one more than there should be */
  if (!bytes) {
    fclose(file);
    return sinter_out_of_memory;
  }
  count = fread(bytes, 1, expected + 1, file);
  result = ferror(file) ? sinter_no_file : sinter_take_file(bytes, count, expected, hash, &is_taken);
  fclose(file);
  if (!is_taken) free(bytes);
  return result;
}
