// Expressions, on the CPU and on virtual GPUs: the first time, and again.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sinter/data.hpp>
#include "scenario.hpp"

namespace sinter::faults {
namespace {

namespace sn = sinter;

template <class D>
void elementwise(const D& device) {
  const auto x = sn::tensor({1.f, 2.f, 3.f, 4.f}).to(device);
  const auto y = sn::tensor({10.f, 20.f, 30.f, 40.f}).to(device);
  expect_values(sn::Tensor((x + 2) * y - 1), {29, 79, 149, 239}, "(x + 2) * y - 1");
  auto [sum, product] = sn::evaluate(x + y, x * y);
  expect_values(sum, {11, 22, 33, 44}, "the first of two results");
  expect_values(product, {10, 40, 90, 160}, "the second of two results");
  auto z = x.clone();
  z(sn::range(0, 2)) += y(sn::range(2, 4));
  expect_values(z, {31, 42, 3, 4}, "a part in place");
}

template <class D>
void rows(const D& device) {
  const auto x = sn::tensor({{1.f, 2.f, 3.f}, {4.f, 4.f, 4.f}}).to(device);
  expect_values(x.sum(1), {6, 12}, "sums of rows");
  expect_values(x.amax(0), {4, 4, 4}, "maxima of columns");
  const sn::Tensor s = sn::softmax(x, -1);
  expect_values(s(1), {1. / 3, 1. / 3, 1. / 3}, "softmax");
  expect_values(sn::matmul(x, x.t()), {14, 24, 24, 48}, "a product of matrices");
}

template <class D>
void order(const D& device) {
  const auto x = sn::tensor({{3.f, 1.f, 2.f}, {5.f, 4.f, 6.f}}).to(device);
  const auto [values, indices] = x.sort(1);
  expect_values(values, {1, 2, 3, 4, 5, 6}, "sorted rows");
  expect_values(indices, {1, 2, 0, 1, 0, 2}, "their indices");
  expect_values(x.cumsum(1), {3, 4, 6, 5, 9, 15}, "sums so far");
  expect_values(sn::Tensor(x[x > 3]), {5, 4, 6}, "what a mask selects");
  auto counts = sn::zeros<std::int64_t>({3}, device);
  counts.scatter_add_(0, sn::tensor({2, 0, 2}).to(device), sn::ones<std::int64_t>({3}, device));
  expect_values(counts, {1, 0, 2}, "scattered sums");
}

template <class D>
void lazy(const D& device) {
  sn::Lazy power = sn::tensor({1.f, 2.f}).to(device);
  const sn::Lazy x = power;
  for (int i = 0; i < 3; ++i) power = power * x + 1;
  const sn::Tensor r = power;
  expect_values(r, {4, 23}, "a Lazy");
}

void cpu_elementwise() { elementwise(sn::cpu), lazy(sn::cpu); }
void cpu_rows() { rows(sn::cpu); }
void cpu_order() { order(sn::cpu); }
void gpu_elementwise() { elementwise(sn::cuda<0>), lazy(sn::cuda<0>); }
void gpu_rows() { rows(sn::cuda<0>); }
void gpu_order() { order(sn::cuda<0>); }

/// Large enough for several threads, and for memory from mmap.
void cpu_large() {
  const auto x = sn::ones<float>({1 << 21});
  expect((x + 1).sum().item() == 1 << 22, "a sum of 2M elements");
  const sn::Tensor y = x * 2;
  expect(y(12345).item() == 2, "2M elements");
}

/// Two streams, pinned memory, a copy between GPUs.
void streams() {
  const sn::Stream side;
  const auto pinned = sn::tensor({1.f, 2.f}).pin_memory();
  auto x = pinned.cuda();
  {
    const sn::StreamGuard guard(side);
    x += 1;
  }
  const sn::Tensor y = x.cuda(1) * 2;
  const sn::Event done = side.record();
  done.synchronize();
  expect_values(y, {4, 6}, "through two streams and two GPUs");
}

/// A trace that cannot be written is no error.
void trace() {
  ::setenv("SINTER_TRACE", "trace.json", 1);
  cpu_elementwise(), gpu_rows(), gpu_order();
}
void trace_is_whole() {
  std::ifstream file("trace.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  expect(text.empty() || (text.starts_with("[\n{") && text.ends_with("}\n]\n")), "the trace that is left");
}

struct Squares {
  std::int64_t size() const { return 4; }
  sn::Tensor<float, sn::Cpu> operator[](std::int64_t i) const { return sn::full({1}, static_cast<float>(i * i)); }
};
void loader() {
  double sum = 0;
  for (const auto& batch : sn::DataLoader(Squares(), {.batch_size = 2, .workers = 2})) sum += batch.sum().item();
  expect(sum == 14, "what a loader's workers made");
}

void print() {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // else it says nothing of its own lack of memory
  out << sn::tensor({{1.f, 2.5f}, {3.f, 4.f}}) << sn::arange(3).cuda();
  expect(out.str() == "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])tensor([0, 1, 2], device='cuda:0')",
         "what is printed");
}

}  // namespace

std::vector<Scenario> evaluation_scenarios() {
  return {
      {"cpu-elementwise", cpu_elementwise},
      {"cpu-elementwise-again", cpu_elementwise, cpu_elementwise},
      {"cpu-rows", cpu_rows},
      {"cpu-rows-again", cpu_rows, cpu_rows},
      {"cpu-order", cpu_order},
      {"cpu-large", cpu_large},
      {"gpu-elementwise", gpu_elementwise},
      {"gpu-elementwise-again", gpu_elementwise, gpu_elementwise},
      {"gpu-rows", gpu_rows},
      {"gpu-order", gpu_order},
      {"gpu-order-again", gpu_order, gpu_order},
      {"streams", streams},
      {"trace", trace, nullptr, trace_is_whole},
      {"loader", loader},
      {"print", print},
  };
}

}  // namespace sinter::faults
