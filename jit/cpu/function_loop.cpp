#include "function_loop.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <utility>

#include <sinter/jit/cpu_jit.hpp>
#include <sinter/runtime/error.hpp>
#include "../cache/kernel_cache.hpp"
#include "../functions/functions.hpp"
#include "../stats/history.hpp"
#include "loop_compiler.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

std::string loop_text(const DeviceFunction& f, std::uint8_t form) {
  std::string operands, arguments;
  for (std::size_t k = 0; k < f.source.parameters.size(); ++k) {
    const bool is_uniform = form >> k & 1;
    const bool is_bool = f.source.parameters[k].dtype == DType::Bool;  // any byte that is not 0 is true
    const std::string_view type = is_bool ? "unsigned char" : c_type(f.source.parameters[k].dtype);
    operands += is_uniform ? fmt::format("  const {0} x{1} = *(const {0}*)in[{1}];\n", type, k)
                           : fmt::format("  const {0}* const x{1} = (const {0}*)in[{1}];\n", type, k);
    arguments += fmt::format("{}x{}{}{}", k > 0 ? ", " : "", k, is_uniform ? "" : "[i]", is_bool ? " != 0" : "");
  }
  return fmt::format(
      "{0}\n"
      "static void loop(void* out, const void* const* in, int64_t n) {{\n"
      "{1}  {2}* const y = ({2}*)out;\n"
      "#pragma GCC ivdep\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = {3}({4});\n"
      "}}\n\n"
      "__attribute__((visibility(\"default\"))) void (*const sinter_loops[])(void*, const void* const*, int64_t) = "
      "{{loop}};\n",
      definition(f, "static inline"), operands, c_type(f.source.result), f.symbol, arguments);
}

}  // namespace

struct FunctionLoop::State {
  struct Loaded {
    runtime::KernelHandle handle;  // keeps the loop loaded
    Loop loop;
  };

  ~State() { delete loaded.load(std::memory_order_acquire); }

  std::string name, symbol, text;
  std::atomic<const Loaded*> loaded{nullptr};  // owned; immutable once published
};

FunctionLoop::FunctionLoop(const DeviceFunction& function, std::uint8_t form) : state_(std::make_shared<State>()) {
  state_->name = function.source.name;
  state_->symbol = function.symbol;
  state_->text = loop_text(function, form);
}

void FunctionLoop::make_ready() const {
  if (state_->loaded.load(std::memory_order_acquire) != nullptr) return;
  if (cpu_jit() == CpuJit::Off)
    throw Error(
        fmt::format("{}: the CPU runs device functions in loops that the host's compiler makes, but this process may "
                    "compile nothing: "
                    "SINTER_CPU_JIT or set_cpu_jit says off, or the program is setuid. Set it to hot or always, or "
                    "write the function "
                    "as an expression of operations",
                    state_->name));
  const auto begin = std::chrono::steady_clock::now();
  runtime::KernelTarget& compiler = function_compiler(isa());
  LoadedKernel kernel = load_kernel({state_->symbol, state_->text}, compiler);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const Loop loop = function_loop(kernel.function.handle());
  auto made = std::make_unique<const State::Loaded>(State::Loaded{std::move(kernel.function), loop});
  const State::Loaded* expected = nullptr;
  if (!state_->loaded.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return;
  made.release();
  remember({state_->symbol, Device(), compiler.binary_tag(), kernel.origin, took.count()});
}

Loop FunctionLoop::loop() const noexcept { return state_->loaded.load(std::memory_order_acquire)->loop; }

}  // namespace sinter::inline v1::jit::cpu
