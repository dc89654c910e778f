// Kernels for embedding: C source of an expression, for programs that do not use Sinter.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sinter/jit/recorded.hpp>

namespace sinter::inline v1 {

/// How one expression is exported.
struct ExportOptions {
  std::string name = "kernel";       // its functions are name_launch, name_cpu, name_workspace_bytes
  std::vector<std::string> inputs;   // names of the tensors, in the order of their first use in the expression;
                                     // default: x0, x1, ...
  std::vector<std::string> outputs;  // default: out, or out0, out1, ...
  /// The names of each input's extents. Extents that must be equal share a name; missing or empty names become s0, s1,
  /// ... Extents of 1 have no name: their axes always broadcast.
  std::vector<std::vector<std::string>> sizes;
  /// Names of the C++ numbers in the expression, in order: named numbers become parameters of the functions; those with
  /// a missing or empty name keep their values.
  std::vector<std::string> numbers;
  std::vector<std::string> strided;  // names of inputs with strides; others are contiguous
  bool in_place = false;             // an output may be the same array as an input of its shape
  bool one_variant = false;          // one CUDA kernel for all sizes, layouts and alignments: small, and slower
};

/// The files of a library of exported kernels.
enum class ExportFormat : std::uint8_t {
  Source,  // library.h and library.c
  Header,  // only library.h: one source file defines LIBRARY_IMPLEMENTATION before including it
  Fatbin,  // as Source, plus library.fatbin with the binaries, which library_open reads at run time
};

/// How a library of exported kernels is written.
struct LibraryOptions {
  std::string name = "kernels";                      // name of its files (name.h, name.c) and of name_error_text
  std::string prefix;                                // prefix of all function names
  std::vector<int> architectures{80, 90, 100, 120};  // binaries for these: 90 is compute capability 9.0
  bool ptx = true;  // also include PTX for the oldest of them, which the driver compiles for newer GPUs
  ExportFormat format = ExportFormat::Source;
  bool cuda_source = true;   // name.cu
  bool manifest = true;      // name.json
  bool cpp_wrapper = false;  // name.hpp
  bool ptx_files = false;    // name.ptx
  bool dot = false;          // name.dot
  bool dlpack = false;       // also functions that take DLPack tensors
};

/// Files of an exported library.
struct Exported {
  std::map<std::string, std::string> files;  // text by name

  /// Writes the files to a folder, creating it if necessary. Files whose text would not change are not touched; the
  /// others are replaced after all have been written. Throws Error if one cannot be written: then none has changed.
  void write(const std::string& folder) const;
};

/// The version of the ABI of exported files.
inline constexpr int export_abi_version = 1;

namespace jit {

/// An expression and its export options.
struct Export {
  Recorded expression;
  ExportOptions options;
};

/// The expression's scalars that ExportOptions::numbers may name, in that order: all except extents of tensors. Throws
/// Error for what cannot be exported.
std::vector<std::uint32_t> nameable_numbers(const Export& kernel);

/// Exports kernels as one library. Needs NVRTC, but no GPU; without architectures it needs neither, and the library is
/// portable C99 for the CPU alone. The same expressions and options give the same bytes. Throws Error for invalid C
/// names and for what cannot be exported (matrix products), CompileError, DeviceError if NVRTC is missing or does not
/// know an architecture.
Exported export_library(const std::vector<Export>& exports, const LibraryOptions& options);

}  // namespace jit

/// The main function of a program that exports kernels; `--help` lists its options. sinter_add_kernels (CMake) runs
/// such a program. Returns 0, or 1 after printing a message to stderr.
int export_main(int argc, const char* const* argv, const std::vector<jit::Export>& kernels);

}  // namespace sinter::inline v1
