// The strict tier: checks a kernel's memory accesses byte by byte. The other tiers catch only accesses to guard pages.
//
// access() and fence() run on kernels' stacks (see worker.hpp): compiled without sanitizers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <sinter/runtime/backend.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi.h"
#include "fault.hpp"
#include "happens_before.hpp"
#include "shadow.hpp"

namespace sinter::inline v1::runtime::vgpu {

class Arena;

/// SINTER_VIRTUAL_STRICT, read once.
bool is_strict() noexcept;

/// One launch, whose blocks run one after another.
class MemoryCheck {
 public:
  MemoryCheck(const Launch& launch, Arena& arena, StreamOrder& order);

  /// The block's variables, and the unused areas around them.
  struct SharedMemory {
    const char* begin;
    std::size_t bytes;
    const char* area_end;  // of WorkerMemory::shared_bytes
  };
  void begin_block(const SharedMemory& variables, const SharedMemory& dynamic);
  /// False: `fault` says why, except for its instruction. Otherwise `fault` is unchanged.
  bool access(sinter_virtual::Access kind, std::uintptr_t address, std::size_t bytes, const Actor& who, Fault& fault);
  /// __threadfence() of a thread.
  void fence(const Actor& who);

 private:
  /// Memory that the kernel may touch.
  struct Region {
    std::uintptr_t first;
    std::size_t bytes;
    ShadowByte* shadow;  // null for an allocation too large to have one
  };
  /// What an atomic operation of a block publishes.
  struct Release {
    Actor by;
    std::vector<std::uint32_t> fences;  // per thread: the interval of its last __threadfence(), counted from 1
    bool covers(const Actor& before) const noexcept;
  };
  using Releases = std::map<std::uint32_t, std::shared_ptr<const Release>>;  // the last one of each block
  enum class Problem : std::uint8_t { None, Uninitialised, AfterWrite, AfterRead, RaceWithWrite, RaceWithRead };
  struct Attempt;

  const Region* find(std::uintptr_t address) const noexcept;
  bool is_owned(std::uintptr_t address) const noexcept;
  bool is_stray_shared(std::uintptr_t address) const noexcept;
  void synchronise(std::uintptr_t address, const Actor& who);
  bool is_ordered(const Actor& before, const Actor& now) const noexcept;
  bool races_with_readers(const ShadowByte& s, const Actor& now) const noexcept;
  bool has_seen_all_before(std::uint32_t block) const noexcept;
  Problem problem_of(const ShadowByte& s, sinter_virtual::Access kind, const Actor& now);
  bool refuse(const Attempt& a, Fault::Kind why, std::uintptr_t at, const std::string& text, Fault& fault) const;
  std::string describe(Problem problem, const ShadowByte& s, std::size_t byte) const;
  bool check_bytes(const Attempt& a, ShadowByte* shadow, Fault& fault);
  void note(ShadowByte& s, sinter_virtual::Access kind, const Actor& who);

  StreamOrder& order_;
  std::vector<Region> operands_;
  std::vector<std::pair<std::uintptr_t, std::size_t>> arenas_;
  Region shared_[2] = {};  // static and dynamic
  std::vector<ShadowByte> shared_shadow_[2];
  std::uintptr_t shared_areas_[2] = {};  // where they end
  // Blocks communicate only by __threadfence() and atomic operations.
  std::vector<std::uint32_t> fences_;                      // of the current block, as in Release
  Releases seen_;                                          // releases that happened before it
  std::unordered_map<std::uintptr_t, Releases> released_;  // by address of an atomic variable
};

}  // namespace sinter::inline v1::runtime::vgpu
