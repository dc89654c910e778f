#include <sinter/runtime/precision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {
namespace {

constexpr std::string_view words[] = {"highest", "high", "medium"};
constinit std::atomic<std::size_t> chosen{0};

}  // namespace

void set_float32_matmul_precision(std::string_view precision) {
  const auto* const word = std::ranges::find(words, precision);
  if (word == std::end(words))
    throw Error(fmt::format(
        "set_float32_matmul_precision(\"{}\"): the precision must be \"highest\", \"high\" or \"medium\"", precision));
  chosen.store(static_cast<std::size_t>(word - words), std::memory_order_relaxed);
}

std::string_view float32_matmul_precision() noexcept { return words[chosen.load(std::memory_order_relaxed)]; }

}  // namespace sinter::inline v1
