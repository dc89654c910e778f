// sass_kernels            the kernels that scripts/sass measures, one name a line
// sass_kernels NAME...    evaluates them on a GPU and prints for each, after its name, how many bytes of full-sized
//                         operands and of its result belong to one element
//
// What the operands hold is undefined: for a driver that runs no kernels (bench/null_driver.cpp). SINTER_DUMP_DIR gets
// the texts and binaries, SINTER_TRACE the launches. Exit status 77: no NVRTC.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>
#include "kernels.hpp"

namespace {

namespace sn = sinter;
using sass::Case;

constexpr int no_nvrtc = 77;  // exit status

/// Bytes of memory traffic that grow with the number of elements.
struct PerElement {
  std::size_t read, written;
};

/// A result much smaller than the operands is that of a reduction, of which nothing is written per element.
PerElement per_element(const std::vector<sn::AnyTensor>& operands, const sn::AnyTensor& result) {
  constexpr std::int64_t fewest = 16;  // elements of a row
  std::int64_t most = 0;
  for (const sn::AnyTensor& x : operands) most = std::max(most, x.numel());
  std::size_t read = 0;
  for (const sn::AnyTensor& x : operands)
    if (x.numel() == most) read += sn::size_of(x.dtype());
  const bool reduces = result.numel() * fewest <= most;
  return {read, reduces ? 0 : sn::size_of(result.dtype())};
}

void evaluate(const Case& kernel) {
  const sn::Device gpu("cuda:0");
  std::vector<sn::AnyTensor> operands;
  std::vector<sn::NamedOperand> named;
  for (const sn::ArgumentType& type : sn::parse_signature(kernel.arguments)) {
    sn::Shape shape;
    for (const sn::SymbolicExtent& e : type.shape) shape.push_back(e.extent);
    operands.emplace_back(sn::runtime::empty(shape, type.dtype, gpu));
    named.emplace_back(type.name, operands.back());
  }
  const sn::AnyTensor result =
      kernel.function ? kernel.function(operands) : sn::AnyTensor(sn::parse(kernel.text, named));
  const PerElement bytes = per_element(operands, result);
  fmt::print("{} {} {}\n", kernel.name, bytes.read, bytes.written);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> all = sass::cases();
  if (argc == 1)
    for (const Case& kernel : all) fmt::print("{}\n", kernel.name);
  for (const char* name : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    const auto kernel = std::ranges::find(all, std::string(name), &Case::name);
    if (kernel == all.end()) {
      fmt::print(stderr, "there is no kernel {}\n", name);
      return 2;
    }
    try {
      evaluate(*kernel);
    } catch (const sn::DeviceError& e) {
      fmt::print(stderr, "{}\n", e.what());
      return no_nvrtc;
    } catch (const sn::Error& e) {
      fmt::print(stderr, "{}: {}\n", name, e.what());
      return 1;
    }
  }
}
