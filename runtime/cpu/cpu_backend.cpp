#include "cpu_backend.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include <sinter/runtime/error.hpp>

#include "../trace/product_record.hpp"
#include "../trace/span.hpp"
#include "host_memory.hpp"
#include "host_product.hpp"

namespace sinter::inline v1::runtime {
namespace {

class CpuBackend final : public Backend {
 public:
  Device device() const noexcept override { return Device(); }

  std::string name() const override {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("model name"))
        if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    return "CPU";
  }

  MemoryInfo memory() const override { return source_.memory(); }
  MemoryStats memory_stats() const override { return pool_.stats(); }
  void reset_peak() noexcept override { pool_.reset_peak(); }
  std::size_t trim() override { return pool_.trim(); }
  void* allocate(std::size_t bytes, StreamImpl*) override { return pool_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes, StreamImpl*, Fence) noexcept override {
    pool_.deallocate(data, bytes);
  }

  void upload(void* device, const void* host, std::size_t bytes) override { move(device, host, bytes); }
  void download(void* host, const void* device, std::size_t bytes) override { move(host, device, bytes); }
  void copy(void* to, const void* from, std::size_t bytes, Backend& source) override {
    if (!source.device().is_cpu())
      throw DeviceError(fmt::format("cannot copy {} bytes directly from {} to cpu: download them", bytes,
                                    to_string(source.device())));
    move(to, from, bytes);
  }
  void multiply(const MatrixProduct& product) override {
    if (!traces()) return multiply_on_host(product);
    const TraceSpan span(record_of(product));
    multiply_on_host(product);
  }
  void synchronize() override {}

 private:
  static void move(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes) std::memmove(to, from, bytes);  // pointers may be null otherwise
  }

  HostMemory source_;
  Pool pool_{source_, Device(), Pool::Memory::Host, source_.memory().total / 4};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace sinter::inline v1::runtime
