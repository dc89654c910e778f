// Runs the built tool through a shell, as users do.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "scratch.hpp"

namespace sinter::testing {

struct Outcome {
  int status;  // -1 if a signal killed it
  std::string out, err;
};

/// A folder to run commands in, with its own kernel cache.
class Shell {
 public:
  std::string file(const std::string& name) const { return folder_.file(name); }

  Outcome command(const std::string& text, const std::string& variables = "") const {
    const std::string line = fmt::format(
        "cd {0} && export SINTER_VIRTUAL_GPUS=2 SINTER_QUIET=1 SINTER_CACHE=on SINTER_CACHE_DIR={0}/cache {1} && {{ "
        "{2} ; }} "
        ">.out 2>.err </dev/null",
        folder_.path().string(), variables, text);
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) && WEXITSTATUS(status) < 126 ? WEXITSTATUS(status) : -1, read_text(file(".out")),
            read_text(file(".err"))};
  }
  Outcome sinter(const std::string& arguments, const std::string& variables = "") const {
    return command(SINTER_TOOL " " + arguments, variables);
  }
  /// Its output, if it succeeds.
  std::string prints(const std::string& arguments) const {
    const Outcome o = sinter(arguments);
    EXPECT_EQ(o.status, 0) << arguments << "\n" << o.err;
    EXPECT_EQ(o.err, "") << arguments;
    return o.out;
  }

  /// Writes a file as NumPy does.
  void write_npy(const std::string& name, const std::vector<float>& elements, const std::string& shape) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
    text += header;
    text.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float));
    write_text(file(name), text);
  }
  /// The elements of such a float32 file, whatever their shape.
  std::vector<float> read_npy(const std::string& name) const {
    const std::string text = read_text(file(name));
    const std::size_t header =
        10 + static_cast<unsigned char>(text.at(8)) + 256 * static_cast<unsigned char>(text.at(9));
    EXPECT_NE(text.find("'<f4'"), std::string::npos);
    std::vector<float> elements((text.size() - header) / sizeof(float));
    std::memcpy(elements.data(), text.data() + header, elements.size() * sizeof(float));
    return elements;
  }

 private:
  ScratchFolder folder_;
};

/// The text in single quotes for the shell.
inline std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace sinter::testing
