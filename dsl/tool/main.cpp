// `sinter`: expressions as text, evaluated, explained, measured and exported. docs/tool.md
#include <csignal>

#include "command_line.hpp"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file-size limit of the output becomes an error like a full disk
  return sinter::tool::main({argv, static_cast<std::size_t>(argc)});
}
