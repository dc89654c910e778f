// Times of operations along rows on a GPU under one scheme, chosen or forced: what the rules of jit/plan/row_scheme.cpp
// are measured against. bench/report/schemes.py runs it for each scheme, and compares.
//   row_schemes chosen|TEAM,BLOCK,VECTORS,registers|loop|cache|split[,WIDTH] [ELEMENTS [COLUMNS...]]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <jit/plan/row_scheme.hpp>
#include <sinter/sinter.hpp>

namespace {

namespace sn = sinter;
using Device = sn::Cuda<>;

constexpr int rounds = 3;
constexpr float least_ms = 2;  // of one round

std::vector<std::string> words_of(std::string text) {
  std::vector<std::string> words;
  for (std::size_t comma; (comma = text.find(',')) != std::string::npos; text.erase(0, comma + 1))
    words.push_back(text.substr(0, comma));
  words.push_back(text);
  return words;
}

void force(const std::string& text) {
  if (text == "chosen") return;
  const std::vector<std::string> words = words_of(text);
  if (words.size() < 4) throw std::runtime_error("a scheme is TEAM,BLOCK,VECTORS,registers|loop|cache|split[,WIDTH]");
  sn::jit::RowOverride scheme{.vector_width = words.size() > 4 ? std::stoi(words[4]) : 16, .min_split = 1024};
  scheme.config = {.team = std::stoi(words[0]),
                   .block = std::stoi(words[1]),
                   .vectors_per_thread = std::stoi(words[2]),
                   .in_registers = words[3] == "registers",
                   .split = words[3] == "split",
                   .row_cache = words[3] == "cache"};
  sn::jit::override_rows(scheme);
}

/// The median time of one evaluation by events of the GPU, in microseconds.
template <class F>
double time_us(const F& evaluate) {
  const sn::Stream stream = sn::default_stream(Device{});
  const auto elapsed = [&](int times) {
    const sn::Event begin = stream.record(sn::Timing::On);
    for (int i = 0; i < times; ++i) evaluate();
    const sn::Event end = stream.record(sn::Timing::On);
    end.synchronize();
    return begin.elapsed_ms(end);
  };
  evaluate();
  const float once = std::max(elapsed(3) / 3, 1e-3f);
  const int times = std::clamp(static_cast<int>(least_ms / once), 5, 1000);
  std::vector<float> all;
  for (int i = 0; i < rounds; ++i) all.push_back(elapsed(times));
  std::ranges::nth_element(all, all.begin() + rounds / 2);
  return 1000.0 * all[rounds / 2] / times;
}

template <class T>
void measure(std::int64_t elements, std::int64_t columns) {
  const std::int64_t rows = elements / columns;
  const auto x = sn::Tensor<T, Device>(sn::randn({rows, columns}, Device{}).template to<T>());
  const auto gain = sn::Tensor<T, Device>(sn::randn({columns}, Device{}).template to<T>()), shift = gain.clone();
  const auto classes = sn::Tensor<std::int64_t, Device>(sn::randint(0, columns, {rows}, Device{}));
  auto y = sn::empty<T>({rows, columns}, Device{});
  auto of_rows = sn::empty<T>({rows}, Device{});
  auto one = sn::empty<T>({}, Device{});
  const auto report = [&](const char* name, const auto& evaluate) {
    try {
      fmt::print("{} {} {} {:.2f}\n", name, sn::name(sn::dtype_of<T>), columns, time_us(evaluate));
    } catch (const std::exception& e) {
      const std::string text = e.what();
      fmt::print("{} {} {} failed: {}\n", name, sn::name(sn::dtype_of<T>), columns, text.substr(0, text.find('\n')));
    }
    std::fflush(stdout);
  };
  report("copy", [&] { y.assign(x); });
  report("softmax", [&] { y.assign(sn::softmax(x, 1)); });
  report("layer_norm", [&] { y.assign(sn::layer_norm(x, {columns}, gain, shift)); });
  report("rms_norm", [&] { y.assign(sn::rms_norm(x, {columns}, gain, 1e-5)); });
  report("sum", [&] { of_rows.assign(sn::sum(x, 1)); });
  report("logsumexp", [&] { of_rows.assign(sn::logsumexp(x, 1)); });
  report("cross_entropy", [&] { one.assign(sn::cross_entropy(x, classes)); });
}

}  // namespace

int main(int count, char** words) try {
  if (count < 2) throw std::runtime_error("which scheme? chosen, or TEAM,BLOCK,VECTORS,registers|loop|cache|split");
  force(words[1]);
  const std::int64_t elements = count > 2 ? std::atoll(words[2]) : std::int64_t{1} << 26;
  std::vector<std::int64_t> widths{64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 262144};
  if (count > 3) widths.clear();
  for (int i = 3; i < count; ++i) widths.push_back(std::atoll(words[i]));
  for (const std::int64_t columns : widths) {
    measure<float>(elements, columns);
    measure<sn::bfloat16>(elements, columns);
  }
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
