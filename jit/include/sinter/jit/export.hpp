// Kernels for embedding: C source of an expression, for programs without Sinter.
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
  std::vector<std::string> inputs;   // names of the tensors, in the order in which the expression first names them;
                                     // those that are missing: x0, x1, ...
  std::vector<std::string> outputs;  // those that are missing: out, or out0, out1, ...
  /// For each input the names of its extents. Extents that must be equal have one name; those that are missing or empty
  /// are s0, s1, ... Extents of 1 have none: such an axis stays broadcast.
  std::vector<std::vector<std::string>> sizes;
  /// Names of the C++ numbers in the expression, in its order: those that have one are parameters of the functions,
  /// those that are missing or empty keep their values.
  std::vector<std::string> numbers;
  std::vector<std::string> strided;  // names of inputs that come with strides; others are contiguous
  bool in_place = false;             // an output may be the same array as an input of its shape
};

/// What a library of exported kernels is made of.
enum class ExportFormat : std::uint8_t {
  Source,  // library.h and library.c
  Header,  // library.h alone: one source file defines LIBRARY_IMPLEMENTATION before it includes it
  Fatbin,  // as Source, and library.fatbin, which has the binaries: library_open reads it at run time
};

/// How a library of exported kernels is written.
struct LibraryOptions {
  std::string name = "kernels";                      // of its files: name.h, name.c; of name_error_text
  std::string prefix;                                // before the names of all functions
  std::vector<int> architectures{80, 90, 100, 120};  // binaries for these: 90 is compute capability 9.0
  bool ptx = true;  // text of the oldest of them as well, which the driver compiles for GPUs that are newer
  ExportFormat format = ExportFormat::Source;
  bool cuda_source = true;   // name.cu
  bool manifest = true;      // name.json
  bool cpp_wrapper = false;  // name.hpp
  bool ptx_files = false;    // name.ptx
  bool dot = false;          // name.dot
  bool dlpack = false;       // functions that take DLPack tensors as well
};

/// Files of an exported library.
struct Exported {
  std::map<std::string, std::string> files;  // text by name

  /// Writes the files into a folder, which is made where it is missing. A file that has this text already stays
  /// untouched; the others appear when all are written. Throws Error where one cannot be written: then none has
  /// changed.
  void write(const std::string& folder) const;
};

/// The version of what exported files promise to their users.
inline constexpr int export_abi_version = 1;

namespace jit {

/// An expression with the way in which it is to be exported.
struct Export {
  Recorded expression;
  ExportOptions options;
};

/// The numbers of an expression that ExportOptions::numbers names, in that order: its scalars, but those that are
/// extents of tensors. Throws Error for what cannot be exported.
std::vector<std::uint32_t> nameable_numbers(const Export& kernel);

/// Exports kernels into one library. Needs NVRTC, no GPU; with no architectures nothing, and the kernels run on the CPU
/// alone. The same expressions and options give the same bytes. Throws Error for names that are none in C and for what
/// cannot be exported (products of matrices), CompileError, DeviceError
/// where NVRTC is missing or does not know an architecture.
Exported export_library(const std::vector<Export>& exports, const LibraryOptions& options);

}  // namespace jit

/// What a program that exports kernels does in main: `--help` says with which options. sinter_add_kernels (CMake) calls
/// such a program. Gives 0, or 1 after a message to stderr.
int export_main(int argc, const char* const* argv, const std::vector<jit::Export>& kernels);

}  // namespace sinter::inline v1
