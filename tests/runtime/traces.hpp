// Traces of processes that tests start, read back.
#pragma once
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scratch.hpp"
#include "setup.hpp"

namespace sinter::testing {

using Json = nlohmann::json;

struct Ended {
  int status = -1;     // of exit(), or minus the signal that ended it
  std::string errors;  // what it said on stderr
};

/// Runs a test of the same file in a process of its own, in a shell's `setting`.
inline Ended run_child(const std::string& test, const std::string& setting) {
  const ScratchFolder folder;
  const std::string errors = folder.file("errors");
  const std::string command = setting + " exec env SINTER_QUIET=${SINTER_QUIET:-1} " + test::this_program() +
                              " --gtest_also_run_disabled_tests --gtest_brief=1 --gtest_filter=Child.DISABLED_" + test +
                              " >/dev/null 2>'" + errors + "'";
  const int status = std::system(("(" + command + ")").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_text(errors)};
}

/// What a trace holds. Throws what Json::parse throws where it is no JSON.
class TraceEvents {
 public:
  explicit TraceEvents(const std::string& path) : all_(Json::parse(read_text(path))) {}

  const Json& all() const { return all_; }
  /// Those with a begin and an end, of a category; of all where it is empty.
  std::vector<Json> spans(const std::string& category = "") const {
    std::vector<Json> found;
    for (const Json& e : all_)
      if (e.at("ph") == "X" && (category.empty() || e.at("cat") == category)) found.push_back(e);
    return found;
  }
  std::vector<Json> named(const std::string& name) const {
    std::vector<Json> found;
    for (const Json& e : spans())
      if (e.at("name") == name) found.push_back(e);
    return found;
  }
  /// Of threads and streams, by number.
  std::map<std::int64_t, std::string> lines() const {
    std::map<std::int64_t, std::string> names;
    for (const Json& e : all_)
      if (e.at("name") == "thread_name") names[e.at("tid")] = e.at("args").at("name");
    return names;
  }

 private:
  Json all_;
};

/// In nanoseconds.
inline std::int64_t begin_of(const Json& span) { return std::llround(1e3 * span.at("ts").get<double>()); }
inline std::int64_t end_of(const Json& span) {
  return begin_of(span) + std::llround(1e3 * span.at("dur").get<double>());
}

}  // namespace sinter::testing
