// The command line of programs that export kernels.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include <runtime/text.hpp>
#include <sinter/jit/export.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {
namespace {

constexpr std::string_view usage =
    "Writes C source of the program's kernels.\n"
    "  -o FOLDER         where to (.)\n"
    "  --name NAME       of the library and its files (kernels)\n"
    "  --prefix PREFIX   before the names of all functions\n"
    "  --kernels A,B     these alone\n"
    "  --archs 80,90     the GPUs to compile for; the word none: C99 for the CPU alone\n"
    "  --ptx on|off      PTX for newer GPUs as well (on)\n"
    "  --format source|header|fatbin   a header and a source file; a header alone; as source, the binaries in a file\n"
    "  --dlpack on|off   functions that take DLPack tensors as well (off)\n"
    "  --extra LIST      other files, of cu, json, hpp, ptx, dot (none)\n"
    "  --list            names of the kernels, and nothing else\n"
    "  --help\n";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",;"), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

int architecture(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("sm_")) digits.remove_prefix(3);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Error(fmt::format("--archs: {} is not an architecture: 90 is compute capability 9.0", runtime::quote(text)));
  return number;
}

template <class T>
T choice(std::string_view option, std::string_view value, const std::map<std::string_view, T>& known) {
  if (const auto found = known.find(value); found != known.end()) return found->second;
  std::string list;
  for (const auto& [name, meaning] : known) list += (list.empty() ? "" : ", ") + std::string(name);
  throw Error(fmt::format("{}: {} is none of {}", option, runtime::quote(value), list));
}

struct Arguments {
  LibraryOptions library;
  std::string folder = ".";
  std::set<std::string> kernels;  // none: all
  bool lists = false, helps = false;
};

void set_extra(LibraryOptions& library, const std::vector<std::string>& extra) {
  const std::map<std::string_view, bool*> known = {{"cu", &library.cuda_source},
                                                   {"json", &library.manifest},
                                                   {"hpp", &library.cpp_wrapper},
                                                   {"ptx", &library.ptx_files},
                                                   {"dot", &library.dot}};
  for (const std::string& name : extra) *choice("--extra", name, known) = true;
}

void set(Arguments& out, std::string_view option, const std::string& value) {
  LibraryOptions& library = out.library;
  const std::vector<std::string> list = split(value);
  if (option == "-o") {
    out.folder = value;
  } else if (option == "--name") {
    library.name = value;
  } else if (option == "--prefix") {
    library.prefix = value;
  } else if (option == "--kernels") {
    out.kernels.insert(list.begin(), list.end());
  } else if (option == "--archs") {
    library.architectures.clear();
    if (value == "none") return;
    if (list.empty()) throw Error("--archs: name architectures, as 90, or none for kernels of the CPU alone");
    for (const std::string& a : list) library.architectures.push_back(architecture(a));
  } else if (option == "--ptx") {
    library.ptx = choice<bool>(option, value, {{"on", true}, {"off", false}});
  } else if (option == "--format") {
    library.format = choice<ExportFormat>(
        option, value,
        {{"source", ExportFormat::Source}, {"header", ExportFormat::Header}, {"fatbin", ExportFormat::Fatbin}});
  } else if (option == "--dlpack") {
    library.dlpack = choice<bool>(option, value, {{"on", true}, {"off", false}});
  } else if (option == "--extra") {
    set_extra(library, list);
  } else {
    throw Error(fmt::format("{} is no option\n{}", runtime::quote(option), usage));
  }
}

Arguments parse(int argc, const char* const* argv) {
  Arguments out;
  out.library.cuda_source = out.library.manifest = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--list") {
      out.lists = true;
    } else if (option == "--help") {
      out.helps = true;
    } else {
      if (i + 1 == argc) throw Error(fmt::format("{} takes a value\n{}", runtime::quote(option), usage));
      set(out, option, argv[++i]);
    }
  }
  return out;
}

std::vector<jit::Export> chosen(const std::vector<jit::Export>& all, std::set<std::string> names) {
  if (names.empty()) return all;
  std::vector<jit::Export> out;
  for (const jit::Export& e : all)
    if (names.erase(e.options.name)) out.push_back(e);
  if (!names.empty()) throw Error(fmt::format("--kernels: there is no kernel {}", runtime::quote(*names.begin())));
  return out;
}

}  // namespace

int export_main(int argc, const char* const* argv, const std::vector<jit::Export>& kernels) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.helps) fmt::print("{}", usage);
    for (const jit::Export& e : kernels)
      if (arguments.lists) fmt::print("{}\n", e.options.name);
    if (arguments.lists || arguments.helps) return 0;
    jit::export_library(chosen(kernels, arguments.kernels), arguments.library).write(arguments.folder);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace sinter::inline v1
