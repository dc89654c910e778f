// For objects that must never be destroyed, when no memory is left to record them.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace sinter::inline v1::runtime {

/// Keeps an object alive forever. Allocates no memory.
template <class T>
void never_destroy(std::shared_ptr<T> object) noexcept {
  alignas(std::shared_ptr<T>) std::byte place[sizeof object];
  new (place) std::shared_ptr<T>(std::move(object));
}

}  // namespace sinter::inline v1::runtime
