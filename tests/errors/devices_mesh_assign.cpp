// expect: to a mesh with shard(x, mesh) or replicate(x, mesh)
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Sharded<float>& x, const sn::Tensor<float, sn::Cpu>& y) {
#ifdef OK
  x += sn::replicate(y, x.mesh());
#else
  x += y;
#endif
}
