#include "executable.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>
#include <sinter/runtime/fork.hpp>
#include "cuda/source.hpp"
#include "faults.hpp"
#include "history.hpp"
#include "kernel_cache.hpp"
#include "parameters.hpp"
#include "stats.hpp"

namespace sinter::inline v1::jit {
namespace {

/// GPUs by index, kept here so that a hit is one load; tests put their own in.
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

/// Blocks for `threads` threads of work: no more than run at once, each going over the nest in steps.
unsigned blocks_for(std::int64_t threads, std::int64_t most) noexcept {
  const std::int64_t wanted = (threads + cuda::block_threads - 1) / cuda::block_threads;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
}

}  // namespace

void use_gpu(int index, runtime::GpuBackend* device) noexcept {
  gpus[static_cast<std::size_t>(index)].store(device, std::memory_order_release);
}

struct Executable::Variant {
  explicit Variant(const ClassKey& k, KernelClass c)
      : key(k),
        kernel_class(std::move(c)),
        nest_words(nest_word_count(kernel_class)),
        device_count(static_cast<std::size_t>(std::max(sinter::device_count(), 1))),
        loaded(new Loaded[device_count]) {}

  struct Loaded {
    std::atomic<void*> function{nullptr};
    std::int64_t blocks = 1;  // that the device runs at once; set before the function is
  };

  ClassKey key;
  KernelClass kernel_class;
  std::size_t nest_words;
  std::size_t device_count;
  std::unique_ptr<Loaded[]> loaded;  // by GPU
  runtime::PerProcess<std::mutex> loading;
};

/// Immutable once published.
struct Executable::Variants {
  std::size_t count = 0;
  std::array<Variant*, max_variants + 1> items{};  // the last one is the generic one
};

Executable::Executable(const Kernel& kernel) : kernel_(kernel), traits_(kernel) {
  for (const Node& n : kernel.graph.nodes())
    if (n.op == Op::scalar) scalars_.push_back({scalar_use(n), n.dtype});
  retired_.push_back(std::make_unique<const Variants>());
  variants_.store(retired_.back().get(), std::memory_order_release);
}

Executable::~Executable() {
  const Variants& last = *variants_.load(std::memory_order_acquire);
  for (Variant* v : last.items) delete v;
  delete tiles_.load(std::memory_order_acquire);
}

const cpu::TileProgram& Executable::tiles() const {
  if (const cpu::TileProgram* ready = tiles_.load(std::memory_order_acquire)) [[likely]]
    return *ready;
  const runtime::ForkSafeLock lock(mutex_);
  if (!tiles_.load(std::memory_order_relaxed))
    tiles_.store(new cpu::TileProgram(kernel_.graph), std::memory_order_release);
  return *tiles_.load(std::memory_order_relaxed);
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
  Variant* added =
      own ? new Variant(key, key.decode(traits_.operands.size())) : new Variant({}, generic_class(traits_));
  next.items[own ? next.count++ : max_variants] = added;
  retired_.push_back(std::make_unique<const Variants>(next));
  variants_.store(retired_.back().get(), std::memory_order_release);
  return *added;
}

runtime::KernelSource Executable::text(const KernelClass& c) const {
  return {kernel_.name, cuda::source(kernel_, traits_, c)};
}

runtime::KernelSource Executable::source(const LoopNest& nest, bool aliased) const {
  // Looking adds no variant: it must not change what runs later.
  ClassKey key;
  if (has_key()) key = classify(traits_, nest, aliased);
  if (const Variant* known = find_variant(key)) return text(known->kernel_class);
  const bool own = has_key() && variants_.load(std::memory_order_acquire)->count < max_variants;
  return text(own ? key.decode(traits_.operands.size()) : generic_class(traits_));
}

void* Executable::load(Variant& v, runtime::GpuBackend& device, std::size_t index) const {
  const std::lock_guard lock(v.loading.get());  // for long: not while nobody may fork
  Variant::Loaded& loaded = v.loaded[index];
  if (void* known = loaded.function.load(std::memory_order_relaxed)) return known;
  const auto begin = std::chrono::steady_clock::now();
  const runtime::KernelSource s = text(v.kernel_class);
  const LoadedKernel kernel = load_kernel(s, device);
  const runtime::Function function = kernel.function;
  const int resident = std::max(device.resident_blocks(function, cuda::block_threads), 1);
  loaded.blocks = std::int64_t{device.multiprocessors()} * resident;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  remember({s.name, Device(static_cast<int>(index)), device.binary_tag(), kernel.origin, took.count()});
  loaded.function.store(function.handle, std::memory_order_release);
  return function.handle;
}

void Executable::prepare(const LoopNest& nest, bool aliased, Device device) const {
  if (device.is_cpu()) {
    tiles().prepare(nest);
    return;
  }
  load(variant(nest, aliased), gpu_at(device), static_cast<std::size_t>(device.index()));
}

void Executable::write_scalars(std::uint64_t* words, const Scalar* scalars) const noexcept {
  for (const ScalarSlot& s : scalars_) *words++ = scalar_word(scalars[s.use.number], s.use.arrives_as, s.dtype);
}

bool Executable::run(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const {
  if (device.is_cpu()) return run_tiles(nest, scalars);
  launch(nest, aliased, scalars, device);
  return true;
}

bool Executable::run_tiles(const LoopNest& nest, const Scalar* scalars) const {
  ThreadStats& counters = stats();
  if (tiles_.load(std::memory_order_relaxed)) ThreadStats::count(counters.memory_hits);
  const cpu::TileProgram& program = tiles();
  Words words(scalars_.size(), boost::container::default_init);
  write_scalars(words.data(), scalars);
  const bool right = program.run(nest, {words.data(), words.size()});
  ThreadStats::count(counters.launches);
  return right;
}

/// Made when first needed: most kernels have none.
std::uint32_t Executable::fault_code() const {
  if (!fault_code_.load(std::memory_order_relaxed)) fault_code_ = runtime::fault_code(fault_message(kernel_));
  return fault_code_.load(std::memory_order_relaxed);
}

void Executable::launch(const LoopNest& nest, bool aliased, const Scalar* scalars, Device device) const {
  ThreadStats& counters = stats();
  runtime::GpuBackend& gpu = gpu_at(device);
  const auto index = static_cast<std::size_t>(device.index());
  Variant& v = variant(nest, aliased);
  const Variant::Loaded& loaded = v.loaded[index];
  void* function = loaded.function.load(std::memory_order_acquire);
  if (function) [[likely]]
    ThreadStats::count(counters.memory_hits);
  else
    function = load(v, gpu, index);
  Words words(v.nest_words + scalars_.size() + 2 * traits_.may_fault, boost::container::default_init);
  std::uint64_t* word = words.data();
  if (traits_.may_fault) {
    *word++ = gpu.fault_word();
    words.back() = fault_code();
  }
  write_scalars(write_nest(word, v.kernel_class, nest), scalars);
  gpu.launch({.function = {function},
              .grid = blocks_for(thread_count(v.kernel_class, nest), loaded.blocks),
              .block = cuda::block_threads,
              .shared = 0,
              .words = {words.data(), words.size()},
              .pointers = static_cast<unsigned>(nest.operands.size() + traits_.may_fault)});
  ThreadStats::count(counters.launches);
}

}  // namespace sinter::inline v1::jit
