// Expressions as text, explained and exported.
#include <filesystem>

#include "scenario.hpp"

namespace sinter::faults {
namespace {

namespace sn = sinter;

void parse() {
  const auto z = sn::arange<float>(6).reshape({2, 3});
  const sn::Tensor r = sn::parse("relu(z - 2).sum(-1) * y", {{"z", z}, {"y", 2}});
  expect(sn::equal(r, sn::tensor({0.f, 12.f})), "a text's value");
  try {
    sn::parse("sofmax(z, -1)", {{"z", z}});
    expect(false, "a text that is no expression");
  } catch (const sn::ParseError& e) {
    expect(std::string(e.what()).find("softmax") != std::string::npos, "the error of a text");
  }
}

void explain() {
  const auto x = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  expect(sn::explain(sn::softmax(x, -1) * 2).find("kernel") != std::string::npos, "explain");
  expect(sn::explain_html(x * 2 + 1).find("</html>") != std::string::npos, "explain_html");
  expect(sn::to_dot(x * 2 + 1).find("digraph") != std::string::npos, "to_dot");
  expect(sn::cuda_source(sn::softmax(x, -1)).find("__global__") != std::string::npos, "cuda_source");
}

/// For the CPU alone: NVRTC is none of ours.
void write_library() {
  const auto z = sn::zeros<float>({3});
  const sn::Exported library =
      sn::export_kernel(sn::exp(z + 2) * z, {.name = "fused"}, {.architectures = {}, .cpp_wrapper = true});
  expect(library.files.contains("fused.c"), "an exported library");
  library.write("out/deep");
  expect(std::filesystem::file_size("out/deep/fused.c") == library.files.at("fused.c").size(), "a written library");
}
void look_at_library() {
  if (!std::filesystem::exists("out/deep")) return;
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator("out/deep")) {
    expect(file.file_size() > 0, "a written file");
    ++files;
  }
  expect(files == 0 || files >= 3, "files appear together");
}

}  // namespace

std::vector<Scenario> text_scenarios() {
  return {{"parse", parse},
          {"explain", explain},
          {"export", write_library, nullptr, look_at_library},
          {"export-again", write_library, write_library, look_at_library}};
}

}  // namespace sinter::faults
