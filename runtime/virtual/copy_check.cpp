#include "copy_check.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>

#include "shadow.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

/// Null for an allocation too large to have a shadow.
ShadowByte* shadow_of(Arena& arena, const void* address) {
  const auto a = arena.find(address);
  return a && a->shadow ? a->shadow + (reinterpret_cast<std::uintptr_t>(address) - a->data) : nullptr;
}

}  // namespace

void CopyCheck::refuse(const char* access, const char* before, Work work, const void* at) const {
  throw CudaError(fmt::format(
      "CUDA error: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED): {} (virtual): its {} is not ordered after a "
      "{} by {}. The address belongs to {}.",
      what_, access, before, order_.why_not_after(work), Arena::whose(reinterpret_cast<std::uintptr_t>(at))));
}

void CopyCheck::read(Arena& arena, const void* from, std::size_t bytes) {
  ShadowByte* shadow = shadow_of(arena, from);
  for (std::size_t i = 0; shadow && i < bytes; ++i) {
    ShadowByte& s = shadow[i];
    if (!order_.is_after(s.written_by)) refuse("read", "write", s.written_by, static_cast<const char*>(from) + i);
    s.read_by = order_.after(s.read_by);
  }
  arena.note_use(from, order_);
}

void CopyCheck::write(Arena& arena, const void* to, std::size_t bytes) {
  ShadowByte* shadow = shadow_of(arena, to);
  for (std::size_t i = 0; shadow && i < bytes; ++i) {
    ShadowByte& s = shadow[i];
    const char* const at = static_cast<const char*>(to) + i;
    if (!order_.is_after(s.written_by)) refuse("write", "write", s.written_by, at);
    if (!order_.is_after(s.read_by)) refuse("write", "read", s.read_by, at);
    s = {.written_by = order_.work(), .is_initialised = true};
  }
  arena.note_use(to, order_);
}

void CopyCheck::copy(Arena& to_arena, const void* to, Arena& from_arena, const void* from, std::size_t bytes) {
  read(from_arena, from, bytes);
  write(to_arena, to, bytes);
  const ShadowByte* source = shadow_of(from_arena, from);
  ShadowByte* target = shadow_of(to_arena, to);
  for (std::size_t i = 0; source && target && i < bytes; ++i) target[i].is_initialised = source[i].is_initialised;
}

}  // namespace sinter::inline v1::runtime::vgpu
