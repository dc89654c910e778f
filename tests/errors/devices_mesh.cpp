// expect: to a mesh with shard(x, mesh) or replicate(x, mesh)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Sharded<float>& x, const sn::Tensor<float, sn::Cuda<0>>& y, const sn::Sharded<float>& z) {
#ifdef OK
  auto e = (x + 2).exp() * z + sn::shard(y, x.mesh());
#else
  auto e = (x + 2).exp() * y + z;
#endif
  static_cast<void>(e);
}
