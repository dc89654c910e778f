// Generators of random numbers.
#include <sinter/dsl/random.hpp>

#include <fmt/format.h>

#include "convert.hpp"

namespace sinter::python {
namespace {

/// Any integer of 64 bits, with or without a sign.
std::uint64_t seed_from(std::string_view function, nb::handle seed) {
  if (!PyIndex_Check(seed.ptr()) || is_bool(seed)) throw_wrong(function, "seed", "an integer", seed);
  const nb::object whole = index_of(seed);
  int overflow = 0;
  const long long bits = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow == 0) return static_cast<std::uint64_t>(bits);
  const unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(whole.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    throw_overflow(fmt::format("{}: the seed must be an integer of 64 bits, but got {}", function, describe(whole)));
  }
  return wide;
}

}  // namespace

void add_random(nb::module_& m) {
  nb::class_<Generator>(m, "Generator", "A sequence of random numbers of its own, for the argument `generator`.")
      .def(
          "__init__",
          [](Generator* self, const nb::object& seed) {
            if (seed.is_none())
              new (self) Generator();
            else
              new (self) Generator(seed_from("Generator", seed));
          },
          nb::arg("seed") = nb::none())
      .def(
          "manual_seed",
          [](const Generator& g, const nb::object& seed) { g.manual_seed(seed_from("manual_seed", seed)); },
          nb::arg("seed").none(), "Restarts the sequence with a seed.")
      .def_prop_ro("seed", &Generator::seed)
      .def_prop_rw(
          "position", &Generator::position, &Generator::set_position,
          "The number of draws so far; complex numbers take two. Setting it continues the sequence from that draw.");
  m.def(
      "manual_seed", [](const nb::object& seed) { manual_seed(seed_from("manual_seed", seed)); },
      nb::arg("seed").none(),
      "Restarts the sequence that functions without a generator draw from. Without it every run differs.");
}

}  // namespace sinter::python
