// The table of the commands.
#include "commands.hpp"

namespace sinter::tool {
namespace {

const Option device{"--device", "DEVICE", "cpu (the default), cuda or cuda:1"};
const Option size{"--size", "NAME=NUMBER", "the value of a symbolic size in --arg", true};

const Option function{"--function", "DEFINITION", "'float f(float x) { return ...; }', which expressions call", true};

std::vector<Command> make_commands() {
  const Option argument{"--arg", "ARGUMENT", "NAME=FILE.npy, NAME=NUMBER or 'NAME: TYPE[SHAPE]'", true};
  const Option file{"--arg", "NAME=VALUE", "NAME=FILE.npy or NAME=NUMBER", true};
  const Option type{"--arg", "NAME: TYPE", "'z: f32[n, m]'; 's: f64' is a number", true};
  return {
      {"run",
       "EXPRESSION",
       "evaluate an expression of .npy files",
       "Evaluates an expression, in one kernel if the plan allows, and prints the result or writes it to a file.\n"
       "  {} run 'exp(z + 2) * y' --arg z=z.npy --arg y=0.5 -o r.npy",
       {file, function, device, {"--output", "FILE.npy", "write the result to this file", false, "-o"}},
       run_expression},
      {"export",
       "EXPRESSION",
       "write an expression as C source for other programs",
       "Writes C that computes the expression on NVIDIA GPUs and on the CPU, without Sinter.\n"
       "  {} export 'exp(z + 2) * y' --arg 'z: f32[n]' --arg 'y: f32[n]' --arch 90 --name fused -o out/",
       {type,
        function,
        {"--name", "NAME", "the name of the kernel and the files (default: kernel)"},
        {"--prefix", "PREFIX", "a prefix for the names of all functions"},
        {"--arch", "LIST", "GPUs to compile for (default: 80,90,100,120); none: C99 for the CPU alone", true},
        {"--ptx", "on|off", "include PTX for newer GPUs (default: on)", false, "", {"on", "off"}},
        {"--format",
         "source|header|fatbin",
         "a header and a source file; only a header; like source, with the binaries in a file",
         false,
         "",
         {"source", "header", "fatbin"}},
        {"--dlpack", "", "add functions that take DLPack tensors"},
        {"--extra", "LIST", "additional files: cu,json,hpp,ptx,dot", true, "", {"cu", "json", "hpp", "ptx", "dot"}},
        {"--strided", "LIST", "arguments that have strides", true},
        {"--variants",
         "all|one",
         "one: a single kernel for all sizes and layouts, small and slower (default: all)",
         false,
         "",
         {"all", "one"}},
        {"--in-place", "", "allow the result to be the same array as an argument"},
        {"--output", "FOLDER", "the folder to write to (default: .)", false, "-o"}},
       export_kernels},
      {"explain",
       "EXPRESSION",
       "show the kernels of an expression",
       "Shows the plan of an expression: its kernels, what is not fused and why, and the bytes moved. Nothing runs.\n"
       "  {} explain 'softmax(x, -1)' --arg 'x: f32[n, 1000]' --size n=64",
       {argument,
        size,
        function,
        device,
        {"--cuda", "", "show the CUDA source of the kernels instead"},
        {"--hip", "", "show their HIP source, for AMD GPUs (never run on one), instead"},
        {"--ptx", "ARCH", "show the PTX for an architecture, such as sm_90, instead"},
        {"--dot", "", "show the graph in the DOT language instead"},
        {"--html", "FILE.html", "write everything to this file as a page, with the plan as a graph"}},
       explain_expression},
      {"bench",
       "EXPRESSION",
       "measure fused against eager evaluation",
       "Measures fused evaluation against one kernel per operation, alternately and after a warm-up. Arguments with a\n"
       "type are random: floats from 0 to 1, integers from 1 to 100.\n"
       "  {} bench 'exp(z + 2) * y' --arg 'z: f32[n]' --arg 'y: f32[n]' --size n=10000000",
       {argument, size, function, device, {"--repeat", "NUMBER", "evaluations of each kind to measure (default: 30)"}},
       bench_expression},
      {"cache",
       "ACTION [FILE]",
       "manage the compiled kernels on disk",
       "  stats         shows where they are, how many and how large\n"
       "  clear         deletes them\n"
       "  verify        reads and checks each one; exit status 1 if any is damaged\n"
       "  pack FILE     writes them into a zip archive\n"
       "  unpack FILE   adds those of such an archive. They are code: unpack only archives that you trust",
       {{"--delete", "", "verify: delete damaged kernels"}},
       look_after_cache},
      {"devices", "", "list the devices", "Lists the available devices.", {}, list_devices},
  };
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

}  // namespace sinter::tool
