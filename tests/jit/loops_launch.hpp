// Launches of kernels as jit/run/executable.cpp makes them, for the interpreter of the loop IR.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <jit/loops/lower.hpp>
#include <jit/plan/parameters.hpp>
#include <jit/plan/row_cache.hpp>
#include <jit/plan/row_passes.hpp>
#include "loops_interpreter.hpp"

namespace sinter::testing {

struct LoopsLaunch {
  const jit::Kernel& kernel;
  const jit::LoopNest& nest;
  jit::KernelClass kernel_class;
  std::vector<Bits> scalars = {};  // in the order of their nodes
  std::int64_t max_blocks = 2;     // threads loop over what is left
  unsigned threads = 64;           // of a block, where the kernel does not reduce
  std::int64_t shared_per_block = 48 << 10;
};

inline jit::KernelClass class_of(const jit::Kernel& kernel, const jit::LoopNest& nest, bool aliased = false) {
  const jit::KernelTraits traits(kernel);
  return jit::classify(traits, nest, aliased).decode(traits.operands.size());
}

/// Runs a kernel whose operands are in `memory`. Returns whether it has found each fault.
class LoopsLauncher {
 public:
  LoopsLauncher(const LoopsLaunch& launch, LoopsMemory& memory)
      : launch_(launch), traits_(launch.kernel), memory_(memory) {}

  jit::Faults run() {
    const LoopProgram program = jit::loops::lower(launch_.kernel, traits_, launch_.kernel_class);
    return run(program);
  }
  /// Instead of what lower() makes.
  jit::Faults run(const LoopProgram& program, std::int64_t limit = std::int64_t{1} << 40) {
    const std::size_t given = memory_.count();
    memory_.add(reinterpret_cast<std::byte*>(&fault_word_), sizeof fault_word_);
    LoopsInterpreter interpreter(program, memory_, limit);
    try {
      launch_.kernel.rows ? run_rows(interpreter) : run_domain(interpreter);
    } catch (const WrongProgram&) {
      memory_.forget_after(given);
      throw;
    }
    memory_.forget_after(given);
    return {fault_word_ == code(jit::Fault::DivisionByZero), fault_word_ == code(jit::Fault::IndexOutOfRange)};
  }

 private:
  static std::uint32_t code(jit::Fault fault) noexcept { return 100 + static_cast<std::uint32_t>(fault); }

  void run_domain(LoopsInterpreter& interpreter) {
    const jit::KernelClass& c = launch_.kernel_class;
    std::vector<std::uint64_t> words(jit::nest_word_count(c));
    jit::write_nest(words.data(), c, launch_.nest);
    const std::int64_t blocks = (jit::thread_count(c, launch_.nest) + launch_.threads - 1) / launch_.threads;
    interpreter.run({blocks_of(blocks), launch_.threads, 0}, with_others(std::move(words)));
  }

  void run_rows(LoopsInterpreter& interpreter) {
    const jit::KernelClass& c = launch_.kernel_class;
    const jit::RowPasses passes(launch_.kernel, !c.rows.in_registers);
    const jit::RowCache row_cache(traits_, c);
    jit::RowLaunch launch;
    launch.rows = launch_.nest.rows(), launch.columns = launch_.nest.columns();
    launch.grid = jit::row_grid({c.rows, c.vector_width}, launch.rows, launch.columns);
    launch.row_cache = row_cache.extent(launch.columns, launch_.shared_per_block);
    if (c.rows.split) make_partials(passes, launch);
    launch.partials = partials_;
    const std::int64_t launches = c.rows.split ? passes.stages.count + 1 : 1;
    for (; launch.pass < launches; ++launch.pass) {
      const bool is_last = launch.pass + 1 == launches;
      launch.splits_in_launch = is_last && !traits_.rows->has_final_pass ? 1 : launch.grid.splits;
      std::vector<std::uint64_t> words(jit::row_word_count(c, static_cast<std::size_t>(passes.stages.count)));
      jit::write_row_nest(words.data(), c, launch_.nest, launch);
      interpreter.run({blocks_of(launch.grid.row_blocks * launch.splits_in_launch), launch.grid.block,
                       static_cast<unsigned>(row_cache.bytes(launch.row_cache))},
                      with_others(std::move(words)));
    }
  }

  /// Partial results, each stage's in memory of its own.
  void make_partials(const jit::RowPasses& passes, const jit::RowLaunch& launch) {
    for (int s = 0; s < passes.stages.count; ++s) {
      const auto bytes = static_cast<std::size_t>(launch.rows * launch.grid.splits *
                                                  partial_size(passes, s, launch_.kernel_class.wide));
      workspace_.emplace_back(bytes / sizeof(Unit) + 1);
      partials_.push_back(workspace_.back().data()->bytes);
      memory_.add(partials_.back(), bytes, LoopsMemory::Content::Unwritten);
    }
  }

  unsigned blocks_of(std::int64_t wanted) const {
    return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, launch_.max_blocks));
  }

  /// What surrounds the nest: the fault word, scalars, first positions, fault codes.
  std::vector<std::uint64_t> with_others(std::vector<std::uint64_t> words) {
    if (traits_.faults.any()) words.insert(words.begin(), reinterpret_cast<std::uintptr_t>(&fault_word_));
    words.insert(words.end(), launch_.scalars.begin(), launch_.scalars.end());
    for (std::size_t k = 0; k < traits_.operands.size(); ++k)
      if (!traits_.operands[k].memory) words.push_back(static_cast<std::uint64_t>(launch_.nest.operands[k].first));
    for (const jit::Fault f : jit::all_faults)
      if (traits_.faults.has(f)) words.push_back(code(f));
    return words;
  }

  struct alignas(256) Unit {
    std::byte bytes[256];
  };

  const LoopsLaunch& launch_;
  const jit::KernelTraits traits_;
  LoopsMemory& memory_;
  std::uint32_t fault_word_ = 0;
  std::vector<std::vector<Unit>> workspace_;
  std::vector<std::byte*> partials_;
};

}  // namespace sinter::testing
