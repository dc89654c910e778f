#include "executable.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <variant>

#include <runtime/fork.hpp>
#include <runtime/trace/span.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>
#include <sinter/runtime/order.hpp>
#include "../cache/kernel_cache.hpp"
#include "../cpu/row_program.hpp"
#include "../cpu/tile_program.hpp"
#include "../cuda/source.hpp"
#include "../plan/faults.hpp"
#include "../plan/parameters.hpp"
#include "../plan/row_cache.hpp"
#include "../plan/row_passes.hpp"
#include "../stats/history.hpp"
#include "../stats/stats.hpp"

namespace sinter::inline v1::jit {
namespace {

/// GPUs by index, so that a hit is one load; tests replace them.
constinit std::array<std::atomic<runtime::GpuBackend*>, 64> gpus{};

runtime::GpuBackend& gpu_at(Device device) {
  const auto index = static_cast<std::size_t>(device.index());
  if (index >= gpus.size()) return runtime::gpu(device.index());
  runtime::GpuBackend* known = gpus[index].load(std::memory_order_acquire);
  if (known) [[likely]]
    return *known;
  runtime::GpuBackend& found = runtime::gpu(device.index());
  gpus[index].store(&found, std::memory_order_release);
  return found;
}

unsigned grid_of(const runtime::GpuBackend& gpu, std::int64_t blocks) noexcept {
  return static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, gpu.max_blocks()));
}

}  // namespace

void use_gpu(int index, runtime::GpuBackend* device) noexcept {
  gpus[static_cast<std::size_t>(index)].store(device, std::memory_order_release);
}

struct Executable::Variant {
  Variant(const KernelTraits& traits, const ClassKey& k, KernelClass c)
      : key(k),
        kernel_class(std::move(c)),
        nest_words(traits.rows ? row_word_count(kernel_class, traits.rows->stages(kernel_class.rows))
                               : nest_word_count(kernel_class)),
        row_cache(traits, kernel_class),
        device_count(static_cast<std::size_t>(std::max(sinter::device_count(), 1))),
        loaded(new KernelPointer[device_count]) {}

  ClassKey key;
  KernelClass kernel_class;
  std::size_t nest_words;
  RowCache row_cache;
  std::size_t device_count;
  std::unique_ptr<KernelPointer[]> loaded;  // by GPU
  runtime::ForkLocal<std::mutex> loading;
};

/// Immutable once published.
struct Executable::Variants {
  std::size_t count = 0;
  std::array<Variant*, max_variants + 1> items{};  // the last one is the generic one
};

struct Executable::CpuProgram {
  explicit CpuProgram(const Kernel& kernel)
      : program(kernel.rows ? Program(std::in_place_type<cpu::RowProgram>, kernel)
                            : Program(std::in_place_type<cpu::TileProgram>, kernel.graph, kernel.name)) {}

  using Program = std::variant<cpu::TileProgram, cpu::RowProgram>;
  Program program;
};

Executable::Executable(const Kernel& kernel) : kernel_(kernel), traits_(kernel) {
  for (const Node& n : kernel.graph.nodes())
    if (n.op == Op::scalar) scalars_.push_back({scalar_use(n), n.dtype});
  for (std::size_t k = 0; k < traits_.operands.size(); ++k)
    if (!traits_.operands[k].memory) iotas_.push_back(k);
  retired_.push_back(std::make_unique<const Variants>());
  variants_.store(retired_.back().get(), std::memory_order_release);
}

Executable::~Executable() {
  const Variants& last = *variants_.load(std::memory_order_acquire);
  for (Variant* v : last.items) delete v;
  delete on_cpu_.load(std::memory_order_acquire);
}

const Executable::CpuProgram& Executable::on_cpu() const {
  if (const CpuProgram* ready = on_cpu_.load(std::memory_order_acquire)) [[likely]]
    return *ready;
  const runtime::ForkSafeLock lock(mutex_);
  if (!on_cpu_.load(std::memory_order_relaxed)) on_cpu_.store(new CpuProgram(kernel_), std::memory_order_release);
  return *on_cpu_.load(std::memory_order_relaxed);
}

bool Executable::has_key() const noexcept { return traits_.operands.size() <= ClassKey::max_operands; }

Executable::Variant* Executable::find_variant(const ClassKey& key) const noexcept {
  const Variants& known = *variants_.load(std::memory_order_acquire);
  if (has_key())
    for (std::size_t i = 0; i < known.count; ++i)
      if (known.items[i]->key.equals(key, traits_.operands.size())) return known.items[i];
  return has_key() && known.count < max_variants ? nullptr : known.items.back();
}

Executable::Variant& Executable::variant(const LoopNest& nest, bool aliased) const {
  ClassKey key;
  if (has_key()) key = classify(traits_, nest, aliased);
  if (Variant* known = find_variant(key)) [[likely]]
    return *known;
  return add_variant(key);
}

Executable::Variant& Executable::add_variant(const ClassKey& key) const {
  const runtime::ForkSafeLock lock(mutex_);
  if (Variant* known = find_variant(key)) return *known;
  Variants next = *variants_.load(std::memory_order_relaxed);
  const bool own = has_key() && next.count < max_variants;
  auto added = own ? std::make_unique<Variant>(traits_, key, key.decode(traits_.operands.size()))
                   : std::make_unique<Variant>(traits_, ClassKey(), generic_class(traits_));
  next.items[own ? next.count++ : max_variants] = added.get();
  retired_.push_back(std::make_unique<const Variants>(next));
  variants_.store(retired_.back().get(), std::memory_order_release);
  return *added.release();
}

runtime::KernelSource Executable::text(const KernelClass& c) const {
  return {kernel_.name, cuda::source(kernel_, traits_, c)};
}

/// Inspection adds no variant, since it must not change what runs later.
KernelClass Executable::class_of(const LoopNest& nest, bool aliased) const {
  ClassKey key;
  if (has_key()) key = classify(traits_, nest, aliased);
  if (const Variant* known = find_variant(key)) return known->kernel_class;
  const bool own = has_key() && variants_.load(std::memory_order_acquire)->count < max_variants;
  return own ? key.decode(traits_.operands.size()) : generic_class(traits_);
}

runtime::KernelSource Executable::source(const LoopNest& nest, bool aliased, PrintSource& print) const {
  return {kernel_.name, print(kernel_, traits_, class_of(nest, aliased))};
}

RowReport Executable::row_report(const LoopNest& nest, bool aliased, Device device) const {
  const KernelClass c = class_of(nest, aliased);
  RowReport plan;
  plan.rows = nest.rows(), plan.columns = nest.columns();
  const bool row_caches =
      !device.is_cpu() && RowCache(traits_, c).extent(plan.columns, gpu_at(device).shared_per_block()) > 0;
  const RowScheme scheme{c.rows, c.vector_width};
  plan.scheme = describe(scheme, row_grid(scheme, plan.rows, plan.columns), row_caches);
  plan.passes = static_cast<std::int64_t>(RowPasses(kernel_, !c.rows.in_registers && !device.is_cpu()).passes.size());
  plan.rereads = !c.rows.in_registers && !row_caches;
  if (c.rows.split) plan.launches = RowStages(kernel_, true).count + 1;
  return plan;
}

bool Executable::is_compiled_for_cpu() const noexcept {
  const CpuProgram* const cpu = on_cpu_.load(std::memory_order_acquire);
  return cpu != nullptr && std::visit([](const auto& program) { return program.is_compiled(); }, cpu->program);
}

void* Executable::load(Variant& v, runtime::GpuBackend& device, std::size_t index) const {
  const std::lock_guard lock(v.loading.get());  // held for long, so forking must stay possible
  KernelPointer& loaded = v.loaded[index];
  if (void* known = loaded.find()) return known;
  const auto begin = std::chrono::steady_clock::now();
  const runtime::KernelSource s = text(v.kernel_class);
  const LoadedKernel kernel = load_kernel(s, device);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  remember({s.name, Device(static_cast<int>(index)), device.binary_tag(), kernel.origin, took.count()});
  loaded.put(kernel.ready);
  return kernel.function.handle();
}

void Executable::prepare(const LoopNest& nest, bool aliased, Device device) const {
  if (device.is_cpu()) {
    std::visit([&](const auto& program) { program.prepare(nest); }, on_cpu().program);
    return;
  }
  load(variant(nest, aliased), gpu_at(device), static_cast<std::size_t>(device.index()));
}

std::uint64_t* Executable::write_scalars(std::uint64_t* words, const Scalar* scalars) const noexcept {
  for (const ScalarSlot& s : scalars_) *words++ = scalar_word(scalars[s.use.number], s.use.arrives_as, s.dtype);
  return words;
}

RunFaults Executable::run(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const {
  if (device.is_cpu()) return runtime::may_trace() ? traced_on_cpu(nest, scalars) : run_on_cpu(nest, scalars);
  launch(nest, aliased, scalars, device);
  return {};
}

RunFaults Executable::run_on_cpu(const LoopNest& nest, const Scalar* scalars) const {
  ThreadStats& counters = stats();
  if (on_cpu_.load(std::memory_order_relaxed)) ThreadStats::count(counters.memory_hits);
  const CpuProgram& cpu = on_cpu();
  Words words(scalars_.size(), boost::container::default_init);
  write_scalars(words.data(), scalars);
  const RunFaults faults =
      std::visit([&](const auto& program) { return program.run(nest, {words.data(), words.size()}); }, cpu.program);
  ThreadStats::count(counters.launches);
  return faults;
}

RunFaults Executable::traced_on_cpu(const LoopNest& nest, const Scalar* scalars) const {
  const runtime::TraceSpan span(runtime::TraceCategory::Kernel, kernel_.name, {{"elements", nest.numel}});
  return run_on_cpu(nest, scalars);
}

/// Created when first needed: most kernels have none.
std::uint32_t Executable::fault_code(Fault fault) const {
  std::atomic<std::uint32_t>& code = fault_codes_[static_cast<std::size_t>(fault)];
  if (!code.load(std::memory_order_relaxed))
    code = runtime::fault_code(fault_message(kernel_, fault), fault == Fault::IndexOutOfRange);
  return code.load(std::memory_order_relaxed);
}

/// Compiles and loads the kernel if necessary.
void* Executable::function(Variant& v, runtime::GpuBackend& gpu, Device device) const {
  const auto index = static_cast<std::size_t>(device.index());
  void* const known = v.loaded[index].find();
  if (!known) [[unlikely]]
    return load(v, gpu, index);
  ThreadStats::count(stats().memory_hits);
  return known;
}

void Executable::launch(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const {
  if (kernel_.rows) return launch_rows(nest, aliased, scalars, device);
  ThreadStats& counters = stats();
  runtime::GpuBackend& gpu = gpu_at(device);
  Variant& v = variant(nest, aliased);
  void* const loaded_function = function(v, gpu, device);
  const bool may_fault = traits_.faults.any();
  Words words(v.nest_words + scalars_.size() + iotas_.size() + may_fault + traits_.faults.count(),
              boost::container::default_init);
  std::uint64_t* word = words.data();
  if (may_fault) {
    *word++ = gpu.fault_word();
    std::uint64_t* code = words.data() + words.size() - traits_.faults.count();
    for (const Fault f : all_faults)
      if (traits_.faults.has(f)) *code++ = fault_code(f);
  }
  word = write_scalars(write_nest(word, v.kernel_class, nest), scalars);
  for (const std::size_t k : iotas_) *word++ = static_cast<std::uint64_t>(nest.operands[k].first);
  gpu.launch(
      {.kernel = loaded_function,
       .grid = grid_of(gpu, (thread_count(v.kernel_class, nest) + cuda::block_threads - 1) / cuda::block_threads),
       .block = cuda::block_threads,
       .shared = 0,
       .words = {words.data(), words.size()},
       .pointers = static_cast<unsigned>(nest.operands.size() + may_fault)});
  ThreadStats::count(counters.launches);
}

/// Partial results that blocks that share rows store for later launches.
class Executable::Workspace {
 public:
  Workspace(const Kernel& kernel, const KernelClass& c, const RowLaunch& launch, Device device) {
    if (!c.rows.split) return;
    const RowPasses passes(kernel, !c.rows.in_registers);
    std::vector<std::int64_t> begins;
    std::int64_t bytes = 0;
    for (int s = 0; s < passes.stages.count; ++s) {
      begins.push_back(bytes);
      bytes += (launch.rows * launch.grid.splits * partial_size(passes, s, c.wide) + 255) / 256 * 256;
    }
    memory_ = runtime::empty(Shape{bytes}, DType::UInt8, device);
    for (const std::int64_t begin : begins) partials_.push_back(memory_->data + begin);
  }
  std::span<std::byte* const> partials() const noexcept { return partials_; }
  runtime::BufferAccess use() const noexcept { return {memory_ ? memory_->buffer.get() : nullptr, true}; }

 private:
  runtime::TensorRef memory_;
  std::vector<std::byte*> partials_;
};

void Executable::launch_rows(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const {
  RowLaunch launch;
  launch.rows = nest.rows(), launch.columns = nest.columns();
  if (launch.rows == 0) return;
  runtime::GpuBackend& gpu = gpu_at(device);
  Variant& v = variant(nest, aliased);
  const KernelClass& c = v.kernel_class;
  launch.grid = row_grid({c.rows, c.vector_width}, launch.rows, launch.columns);
  launch.row_cache = v.row_cache.extent(launch.columns, gpu.shared_per_block());
  const Workspace workspace(kernel_, c, launch, device);
  launch.partials = workspace.partials();
  const runtime::BufferAccess uses[] = {workspace.use()};
  const runtime::DependencyGuard ordered(device, std::span(uses, c.rows.split ? 1 : 0));
  const std::int64_t launches = c.rows.split ? static_cast<std::int64_t>(launch.partials.size()) + 1 : 1;
  void* const loaded_function = function(v, gpu, device);
  const std::size_t pointers = nest.operands.size() + launch.partials.size() + traits_.faults.any();
  Words words(v.nest_words + traits_.faults.any() + scalars_.size() + iotas_.size() + traits_.faults.count(),
              boost::container::default_init);
  for (; launch.pass < launches; ++launch.pass) {
    const bool last = launch.pass + 1 == launches;
    launch.splits_in_launch = last && !traits_.rows->has_final_pass ? 1 : launch.grid.splits;
    std::uint64_t* word = words.data();
    if (traits_.faults.any()) *word++ = gpu.fault_word();
    word = write_scalars(write_row_nest(word, c, nest, launch), scalars);
    for (const std::size_t k : iotas_) *word++ = static_cast<std::uint64_t>(nest.operands[k].first);
    for (const Fault f : all_faults)
      if (traits_.faults.has(f)) *word++ = fault_code(f);
    gpu.launch({.kernel = loaded_function,
                .grid = grid_of(gpu, launch.grid.row_blocks * launch.splits_in_launch),
                .block = launch.grid.block,
                .shared = static_cast<unsigned>(v.row_cache.bytes(launch.row_cache)),
                .words = {words.data(), words.size()},
                .pointers = static_cast<unsigned>(pointers)});
    ThreadStats::count(stats().launches);
  }
}

}  // namespace sinter::inline v1::jit
