/* The loops of one kernel: extents outermost first, strides in elements, 0 where an operand is broadcast. */
typedef struct {
  int64_t extents[sinter_max_dims];
  void *data[sinter_max_operands];
  int64_t strides[sinter_max_operands][sinter_max_dims];
} sinter_nest;
