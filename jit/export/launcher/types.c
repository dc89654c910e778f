/* ---- Kernels for GPUs ----------------------------------------------------------------------------------------------
 *
 * The CUDA driver is opened when the first kernel is launched, modules are loaded when they are first needed, once for
 * each context. All of it is static: two files of this kind in one program do not know of each other. */

typedef struct {
  int architecture;                 /* 90: compute capability 9.0 */
  bool is_ptx;                      /* text that the driver compiles; else a cubin */
  const unsigned long long *bytes;  /* NULL: they are in the file of kernels */
  size_t offset;                    /* there */
} sinter_image;

/* One compiled form of a kernel. */
typedef struct {
  const char *entry;
  const sinter_image *images;
  int image_count;
  int vector_width;                 /* elements that a thread loads and computes together */
  bool is_wide;                     /* 64-bit indices */
  /* Of a kernel that reduces: which threads process a row. */
  bool is_row_per_element;          /* each vector element is its own row: rows are adjacent in memory */
  int team;                         /* threads that share a row; 0: the whole block */
  int block;                        /* threads of a block */
  int vectors_per_thread;           /* loaded before the first one is used */
  bool is_in_registers;             /* those vectors are the whole row */
  bool is_split;                    /* several blocks share a row: one launch per pass, with a workspace */
  int launches;
  const int *partial_bytes;         /* of each launch except the last: the size of a partial result */
  int row_cache_bytes;              /* of shared memory per element of a row, if rows are cached; else 0 */
  int shared_variables;             /* bytes of the block's other shared memory */
} sinter_variant;

/* The first rule that fits decides. */
typedef struct {
  int64_t rows, columns;            /* at most */
  const sinter_variant *variant;
} sinter_rule;

typedef struct {
  int outputs, operands;            /* operands: outputs, then inputs */
  int ndim, reduced;               /* dims of the loops; how many of them, the innermost ones, are reduced */
  bool reduces;
  bool may_divide_by_0;             /* an integer */
  bool takes_indices;               /* which may be outside their axis */
  const char *patterns;             /* by operand. C: contiguous, I: contiguous along the innermost dim,
                                       B: broadcast along it, U: one element for all, S: strided */
  const int *element_bytes;         /* 0 for an iota, whose elements are their own positions */
  const sinter_rule *rules;
  int rule_count;
} sinter_kernel;

typedef struct {
  void *stream;
  uint32_t *fault;
  char *partials;                   /* partial results of rows that blocks share */
  size_t partial_bytes;
} sinter_call;
