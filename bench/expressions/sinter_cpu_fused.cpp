#include "formulas.hpp"
#include "sinter.hpp"

namespace {

const bench::Register registered([] {
  using Library = bench::Sinter<bench::sn::Cpu, true>;
  if (!bench::options().on_gpu()) bench::for_each_formula<Library>(bench::add_sinter<bench::sn::Cpu, true>);
});

}  // namespace
