// expect: a struct that lists its tensors by BOOST_HANA_DEFINE_STRUCT
#include <sinter/data.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;

struct Sample {
#ifdef OK
  BOOST_HANA_DEFINE_STRUCT(Sample, (sn::Tensor<float, sn::Cpu>, image), (sn::Tensor<int, sn::Cpu>, label));
#else
  sn::Tensor<float, sn::Cpu> image;
  sn::Tensor<int, sn::Cpu> label;
#endif
};
struct Images {
  std::int64_t size() const { return 1; }
  Sample operator[](std::int64_t) const { return {sn::zeros({2}), sn::zeros<int>({})}; }
};

void f() { sn::DataLoader loader(Images(), {.batch_size = 2}); }
