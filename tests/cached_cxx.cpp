// cached_cxx FOLDER COMPILER [OPTIONS] INPUT -o OUTPUT: the compiler of the tests' virtual GPUs. It keeps what it made
// in FOLDER, for the same kernels appear in many tests. A file's name is the hash of the input's text, the options and
// the compiler. Any other call goes to the compiler as it is.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

[[noreturn]] void become(Words command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::perror(arguments[0]);
  std::exit(127);
}

/// The wait status of the command in a child.
int run(const Words& command) {
  const pid_t child = fork();
  if (child == 0) become(command);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// A program's path, size and time: another version is another compiler.
std::string identity(const std::string& program) {
  struct stat s{};
  stat(program.c_str(), &s);
  return program + " " + std::to_string(s.st_size) + " " + std::to_string(s.st_mtim.tv_sec) + "." +
         std::to_string(s.st_mtim.tv_nsec);
}

/// What -march=native stands for.
std::string features_of_processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags") || line.starts_with("Features")) return line;
  return "";
}

std::string name_of(const Words& options, const fs::path& input) {
  std::string text = identity(options[0]) + features_of_processor();
  for (const std::string& option : options) text += "\n" + option;
  std::ifstream in(input, std::ios::binary);
  text.append(std::istreambuf_iterator<char>(in), {});
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx.so", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return name;
}

bool copy_whole(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  return fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
}

/// Others may store the same file: whoever comes last replaces it as a whole.
void store(const fs::path& made, const fs::path& kept) {
  std::error_code ignored;
  fs::create_directories(kept.parent_path(), ignored);
  const fs::path part = kept.string() + "." + std::to_string(getpid());
  if (copy_whole(made, part))
    fs::rename(part, kept, ignored);
  else
    fs::remove(part, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FOLDER COMPILER ...\n", argv[0]);
    return 2;
  }
  const Words command(argv + 2, argv + argc);
  if (command.size() < 4 || command[command.size() - 2] != "-o") become(command);
  const fs::path output = command.back(), input = command[command.size() - 3];
  const fs::path kept = argv[1] / fs::path(name_of({command.begin(), command.end() - 3}, input));
  if (copy_whole(kept, output)) return 0;
  const int status = run(command);
  if (WIFSIGNALED(status)) std::raise(WTERMSIG(status));
  if (status == 0) store(output, kept);
  return WEXITSTATUS(status);
}
