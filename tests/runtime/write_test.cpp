// Writing under limits: errors, and what the program does with signals stays as it is.
#include <runtime/write.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>

#include <runtime/atomic_file_writer.hpp>
#include <runtime/environment.hpp>
#include <runtime/log.hpp>
#include <sinter/runtime/error.hpp>
#include "../file_limit.hpp"
#include "../scratch.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using runtime::AtomicFileWriter;

const std::string large(200'000, 'x');

bool waits(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

TEST(Write, PastTheLimitIsAnError) {
  const ScratchFolder folder;
  for (const rlim_t limit : file_limits) {
    EXPECT_EQ(under_file_limit(limit, [&] { return runtime::write_file(folder.file("a"), large); }), EFBIG) << limit;
    EXPECT_EQ(fs::file_size(folder.file("a")), limit);
    EXPECT_EQ(under_file_limit(limit,
                               [&] {
                                 const int file = ::open(folder.file("b").c_str(), O_WRONLY | O_CREAT, 0600);
                                 const auto bytes = std::as_bytes(std::span(large));
                                 if (runtime::write_all_at(file, bytes.first(8), 200'000) != EFBIG) return 1;
                                 if (limit == 0) return runtime::write_some(file, bytes) < 0 && errno == EFBIG ? 0 : 2;
                                 return runtime::write_some(file, bytes) == static_cast<ssize_t>(limit) ? 0 : 3;
                               }),
              0);
  }
  EXPECT_EQ(under_file_limit(4096, [&] { return runtime::write_file(folder.file("c"), large.substr(0, 4096)); }), 0);
}

TEST(Write, LeavesSignalsToTheProgram) {
  const ScratchFolder folder;
  const auto write = [&] { return runtime::write_file(folder.file("a"), large); };
  EXPECT_EQ(under_file_limit(4096,
                             [&] {
                               struct sigaction after{};
                               if (write() != EFBIG || waits(SIGXFSZ)) return 1;
                               sigset_t blocked;
                               pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                               ::sigaction(SIGXFSZ, nullptr, &after);
                               return sigismember(&blocked, SIGXFSZ) == 1 || after.sa_handler != SIG_DFL ? 2 : 0;
                             }),
            0);
  EXPECT_EQ(under_file_limit(4096,
                             [&] {  // one that the program holds back is its own, before and after
                               sigset_t own;
                               sigemptyset(&own);
                               sigaddset(&own, SIGXFSZ);
                               pthread_sigmask(SIG_BLOCK, &own, nullptr);
                               if (write() != EFBIG || waits(SIGXFSZ)) return 1;
                               ::raise(SIGXFSZ);
                               return write() == EFBIG && waits(SIGXFSZ) ? 0 : 2;
                             }),
            0);
  EXPECT_EQ(under_file_limit(4096,
                             [&] {
                               static volatile sig_atomic_t handled = 0;
                               ::signal(SIGXFSZ, [](int) { handled = 1; });
                               return write() == EFBIG && handled == 0 ? 0 : 1;
                             }),
            0);
}

TEST(Write, MessagesPastTheLimitAreLost) {
  const ScratchFolder folder;
  EXPECT_EQ(under_file_limit(0,
                             [&] {
                               const int file = ::open(folder.file("log").c_str(), O_WRONLY | O_CREAT, 0600);
                               ::dup2(file, STDERR_FILENO);
                               runtime::notice("nobody reads this");
                               runtime::report_unreadable("SINTER_CACHE", "nonsense", "a word", "nor this");
                               return 0;
                             }),
            0);
}

TEST(Write, ProblemsSayTheLimit) {
  EXPECT_EQ(runtime::write_problem(ENOSPC), "No space left on device");
  EXPECT_EQ(under_file_limit(4096,
                             [] {
                               const std::string text = runtime::write_problem(EFBIG);
                               return text == "File too large: this process may write files of 4096 bytes at most "
                                              "(ulimit -f)"
                                          ? 0
                                          : 1;
                             }),
            0);
}

TEST(AtomicFileWriter, AppearsWhenItIsComplete) {
  const ScratchFolder folder;
  const std::string path = folder.file("a");
  write_text(path, "old");
  {
    AtomicFileWriter file(path);
    file.write("new ");
    file.write("text");
    file.write_at(1, std::as_bytes(std::span("E", 1)));
    EXPECT_EQ(read_text(path), "old");
    file.write("!");  // goes on where it was
    file.finish();
    EXPECT_EQ(read_text(path), "old");
    file.commit();
    EXPECT_EQ(read_text(path), "nEw text!");
  }
  {
    AtomicFileWriter(path).write("nobody needs this");
  }
  EXPECT_EQ(read_text(path), "nEw text!");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFileWriter, PastTheLimitLeavesTheOldFile) {
  const ScratchFolder folder;
  write_text(folder.file("a"), "old");
  for (const rlim_t limit : file_limits)
    EXPECT_EQ(under_file_limit(limit,
                               [&] {
                                 try {
                                   AtomicFileWriter file(folder.file("a"));
                                   file.write(large);
                                   file.commit();
                                 } catch (const FormatError& e) {
                                   return std::string(e.what()).find("(ulimit -f)") == std::string::npos ? 1 : 0;
                                 }
                                 return 2;
                               }),
              0);
  EXPECT_EQ(read_text(folder.file("a")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace sinter::testing
