#include "sinter.hpp"

namespace {

const bench::Register registered([] {
  if (!bench::options().on_gpu()) bench::add_all_products<bench::sn::Cpu>();
});

}  // namespace
