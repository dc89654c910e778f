#include "trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include <sinter/runtime/error.hpp>
#include "../write.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::string_view array_begin = "[", array_end = "\n]\n";

/// In quotes; bytes that are not valid UTF-8 become U+FFFD.
std::string json_string(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Nanoseconds in microseconds.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

std::string trace_path(std::string_view name, pid_t process, std::optional<int> number, bool is_child) {
  std::string path;
  bool has_process = false, has_number = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char placeholder = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (placeholder == 'p')
      path += std::to_string(process), has_process = true, ++i;
    else if (placeholder == 'r')
      path += std::to_string(number.value_or(0)), has_number = true, ++i;
    else
      path += name[i];
  }
  if (number && !has_number && !has_process) path += fmt::format(".{}", *number);
  if (is_child && !has_process) path += fmt::format(".{}", process);
  return path;
}

void TraceText::add(const TraceRecord& r, std::int64_t thread) {
  fmt::format_to(std::back_inserter(text_),
                 R"(,
{{"name":{},"cat":"{}","ph":"X","ts":{},"dur":{},"pid":{},"tid":{},"args":{{)",
                 json_string(r.name.data()), name(r.category), microseconds(r.begin), microseconds(r.end - r.begin),
                 process_, thread);
  for (std::size_t i = 0; i < r.value_count; ++i) {
    const TraceValue& v = r.values[i];
    fmt::format_to(std::back_inserter(text_), "{}{}:{}", i == 0 ? "" : ",", json_string(v.name),
                   v.word.empty() ? std::to_string(v.number) : json_string(v.word));
  }
  text_ += "}}";
}

void TraceText::add_name(std::string_view what, std::int64_t thread, std::string_view name) {
  fmt::format_to(std::back_inserter(text_),
                 R"(,
{{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                 what, process_, thread, json_string(name));
}

TraceFile::TraceFile(std::string path) : path_(std::move(path)) {
  open();
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file_);
    path_ += fmt::format(".{}", ::getpid());
    open();
    ::flock(file_, LOCK_EX | LOCK_NB);
  }
  if (::ftruncate(file_, 0) == 0) return;
  const std::string problem = write_problem(errno);
  ::close(file_);
  throw Error(problem);
}

TraceFile::~TraceFile() { ::close(file_); }

void TraceFile::open() {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) throw Error(write_problem(errno));
  struct stat found{};
  if (::fstat(file_, &found) == 0 && S_ISREG(found.st_mode)) return;
  ::close(file_);
  throw Error("it is not a regular file");
}

void TraceFile::add(const TraceText& events) {
  std::string_view text = events.text();
  if (text.empty()) return;
  if (end_ == 0) text.remove_prefix(1);  // the comma before the first event
  const std::string bytes = fmt::format("{}{}{}", end_ == 0 ? array_begin : "", text, array_end);
  if (const int error = write_all_at(file_, std::as_bytes(std::span(bytes)), end_)) {
    const std::string problem = write_problem(error);
    const bool is_cut = ::ftruncate(file_, end_) == 0;
    if (is_cut && end_ > 0) write_all_at(file_, std::as_bytes(std::span(array_end)), end_);
    throw Error(problem);
  }
  end_ += static_cast<off_t>(bytes.size() - array_end.size());
}

}  // namespace sinter::inline v1::runtime
