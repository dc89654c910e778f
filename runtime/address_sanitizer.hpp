// Whether AddressSanitizer is on, and its marks of memory that must not be accessed.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_ASAN 1
#endif
#endif
#ifdef SINTER_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#endif

namespace sinter::inline v1::runtime {

#ifdef SINTER_ASAN
inline constexpr bool has_address_sanitizer = true;
#else
inline constexpr bool has_address_sanitizer = false;
#endif

}  // namespace sinter::inline v1::runtime
