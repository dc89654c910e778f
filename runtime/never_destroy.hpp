// What must outlive everything, where no memory is left to remember it by.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace sinter::inline v1::runtime {

/// Keeps an object alive for good. Takes no memory.
template <class T>
void never_destroy(std::shared_ptr<T> object) noexcept {
  alignas(std::shared_ptr<T>) std::byte place[sizeof object];
  new (place) std::shared_ptr<T>(std::move(object));
}

}  // namespace sinter::inline v1::runtime
