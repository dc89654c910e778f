// The largest error of every operation on floats.
//   accuracy --check TABLE         short: fails where an error is larger than the table says
//   accuracy --write TABLE PAGE    long: writes both anew; --write-short from few operands
//   accuracy --update TABLE PAGE OPERATION...   long: writes both with these operations anew
//   accuracy --print [OPERATION...]   long: shows what it finds
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "table.hpp"

namespace sinter::accuracy {
namespace {

Table measure_all(Depth depth, const Table& known = {}, const std::vector<std::string>& only = {}) {
  const std::vector<Target> on = targets();
  Table table;
  for (const DType dtype : measured_dtypes) {
    std::vector<std::vector<Bits>> worst;
    if (const auto at = known.find(dtype); at != known.end())
      for (const auto& [key, largest] : at->second)
        if (!largest.exact) worst.push_back(largest.operands);
    table[dtype] = measure(dtype, depth, on, worst, only);
  }
  return table;
}

int check(const std::string& path) {
  const Table known = read_table(path);
  const std::vector<std::string> lines = worse(known, measure_all(Depth::Short, known));
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  return lines.empty() ? 0 : 1;
}

/// What else the table says stays.
int update(const std::string& path, const std::string& page, const std::vector<std::string>& ops) {
  Table table = read_table(path);
  for (const auto& [dtype, errors] : measure_all(Depth::Full, table, ops))
    for (const auto& [key, largest] : errors) table[dtype][key] = largest;
  write_table(path, table);
  write_page(page, table, Depth::Full);
  return 0;
}

int print(const std::vector<std::string>& ops) {
  for (const auto& [dtype, errors] : measure_all(Depth::Full, {}, ops))
    for (const auto& [key, largest] : errors)
      std::printf("%s %s %s: %s\n", std::string(name(key.first)).c_str(), std::string(name(dtype)).c_str(),
                  key.second.c_str(), shown(dtype, largest).c_str());
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "--check") return check(arguments[1]);
  if (arguments.size() == 3 && (arguments[0] == "--write" || arguments[0] == "--write-short")) {
    const Depth depth = arguments[0] == "--write" ? Depth::Full : Depth::Short;
    const Table table = measure_all(depth);
    write_table(arguments[1], table);
    write_page(arguments[2], table, depth);
    return 0;
  }
  if (arguments.size() > 3 && arguments[0] == "--update")
    return update(arguments[1], arguments[2], {arguments.begin() + 3, arguments.end()});
  if (!arguments.empty() && arguments[0] == "--print") {
    return print({arguments.begin() + 1, arguments.end()});
  }
  std::fprintf(stderr,
               "usage: accuracy --check TABLE | --write TABLE PAGE | --write-short TABLE PAGE | --update TABLE PAGE "
               "OPERATION... "
               "| --print [OPERATION...]\n");
  return 2;
}

}  // namespace
}  // namespace sinter::accuracy

int main(int argc, char** argv) try {
  setenv("SINTER_VIRTUAL_GPUS", "1", 0);  // before the first device is asked for
  return sinter::accuracy::run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
