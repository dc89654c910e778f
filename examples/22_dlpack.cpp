// Tensors that share memory with other libraries: DLPack, spans, pointers.
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <sinter/sinter.hpp>
#include <vector>

namespace sn = sinter;

/// A function of a C library that takes over a DLManagedTensorVersioned.
void print_and_delete(sn::dlpack::ManagedTensorVersioned* managed) {
  const auto& t = managed->dl_tensor;
  const auto* data = reinterpret_cast<const float*>(static_cast<const char*>(t.data) + t.byte_offset);
  for (std::int64_t i = 0; i < t.shape[0]; ++i)
    for (std::int64_t j = 0; j < t.shape[1]; ++j) std::cout << data[i * t.strides[0] + j * t.strides[1]] << " ";
  std::cout << "\n";
  managed->deleter(managed);
}

int main() {
  auto x = sn::arange<float>(6).reshape({2, 3}).clone();

  // [out]
  print_and_delete(sn::to_dlpack(x.t()).release());  // the consumer calls its deleter
  // [/out]

  // [in]
  sn::DLPack managed = sn::to_dlpack(x);                     // any library's DLManagedTensorVersioned*
  auto shared = sn::from_dlpack<float>(std::move(managed));  // an AnyTensor without <float>
  shared += 10;
  std::cout << x << "\n";
  // [/in]

  // [streams]
  const sn::Stream theirs(0);  // or sn::Stream::from_native(cu_stream, 0)
  sn::Tensor on_gpu = (x * 2).cuda(0);
  auto lent = sn::to_dlpack(on_gpu, {.stream = theirs});             // their stream waits for our work
  auto back = sn::from_dlpack(std::move(lent), {.stream = theirs});  // our work waits for their stream
  std::cout << back.sum() << "\n";
  // [/streams]

  // [memory]
  std::vector<float> values(8);
  std::iota(values.begin(), values.end(), 0.f);
  auto rows = sn::from_span(std::span(values), {2, 4});      // no copy: `values` must stay alive
  auto column = sn::from_blob(values.data() + 1, {2}, {4});  // with strides, in elements
  auto owned = sn::from_blob(new float[3]{1, 2, 3}, {3}, [](float* p) { delete[] p; });
  column *= 100;
  std::cout << rows << "\n" << owned << "\n";
  // [/memory]

  // [read]
  sn::Tensor y = rows + 1;
  for (float& v : y.span()) v = -v;  // of a contiguous tensor on the CPU
  const auto columns = y.t();
  const auto a = columns.accessor<2>();  // with any strides
  std::cout << a(1, 0) << " " << a[3][1] << "\n";
  // [/read]
}
