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
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} sinter_driver;

/* A kernel that is loaded in a context. */
typedef struct sinter_loaded {
  struct sinter_loaded *next;
  const void *context;
  unsigned long long context_id;
  const sinter_variant *variant;
  void *module;
  void *function;
  int64_t shared;                   /* bytes of shared memory that a block may ask for */
} sinter_loaded;

static pthread_once_t sinter_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t sinter_mutex = PTHREAD_MUTEX_INITIALIZER;
static sinter_driver sinter_cuda; /* the four are guarded by the mutex */
static int sinter_driver_state = -1;
static sinter_loaded *sinter_all_loaded;
static const char *sinter_file; /* the file of kernels, if they are not in the program */

/* The driver does not work in a process that is forked from one that has opened it, and some of its functions wait there
 * for ever. The mutex is whole in the child: no other thread holds it while the process forks. */
static void sinter_prepare_fork(void) { pthread_mutex_lock(&sinter_mutex); }
static void sinter_parent_after_fork(void) { pthread_mutex_unlock(&sinter_mutex); }
static void sinter_child_after_fork(void) {
  if (sinter_driver_state == sinter_ok) sinter_driver_state = sinter_after_fork;
  pthread_mutex_unlock(&sinter_mutex);
}
static void sinter_watch_forks(void) {
  pthread_atfork(sinter_prepare_fork, sinter_parent_after_fork, sinter_child_after_fork);
}

static void sinter_lock(void) {
  pthread_once(&sinter_once, sinter_watch_forks);
  pthread_mutex_lock(&sinter_mutex);
}
static void sinter_unlock(void) { pthread_mutex_unlock(&sinter_mutex); }

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
          sinter_find(library, "cuLaunchKernel", &d->launch);
  if (!found) return sinter_old_driver;
  sinter_find(library, "cuCtxGetId", &d->context_id);
  result = d->init(0);
  return result == 0 ? sinter_ok : sinter_driver_failed(result);
}
