// `sinter`: expressions as text, evaluated, explained, measured and exported. docs/tool.md
#include <csignal>

#include "commands.hpp"

namespace sinter::tool {
namespace {

const Option device{"--device", "DEVICE", "cpu (unless said), cuda or cuda:1"};
const Option size{"--size", "NAME=NUMBER", "what a size of the signature is", true};

std::vector<Command> make_commands() {
  const Option argument{"--arg", "ARGUMENT", "NAME=FILE.npy, NAME=NUMBER or 'NAME: TYPE[SHAPE]'", true};
  const Option file{"--arg", "NAME=VALUE", "NAME=FILE.npy or NAME=NUMBER", true};
  const Option type{"--arg", "NAME: TYPE", "'z: f32[n, m]'; 's: f64' is a number", true};
  return {
      {"run",
       "EXPRESSION",
       "evaluates an expression of .npy files",
       "Evaluates an expression, in one kernel where the plan allows, and prints the result or writes it.\n"
       "  sinter run 'exp(z + 2) * y' --arg z=z.npy --arg y=0.5 -o r.npy",
       {file, device, {"--output", "FILE.npy", "writes the result there", false, "-o"}},
       run_expression},
      {"export",
       "EXPRESSION",
       "writes an expression as C source for other programs",
       "Writes C that computes the expression on NVIDIA GPUs and on the CPU, and needs nothing of Sinter.\n"
       "  sinter export 'exp(z + 2) * y' --arg 'z: f32[n]' --arg 'y: f32[n]' --arch 90 --name fused -o out/",
       {type,
        {"--name", "NAME", "of the kernel and the files (kernel)"},
        {"--prefix", "PREFIX", "before the names of all functions"},
        {"--arch", "LIST", "GPUs to compile for (80,90,100,120); none: the CPU alone", true},
        {"--ptx", "on|off", "PTX for newer GPUs as well (on)", false, "", {"on", "off"}},
        {"--format",
         "source|header|fatbin",
         "a header and a source file; a header alone; as source, with the binaries in a file",
         false,
         "",
         {"source", "header", "fatbin"}},
        {"--dlpack", "", "functions that take DLPack tensors as well"},
        {"--extra", "LIST", "other files, of cu,json,hpp,ptx,dot", true, "", {"cu", "json", "hpp", "ptx", "dot"}},
        {"--strided", "LIST", "arguments that come with strides", true},
        {"--in-place", "", "the result may be the same array as an argument"},
        {"--output", "FOLDER", "where to (.)", false, "-o"}},
       export_kernels},
      {"explain",
       "EXPRESSION",
       "says which kernels an expression becomes",
       "Says what an expression becomes: kernels, what is fused and what is not and why, bytes moved. Nothing runs.\n"
       "  sinter explain 'softmax(x, -1)' --arg 'x: f32[n, 1000]' --size n=64",
       {argument,
        size,
        device,
        {"--cuda", "", "the CUDA text of the kernels instead"},
        {"--ptx", "ARCH", "the PTX for an architecture, sm_90, instead"},
        {"--dot", "", "the graph in Graphviz's language instead"},
        {"--html", "FILE.html", "writes all of it there as a page, with the plan drawn"}},
       explain_expression},
      {"bench",
       "EXPRESSION",
       "measures an expression fused against eager",
       "Measures an expression as it is evaluated, against one kernel for each operation; both in turn, after a\n"
       "warm-up. Arguments that have a type are random: from 0 to 1, integers from 1 to 100.\n"
       "  sinter bench 'exp(z + 2) * y' --arg 'z: f32[n]' --arg 'y: f32[n]' --size n=10000000",
       {argument, size, device, {"--repeat", "NUMBER", "evaluations of each kind that count (30)"}},
       bench_expression},
      {"cache",
       "ACTION [FILE]",
       "looks after the compiled kernels on disk",
       "  stats         where they are, how many and how large\n"
       "  clear         deletes them\n"
       "  verify        reads each and checks that it is whole; exit status 1 where one is not\n"
       "  pack FILE     writes them into a zip archive\n"
       "  unpack FILE   adds those of such an archive. They are code: unpack what you trust alone",
       {{"--delete", "", "verify deletes what is damaged"}},
       look_after_cache},
      {"devices", "", "lists the devices", "Lists the devices that there are.", {}, list_devices},
  };
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

}  // namespace sinter::tool

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file-size limit of the output becomes an error like a full disk
  return sinter::tool::main({argv, static_cast<std::size_t>(argc)});
}
