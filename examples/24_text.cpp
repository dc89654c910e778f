// Expressions and signatures as text.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  auto z = sn::arange<float>(6).reshape({2, 3});
  auto y = sn::tensor({1.f, 10.f, 100.f});

  // [parse]
  sn::Tensor r = sn::parse("relu(z - 2) * y", {{"z", z}, {"y", y}});  // an AnyTensor, one kernel
  std::cout << r << "\n";
  // [/parse]

  // [many]
  const sn::ParsedExpression scaled("(z - z.mean(-1, keepdim=True)) / (z.var(axis=-1, keepdim=True) + eps) ** 0.5");
  for (const std::string& name : scaled.names()) std::cout << name << " ";
  std::cout << "\n" << scaled({{"z", z}, {"eps", 1e-5}}) << "\n";
  // [/many]

  // [errors]
  try {
    sn::parse("sofmax(z, -1) + y", {{"z", z}, {"y", y}});
  } catch (const sn::ParseError& e) {
    std::cout << e.what() << "\n";
  }
  try {
    sn::parse("2 * (z[:, 0] + y[3])", {{"z", z}, {"y", y}});
  } catch (const sn::Error& e) {
    std::cout << e.what() << "\n";
  }
  try {
    sn::parse("2 * (z + w)", {{"z", z}, {"w", sn::ones({2})}});
  } catch (const sn::ShapeError& e) {
    std::cout << e.what() << "\n";
  }
  // [/errors]

  // [signature]
  const auto signature = sn::parse_signature("z: f32[b, n], y: f32[n], w: bf16[*, 4], s: f64");
  for (const sn::ArgumentType& a : signature) std::cout << sn::to_string(a) << (a.is_number ? " is a number\n" : "\n");
  const std::vector<sn::AnyTensor> tensors{z, y, sn::ones<sn::bfloat16>({7, 4})};
  for (const auto& [symbol, extent] : sn::match(signature, tensors)) std::cout << symbol << " = " << extent << "\n";
  // [/signature]
}
