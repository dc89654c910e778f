// Files in memory, and the devices that they are read to.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include <dsl/files/npy_format.hpp>

namespace sinter::testing {

class Bytes final : public detail::ByteSource {
 public:
  explicit Bytes(std::string_view bytes, std::string name = "'bytes.npy'") : bytes_(bytes), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    // Out of range: a reader forgot to check.
    if (offset > bytes_.size() || to.size() > bytes_.size() - offset) __builtin_trap();
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
  }

 private:
  std::string_view bytes_;
  std::string name_;
};

/// A file of format `major`.0 with this dictionary and these elements.
inline std::string npy_file(std::string_view dictionary, std::string_view elements = {}, int major = 1) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(major);
  file += '\0';
  for (std::size_t i = 0; i < (major == 1 ? 2u : 4u); ++i) file += static_cast<char>(dictionary.size() >> 8 * i & 0xFF);
  return file.append(dictionary).append(elements);
}

/// A safetensors file with this header and these elements.
inline std::string safetensors_file(std::string_view json, std::string_view elements = {}) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(json.size() >> 8 * i & 0xFF);
  return file.append(json).append(elements);
}

inline constexpr const char* cpu_and_gpu[] = {"cpu", "cuda:0"};

}  // namespace sinter::testing
