// Weak scaling: the messages between the ranks of a mesh when each has the same number of rows. The table is that of
// docs/mesh.md.
#include <sinter/dsl/sharded.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include <sinter/runtime/communicator.hpp>
#include <sinter/sinter.hpp>
#include "golden.hpp"
#include "setup.hpp"

namespace sinter_tests {
namespace {

namespace sn = sinter;

const sinter::test::Setup eight_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "8", 1); });

sn::Mesh gpus(int count) {
  std::vector<sn::Device> devices;
  for (int i = 0; i < count; ++i) devices.emplace_back(i);
  return sn::Mesh(devices);
}

/// "messages, bytes" on 1, 2, 4 and 8 GPUs with 1000 rows of 64 floats each.
template <class F>
std::string row(const char* expression, F evaluate) {
  std::string cells;
  for (const int count : {1, 2, 4, 8}) {
    const sn::Mesh mesh = gpus(count);
    const auto x = sn::shard(sn::ones({count * 1000, 64}), mesh);
    const auto before = mesh.communicator().traffic();
    evaluate(x);
    const auto after = mesh.communicator().traffic();
    cells += fmt::format(" {}, {} |", after.messages - before.messages, after.bytes - before.bytes);
  }
  return fmt::format("| `{}` |{}\n", expression, cells);
}

std::string table() {
  std::string text = "| | 1 GPU | 2 | 4 | 8 |\n| --- | --- | --- | --- | --- |\n";
  text += row("(x + 2).exp() * x", [](const auto& x) { sn::Tensor((x + 2).exp() * x); });
  text += row("x.softmax(1)", [](const auto& x) { sn::Tensor(x.softmax(1)); });
  text += row("x.sum(0)", [](const auto& x) { sn::Tensor(x.sum(0)); });
  text += row("x.amax(0)", [](const auto& x) { sn::Tensor(x.amax(0)); });
  text += row("x.softmax(0)", [](const auto& x) { sn::Tensor(x.softmax(0)); });
  text += row("matmul(x.t(), x)", [](const auto& x) { sn::Tensor(sn::matmul(x.t(), x)); });
  return text;
}

TEST(ShardedMessages, AreThoseOfTheDocumentation) { sinter::test::expect_golden("mesh_messages.md", table()); }

}  // namespace
}  // namespace sinter_tests
