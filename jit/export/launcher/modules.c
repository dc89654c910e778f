/* ---- Modules --------------------------------------------------------------------------------------------------- */

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
  const char *bytes;
  int major = 0, minor = 0, shared = 0, variables = 0, result;
  if ((result = d->device_attribute(&major, 75, device)) != 0 ||
      (result = d->device_attribute(&minor, 76, device)) != 0 ||
      (result = d->device_attribute(&shared, 97, device)) != 0)
    return sinter_driver_failed(result);
  image = sinter_image_for(v, 10 * major + minor);
  if (!image) return sinter_wrong_architecture;
  bytes = image->bytes ? (const char *)image->bytes : sinter_file;
  if (!bytes) return sinter_file_not_open;
  result = d->module_load(&to->module, bytes + image->offset);
  if (result == 200 || result == 209) return sinter_wrong_architecture; /* an image that this GPU cannot run */
  if (result != 0) return sinter_driver_failed(result);
  if ((result = d->module_function(&to->function, to->module, v->entry)) == 0 &&
      (result = d->function_attribute(&variables, 1, to->function)) == 0) {
    to->shared = shared;
    if (v->row_cache_bytes > 0 && shared > variables)
      result = d->set_function_attribute(to->function, 8, shared - variables);
  }
  if (result != 0) {
    d->module_unload(to->module);
    return sinter_driver_failed(result);
  }
  return sinter_ok;
}

/* The current context, and an id that distinguishes it from a destroyed context at the same address. */
static int sinter_find_context(void **context, unsigned long long *id) {
  const sinter_driver *const d = &sinter_cuda;
  int result;
  *context = NULL;
  *id = 0;
  if ((result = d->current_context(context)) != 0) return sinter_driver_failed(result);
  if (!*context) return sinter_no_context;
  if (d->context_id && (result = d->context_id(*context, id)) != 0) return sinter_driver_failed(result);
  return sinter_ok;
}

/* The variant in the current context; the mutex is held. */
static int sinter_load_locked(const sinter_variant *v, sinter_loaded *to) {
  const sinter_driver *const d = &sinter_cuda;
  sinter_loaded *known;
  void *context;
  unsigned long long id;
  int result, device = 0;
  if (sinter_driver_state < 0) sinter_driver_state = sinter_open_driver();
  if (sinter_driver_state != sinter_ok) return sinter_driver_state;
  if ((result = sinter_find_context(&context, &id)) != sinter_ok) return result;
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
  sinter_lock();
  result = sinter_load_locked(v, to);
  sinter_unlock();
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

/* Unloads the modules of the current context. Entries of a destroyed context at the same address are dropped. */
static int sinter_unload_locked(void) {
  sinter_loaded **link = &sinter_all_loaded;
  void *context;
  unsigned long long id;
  int result = sinter_ok, unloaded;
  if (sinter_driver_state != sinter_ok) return sinter_ok; /* nothing is loaded */
  if ((result = sinter_find_context(&context, &id)) != sinter_ok) return result;
  while (*link) {
    sinter_loaded *const known = *link;
    if (known->context != context) {
      link = &known->next;
      continue;
    }
    *link = known->next;
    unloaded = known->context_id == id ? sinter_cuda.module_unload(known->module) : 0;
    if (unloaded != 0 && result == sinter_ok) result = sinter_driver_failed(unloaded);
    free(known);
  }
  return result;
}

static int sinter_unload_all(void) {
  int result;
  sinter_lock();
  result = sinter_unload_locked();
  sinter_unlock();
  return result;
}

static const char *sinter_driver_text(int result) {
  const char *text = NULL;
  sinter_lock();
  if (sinter_driver_state == sinter_ok) sinter_cuda.error_string(result, &text);
  sinter_unlock();
  return text ? text : "the CUDA driver reports an error";
}
