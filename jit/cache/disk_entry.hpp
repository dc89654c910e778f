// The file that holds one compiled kernel: a header, then what the binary was compiled from, then the binary.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel_key.hpp"

namespace sinter::inline v1::jit {

/// To be raised when kernels of an equal text are launched another way, or the file looks another way.
inline constexpr std::uint32_t entry_version = 1;

/// What is larger is no kernel, and not read.
inline constexpr std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;

struct DiskEntry {
  KernelKey key;
  std::string binary;
};

/// The bytes of an entry's file. The binary is not empty.
std::string encode(const KernelKey& key, std::string_view binary);

/// What a file holds; nothing unless it is an entry of this version, whole, and as its checksum says. Never throws but
/// bad_alloc, whatever the bytes are.
std::optional<DiskEntry> decode(std::string_view file);

/// The entry's file name: 32 hexadecimal digits of a hash of the version and the key, and ".kernel". A hash only finds
/// the file: the key in it is compared.
std::string entry_name(const KernelKey& key);

/// For tests: gives bytes that are long enough for a header the checksum that fits them.
void seal(std::string& file);

}  // namespace sinter::inline v1::jit
