// The files of an exported library.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <runtime/cuda/nvrtc.hpp>
#include "model.hpp"

namespace sinter::inline v1::jit::exporting {

/// A kernel's text for one architecture, "sm_90" or "compute_90", as bytes that the driver loads, and what the compiler
/// says of it.
using Compile = std::function<runtime::KernelReport(const runtime::KernelSource&, const std::string& architecture)>;

/// One compiled text of the library, for all architectures.
struct Image {
  runtime::KernelSource source;
  std::vector<runtime::KernelReport> compiled;  // for each of Library::targets
};

struct Target {
  int architecture;
  bool is_ptx;
  std::string name() const;
};

struct Library {
  LibraryOptions options;
  std::vector<Model> kernels;
  std::vector<Target> targets;
  std::vector<Image> images;  // each text once, in the order of the kernels

  /// Whether it has kernels for GPUs. One without needs nothing but C99 and <math.h>.
  bool launches() const noexcept { return !targets.empty(); }
  /// Whether functions on the CPU allocate memory: for temporaries.
  bool allocates() const noexcept;

  /// "ns_": before every function; and that with the library's name, for those of the library.
  std::string kernel_prefix(const Model& m) const { return options.prefix + m.name; }
  std::string prefix() const { return options.prefix + options.name; }
  /// prefix() in capitals, for macros.
  std::string macro() const;
};

/// As export_library, with compilers of the caller's.
Library make_library(const std::vector<Export>& exports, const LibraryOptions& options, const Compile& compile);
Exported write_library(const Library& library);

std::string header_text(const Library& library);
std::string source_text(const Library& library);
std::string wrapper_text(const Library& library);
std::string manifest_text(const Library& library);
std::string cuda_text(const Library& library);

/// Parameters of a kernel's functions: `const float *z`, with and without those of a launch.
std::vector<std::string> parameters(const Model& model, bool of_launch);
std::vector<std::string> size_parameters(const Model& model);
/// Parameters of functions that take DLPack tensors; and the trailing parameters that both kinds have in common.
std::vector<std::string> dlpack_parameters(const Model& model, bool of_launch);
void add_other_parameters(const Model& model, bool of_launch, std::vector<std::string>& to);
/// Equal hashes mean equal kernels, also across libraries.
std::string content_hash(std::string_view text);
/// "y float32 (n, m)".
std::string shape_text(const Model& model, const Array& array);

/// All images in one file, as CUDA's tools know such files, and where each begins: by image, then by target.
struct Fatbin {
  std::string bytes;
  std::vector<std::vector<std::size_t>> offsets;
};
Fatbin make_fatbin(const Library& library);

struct ErrorCode {
  int code;
  std::string_view name;  // NULL_POINTER
  std::string_view text;
  bool of_launch;  // only functions for GPUs return it
};
/// What the library's functions may return.
std::vector<ErrorCode> error_codes(const Library& library);
inline constexpr int driver_error = 1000;

}  // namespace sinter::inline v1::jit::exporting
