// SINTER_DUMP_DIR: a folder that receives every kernel's text and binary, for inspection.
#pragma once
#include <string_view>

#include "kernel_key.hpp"

namespace sinter::inline v1::jit {

/// NAME_HASH and the suffix, with a hash of the text, since several kernels may have the same name. Best effort: a
/// folder that cannot be written is not an error.
void dump_text(const KernelKey& key, std::string_view suffix);
/// NAME_HASH.cubin, .ptx or .so, depending on the bytes.
void dump_binary(const KernelKey& key, std::string_view binary);

/// ".cubin" for an ELF file of a GPU, ".so" for another, else ".ptx".
std::string_view extension(std::string_view binary) noexcept;

}  // namespace sinter::inline v1::jit
