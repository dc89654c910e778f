/* Whether the current context is on the tensor's GPU. */
static int sinter_check_device(const sinter_tensor *t) {
  int device = -1, result = sinter_ok;
  void *context;
  unsigned long long context_id;
  if (t->device_type != sinter_cuda_device) return sinter_ok;
  sinter_lock();
  if (sinter_driver_state < 0) sinter_driver_state = sinter_open_driver();
  result = sinter_driver_state;
  if (result == sinter_ok) result = sinter_find_context(&context, &context_id);
  if (result == sinter_ok && (result = sinter_cuda.context_device(&device)) != 0) result = sinter_driver_failed(result);
  sinter_unlock();
  return result == sinter_ok && device != t->device_id ? sinter_wrong_device : result;
}
