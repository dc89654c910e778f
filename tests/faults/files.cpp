// Tensors in files.
#include <filesystem>

#include "scenario.hpp"

namespace sinter::faults {
namespace {

namespace sn = sinter;

sn::StateDict state(float first) {
  sn::StateDict all;
  all["weight"] = sn::tensor({{first, 2.f}, {3.f, 4.f}});
  all["steps"] = sn::full<std::int64_t>({}, 100);
  return all;
}
void expect_state(const sn::StateDict& all, const char* what, bool may_be_old = false) {
  const auto weight = all.at("weight").as<float>();
  const bool is_old = may_be_old && weight.to_vector()[0] == -1;
  expect_values(weight, {is_old ? -1. : 1., 2, 3, 4}, what);
  expect(all.at("steps").as<std::int64_t>().item() == 100, what);
}

void save_old_npy() { sn::save_npy("x.npy", sn::tensor({-1.f, -2.f})); }
void npy() {
  sn::save_npy("x.npy", sn::tensor({1.f, 2.f, 3.f}));
  expect_values(sn::load_npy<float>("x.npy"), {1, 2, 3}, "x.npy as float32");
  expect(sn::equal(sn::load_npy("x.npy", sn::Device(1)), sn::tensor({1.f, 2.f, 3.f}).cuda(1)), "x.npy on a GPU");
  sn::save_npy("t.npy", sn::tensor({{1, 2}, {3, 4}}).t());
  expect_values(sn::load_npy<std::int64_t>("t.npy"), {1, 3, 2, 4}, "t.npy, of columns");
}
void look_at_npy() {
  const auto x = sn::load_npy<float>("x.npy");
  if (x.numel() == 2) return expect_values(x, {-1, -2}, "x.npy as it was");
  expect_values(x, {1, 2, 3}, "x.npy as it was written");
}

void save_old_npz() { sn::save_npz("x.npz", state(-1)); }
void npz() {
  sn::save_npz("x.npz", state(1));
  expect_state(sn::load_npz("x.npz"), "x.npz");
  expect(sn::load_npz(SINTER_TEST_DATA "/npz/deflated.npz").size() > 0, "a compressed file");
}
void look_at_npz() { expect_state(sn::load_npz("x.npz"), "x.npz after a fault", true); }

void save_old_safetensors() { sn::save_safetensors("x.safetensors", state(-1)); }
void safetensors() {
  sn::save_safetensors("x.safetensors", state(1), {{"format", "pt"}});
  const sn::StateDict loaded = sn::load_safetensors("x.safetensors");
  expect_state(loaded, "x.safetensors");
  auto weight = loaded.at("weight").as<float>();
  weight += 1;
  expect_values(weight, {2, 3, 4, 5}, "what was loaded, written to");
  expect_state(sn::load_safetensors("x.safetensors", sn::Device(0)), "x.safetensors on a GPU");
  expect(sn::load_safetensors_metadata("x.safetensors").at(0).second == "pt", "metadata");
}
void look_at_safetensors() { expect_state(sn::load_safetensors("x.safetensors"), "x.safetensors after a fault", true); }

}  // namespace

std::vector<Scenario> file_scenarios() {
  return {{"npy", npy, save_old_npy, look_at_npy},
          {"npz", npz, save_old_npz, look_at_npz},
          {"safetensors", safetensors, save_old_safetensors, look_at_safetensors}};
}

}  // namespace sinter::faults
