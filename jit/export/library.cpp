#include "library.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <set>

#include <runtime/text.hpp>
#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../functions/c_names.hpp"
#include "../inspect/dot.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void check_options(const LibraryOptions& options) {
  check_name(options.name, "library");
  if (!options.prefix.empty()) check_name(options.prefix, "prefix");
  std::set<int> seen;
  for (const int a : options.architectures) {
    if (a < 50 || a > 999) throw Error(fmt::format("{} is not an architecture: 90 is compute capability 9.0", a));
    if (!seen.insert(a).second) throw Error(fmt::format("architecture {} is given twice", a));
  }
  if (options.format == ExportFormat::Fatbin && options.architectures.empty())
    throw Error(fmt::format(
        "library {} is to have its binaries in a file, but is for no architecture: name some, or choose another format",
        runtime::quote(options.name)));
}

/// Functions of one kernel must not have the names of another's.
void check_outputs_disjoint(const std::string& a, const std::string& b) {
  static constexpr std::string_view own[] = {"arguments", "check",  "cpu", "dlpack",   "find",
                                             "launch",    "layout", "run", "workspace"};
  if (!b.starts_with(a + "_")) return;
  const std::string_view rest = std::string_view(b).substr(a.size() + 1);
  const bool is_own = std::ranges::any_of(own, [&](std::string_view word) { return rest.starts_with(word); });
  if (is_own || std::isdigit(static_cast<unsigned char>(rest[0])))
    throw Error(
        fmt::format("kernel name {} collides with functions generated for kernel {}: choose another name", b, a));
}

std::vector<Target> targets_of(const LibraryOptions& options) {
  std::vector<int> sorted = options.architectures;
  std::ranges::sort(sorted);
  std::vector<Target> targets;
  for (const int a : sorted) targets.push_back({a, false});
  if (options.ptx && !sorted.empty()) targets.push_back({sorted.front(), true});
  return targets;
}

/// Sets each variant's image: equal texts share one.
void number_images(Library& library) {
  std::map<std::string_view, std::size_t> known;
  for (Model& m : library.kernels)
    for (Step& step : m.steps)
      for (LayoutVersion& version : step.versions)
        for (Variant& v : version.variants) {
          const auto [place, is_new] = known.try_emplace(v.text, library.images.size());
          if (is_new) library.images.push_back({{step.kernel->name, v.text}, {}});
          v.image = place->second;
        }
}

void compile_images(Library& library, const Compile& compile) {
  const std::size_t targets = library.targets.size();
  for (Image& image : library.images) image.compiled.resize(targets);
  tbb::parallel_for(std::size_t{0}, library.images.size() * targets, [&](std::size_t i) {
    Image& image = library.images[i / targets];
    const Target& target = library.targets[i % targets];
    image.compiled[i % targets] = compile(image.source, target.name());
  });
}

}  // namespace

std::string Target::name() const { return fmt::format("{}_{}", is_ptx ? "compute" : "sm", architecture); }
std::string Library::macro() const { return upper(prefix()); }

std::string content_hash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool Library::allocates() const noexcept {
  return std::ranges::any_of(kernels, [](const Model& m) { return !m.temporaries.empty(); });
}

std::vector<ErrorCode> error_codes(const Library& library) {
  static constexpr ErrorCode codes[] = {
      {0, "OK", "no error", false},
      {1, "NULL_POINTER", "a pointer to an array with elements is null", false},
      {2, "BAD_SIZE", "a size is negative, or sizes or strides make an array larger than memory", false},
      {3, "MISALIGNED", "an array is not aligned to its element size", false},
      {4, "OVERLAP", "an output shares memory with an input or with another output", false},
      {5, "BAD_NUMBER", "a number does not fit the integers that it is used with", false},
      {6, "EMPTY_REDUCTION", "amax, amin, argmax or argmin of an empty row", false},
      {7, "DIVISION_BY_ZERO", "an integer was divided by 0", false},
      {8, "BAD_WORKSPACE", "the workspace is null, not aligned to 256 bytes, too small, or shares memory with an array",
       true},
      {9, "OUT_OF_MEMORY", "out of memory", false},
      {10, "NO_DRIVER", "libcuda.so.1, the CUDA driver, cannot be opened", true},
      {11, "OLD_DRIVER", "the CUDA driver lacks a function: it is too old", true},
      {12, "NO_CONTEXT", "no CUDA context is current in this thread", true},
      {13, "WRONG_ARCHITECTURE", "the kernels were exported for other GPUs than this one", true},
      {14, "INDEX_OUT_OF_RANGE", "an index is out of range", false},
      {15, "AFTER_FORK",
       "this process was forked from one that had used the CUDA driver, which cannot be used here: start a new process",
       true},
      {16, "BAD_TENSOR", "a DLPack tensor differs in ndim, dtype, shape or strides from what the function takes",
       false},
      {17, "WRONG_DEVICE", "a DLPack tensor is on another kind of device than the function takes", false},
      {18, "FILE_UNREADABLE", "the file of kernels cannot be read", true},
      {19, "FILE_MISMATCH", "the file of kernels does not match this library", true},
      {20, "FILE_NOT_OPEN", "the kernels are in a file that has not been opened", true},
  };
  std::vector<ErrorCode> out;
  std::ranges::copy_if(codes, std::back_inserter(out),
                       [&](const ErrorCode& e) { return library.launches() || !e.of_launch; });
  return out;
}

Library make_library(const std::vector<Export>& exports, const LibraryOptions& options, const Compile& compile) {
  check_options(options);
  Library library{options, {}, targets_of(options), {}};
  std::set<std::string> names;
  for (const Export& e : exports) {
    library.kernels.push_back(make_model(e));
    library.kernels.back().launches = library.launches();
    if (options.cpp_wrapper && e.options.name == "Error")
      throw Error("the kernel name Error is used by the C++ wrapper: choose another name");
    if (!names.insert(e.options.name).second)
      throw Error(fmt::format("two kernels of the library are called {}", e.options.name));
  }
  for (const std::string& a : names)
    for (const std::string& b : names) check_outputs_disjoint(a, b);
  if (exports.empty()) throw Error(fmt::format("library {} has no kernels", runtime::quote(options.name)));
  number_images(library);
  compile_images(library, compile);
  return library;
}

Exported write_library(const Library& library) {
  const LibraryOptions& options = library.options;
  Exported out;
  const auto add = [&](std::string_view extension, std::string text) {
    out.files.emplace(options.name + std::string(extension), std::move(text));
  };
  if (options.format == ExportFormat::Header) {
    add(".h", header_text(library) +
                  fmt::format("\n#ifdef {0}_IMPLEMENTATION\n#undef {0}_IMPLEMENTATION\n\n", library.macro()) +
                  source_text(library) + "#endif\n");
  } else {
    add(".h", header_text(library));
    add(".c", source_text(library));
  }
  if (options.format == ExportFormat::Fatbin) add(".fatbin", make_fatbin(library).bytes);
  if (options.cuda_source) add(".cu", cuda_text(library));
  if (options.manifest) add(".json", manifest_text(library));
  if (options.cpp_wrapper) add(".hpp", wrapper_text(library));
  std::string ptx, dot;
  for (const Image& image : library.images)
    for (std::size_t t = 0; t < library.targets.size(); ++t)
      if (library.targets[t].is_ptx) ptx += image.compiled[t].binary + "\n";
  if (options.ptx_files) add(".ptx", ptx);
  for (const Model& m : library.kernels) dot += to_dot(m.plan->graph) + "\n";
  if (options.dot) add(".dot", dot);
  return out;
}

}  // namespace sinter::inline v1::jit::exporting

namespace sinter::inline v1::jit {

Exported export_library(const std::vector<Export>& exports, const LibraryOptions& options) {
  const runtime::DefaultFloatEnvironment floats;
  const exporting::Compile compile = [](const runtime::KernelSource& source, const std::string& architecture) {
    if (architecture.starts_with("sm_")) return runtime::nvrtc_report(source, architecture);
    runtime::KernelReport text;
    text.binary = runtime::nvrtc_compile(source, architecture);
    return text;
  };
  return exporting::write_library(exporting::make_library(exports, options, compile));
}

}  // namespace sinter::inline v1::jit
