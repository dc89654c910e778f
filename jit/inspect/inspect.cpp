#include <sinter/jit/inspect.hpp>

#include <algorithm>

#include <runtime/cuda/nvrtc.hpp>
#include "../cuda/source.hpp"
#include "../evaluate/evaluator.hpp"
#include "../hip/source.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Kernels in order, without duplicates of equal text.
std::vector<runtime::KernelSource> distinct_texts(const Recorded& expression, PrintSource& print) {
  std::vector<runtime::KernelSource> texts;
  for (runtime::KernelSource& s : kernel_texts(expression, print)) {
    const bool known = std::ranges::any_of(texts, [&](const auto& t) { return t.text == s.text; });
    if (!known) texts.push_back(std::move(s));
  }
  return texts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "\n") + part;
  return out;
}

std::string source(const Recorded& expression, PrintSource& print) {
  std::vector<std::string> parts;
  for (runtime::KernelSource& s : distinct_texts(expression, print)) parts.push_back(std::move(s.text));
  return join(parts);
}

}  // namespace

std::string cuda_source(const Recorded& expression) { return source(expression, cuda::source); }

std::string hip_source(const Recorded& expression) { return source(expression, hip::source); }

std::string ptx(const Recorded& expression, std::string_view architecture) {
  std::string target(architecture);
  if (target.starts_with("sm_")) target.replace(0, 3, "compute_");
  std::vector<std::string> parts;
  for (const runtime::KernelSource& s : distinct_texts(expression, cuda::source))
    parts.push_back(runtime::nvrtc_compile(s, target));
  return join(parts);
}

}  // namespace sinter::inline v1::jit
