/* ---- The file of kernels ------------------------------------------------------------------------------------------ */

static void *sinter_allocated_file; /* sinter_file, if it must be freed; guarded by the mutex */

/* Uses these bytes, which must remain valid, unless an identical file is in use. */
static int sinter_use_file(const void *bytes, size_t count, size_t expected, uint64_t hash, bool owns,
                            bool *is_taken) {
  const unsigned char *const data = (const unsigned char *)bytes;
  uint64_t found = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  size_t i;
  *is_taken = false;
  if (!bytes) return sinter_null_pointer;
  if ((uintptr_t)bytes % 8 != 0) return sinter_misaligned;
  if (count != expected) return sinter_file_mismatch;
  for (i = 0; i < count; ++i) found = (found ^ data[i]) * UINT64_C(0x100000001b3);
  if (found != hash) return sinter_file_mismatch;
  sinter_lock();
  *is_taken = !sinter_file;
  if (*is_taken) sinter_file = (const char *)bytes;
  if (*is_taken && owns) sinter_allocated_file = (void *)(uintptr_t)bytes;
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
  if (!file) return sinter_file_unreadable;
  bytes = (char *)malloc(expected + 1); /* one more than there should be */
  if (!bytes) {
    fclose(file);
    return sinter_out_of_memory;
  }
  count = fread(bytes, 1, expected + 1, file);
  result = ferror(file) ? sinter_file_unreadable : sinter_use_file(bytes, count, expected, hash, true, &is_taken);
  fclose(file);
  if (!is_taken) free(bytes);
  return result;
}

/* Modules that are loaded are copies in the driver. */
static void sinter_close_file(void) {
  sinter_lock();
  free(sinter_allocated_file);
  sinter_allocated_file = NULL;
  sinter_file = NULL;
  sinter_unlock();
}
