// Files of several tensors: safetensors and .npz.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [save]
  sn::StateDict state;
  state["fc.weight"] = sn::arange(6).to<float>().reshape({2, 3}) / 8;
  state["fc.bias"] = sn::ones<sn::bfloat16>({2}).cuda();
  state["steps"] = sn::full<std::int64_t>({}, 100);
  sn::save_safetensors("model.safetensors", state, {{"format", "pt"}});
  // [/save]

  // [load]
  sn::StateDict model = sn::load_safetensors("model.safetensors");               // shares the file's memory
  sn::StateDict on_gpu = sn::load_safetensors("model.safetensors", sn::cuda<>);  // straight to a GPU
  std::cout << model << "\n" << on_gpu << "\n";
  auto weight = model.at("fc.weight").as<float>();  // Tensor<float>
  weight *= 2;                                      // the file keeps its values
  std::cout << weight << "\n";
  // [/load]

  // [npz]
  sn::save_npz("arrays.npz", {{"x", weight}, {"mask", weight > 0.5f}});
  for (const auto& [name, array] : sn::load_npz("arrays.npz")) std::cout << name << ": " << array << "\n";
  // [/npz]

  // [wrapped]
  sn::save_safetensors("wrapped.safetensors", {{"module.fc.weight", weight}});
  const sn::StateDict wrapped = sn::load_safetensors("wrapped.safetensors");
  try {
    wrapped.at("fc.weight");
  } catch (const sn::IndexError& error) {
    std::cout << error.what() << "\n";
  }
  std::cout << wrapped.without_prefix() << "\n";
  // [/wrapped]
}
