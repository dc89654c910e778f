// The file of one compiled kernel: a header, then the binary's key (target, name, text), then the binary.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel_key.hpp"

namespace sinter::inline v1::jit {

/// Increment when kernels of equal text are launched differently, or when the file format changes.
inline constexpr std::uint32_t entry_version = 1;

/// A larger file is not a kernel and is not read.
inline constexpr std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;

struct DiskEntry {
  KernelKey key;
  std::string binary;
};

/// The bytes of an entry's file. The binary is not empty.
std::string encode(const KernelKey& key, std::string_view binary);

/// The contents of a file; nothing unless it is a complete entry of this version with a valid checksum. Throws only
/// bad_alloc, whatever the bytes are.
std::optional<DiskEntry> decode(std::string_view file);

/// The entry's file name: 32 hexadecimal digits of a hash of the version and the key, and ".kernel". The hash only
/// locates the file: the key in it is compared.
std::string entry_name(const KernelKey& key);

/// For tests: sets the checksum of bytes that are long enough for a header.
void seal(std::string& file);

}  // namespace sinter::inline v1::jit
