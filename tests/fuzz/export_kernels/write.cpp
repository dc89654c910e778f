// Writes the kernels of export_fuzz as C, for the CPU alone, into the folder that is named.
#include <cstdio>

#include <sinter/dsl/export.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const auto x = zeros({3}), y = zeros({3}), w = zeros({5, 4});
  const auto whole = zeros<std::int32_t>({3}), divisor = zeros<std::int32_t>({3});
  const auto ids = zeros<std::int64_t>({6});
  export_kernels(
      {exported((x + 2) * y - x, {.name = "fused", .inputs = {"x", "y"}, .sizes = {{"n"}}, .numbers = {"shift"}}),
       exported(softmax(w * x.slice(0, 0, 1), 1),
                {.name = "rows", .inputs = {"w", "x"}, .sizes = {{"n", "m"}}, .strided = {"w"}}),
       exported(whole / divisor + floor_divide(whole, divisor),
                {.name = "divided", .inputs = {"i", "j"}, .sizes = {{"n"}}, .in_place = true}),
       exported(embedding(w, ids), {.name = "looked_up", .inputs = {"w", "ids"}, .sizes = {{"n", "m"}, {"k"}}})},
      {.name = "fuzzed", .architectures = {}, .dlpack = true})
      .write(argv[1]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
