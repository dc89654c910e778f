#include <runtime/trace/trace_file.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sinter/runtime/error.hpp>
#include "file_limit.hpp"
#include "traces.hpp"

namespace sinter::runtime {
namespace {

using sinter::testing::Json;
using sinter::testing::read_text;
using sinter::testing::ScratchFolder;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TracePath, TellsProcessesApart) {
  EXPECT_EQ(trace_path("t.json", 7, std::nullopt, false), "t.json");
  EXPECT_EQ(trace_path("t.json", 7, std::nullopt, true), "t.json.7");
  EXPECT_EQ(trace_path("t.json", 7, 3, false), "t.json.3");
  EXPECT_EQ(trace_path("t.json", 7, 3, true), "t.json.3.7");
  EXPECT_EQ(trace_path("%r-%p.json", 7, 3, false), "3-7.json");
  EXPECT_EQ(trace_path("%r.json", 7, 3, true), "3.json.7");
  EXPECT_EQ(trace_path("%p.json", 7, 3, true), "7.json");
  EXPECT_EQ(trace_path("%r.json", 7, std::nullopt, false), "0.json");
  EXPECT_EQ(trace_path("100%", 7, std::nullopt, false), "100%");
  EXPECT_EQ(trace_path("%d%%p", 7, std::nullopt, false), "%d%7");
}

TraceRecord record(std::string_view name, std::int64_t begin, std::int64_t end) {
  TraceRecord r(TraceCategory::Copy, name, {{"bytes", -5}, {"by", 0, "the \"host\"\n"}});
  r.begin = begin, r.end = end;
  return r;
}

Json events(const std::string& path) { return Json::parse(read_text(path)); }

TEST(TraceFile, IsAWholeArrayAfterEachAddition) {
  const ScratchFolder folder;
  TraceFile file(folder.file("t.json"));
  file.add(TraceText(12));
  EXPECT_EQ(read_text(file.path()), "");
  TraceText names(12), spans(12);
  names.add_name("process_name", 12, "a\\b");
  file.add(names);
  EXPECT_EQ(events(file.path()),
            Json::parse(R"([{"name":"process_name","ph":"M","pid":12,"tid":12,"args":{"name":"a\\b"}}])"));
  spans.add(record("copy", 1'002'003, 1'002'004), 34);
  spans.add(record("again", 2'000'000, 5'000'000), 34);
  file.add(spans);
  const Json all = events(file.path());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1], Json::parse(R"({"name":"copy","cat":"copy","ph":"X","ts":1002.003,"dur":0.001,"pid":12,"tid":34,
                                    "args":{"bytes":-5,"by":"the \"host\"\n"}})"));
  EXPECT_EQ(all[2]["dur"], 3000);
}

TEST(TraceFile, EscapesNames) {
  const ScratchFolder folder;
  TraceFile file(folder.file("t.json"));
  for (const std::string_view name : {"\"quoted\" \\ back", "tab\tline\n\x01", "grüße, 速い", "no UTF-8: \xff\xc3"}) {
    TraceText text(1);
    text.add(record(name, 0, 1), 1);
    file.add(text);
  }
  const Json all = events(file.path());
  EXPECT_EQ(all[0]["name"], "\"quoted\" \\ back");
  EXPECT_EQ(all[1]["name"], "tab\tline\n\x01");
  EXPECT_EQ(all[2]["name"], "grüße, 速い");
  EXPECT_EQ(all[3]["name"], "no UTF-8: \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TraceFile, CutsLongNamesBetweenCharacters) {
  std::string longest;
  for (int i = 0; i < 100; ++i) longest += "ü€";
  const TraceRecord r = record(longest, 0, 1);
  const std::string kept = r.name.data();
  EXPECT_LT(kept.size(), r.name.size());
  EXPECT_GT(kept.size(), r.name.size() - 8);
  EXPECT_THAT(kept, HasSubstr("..."));
  EXPECT_EQ(Json(kept).dump(), "\"" + kept + "\"");  // throws where it is no UTF-8
}

TEST(TraceRecord, LeavesValuesOutThatItHasNoRoomFor) {
  TraceRecord r(TraceCategory::Launch, "k");
  for (int i = 0; i < 20; ++i) r.add({"x", i});
  EXPECT_EQ(r.value_count, TraceRecord::max_values);
  EXPECT_EQ(r.values.back().number, 5);
}

TEST(TraceFile, ReplacesAnOldOne) {
  const ScratchFolder folder;
  sinter::testing::write_text(folder.file("t.json"), std::string(100'000, 'x'));
  TraceFile file(folder.file("t.json"));
  TraceText text(1);
  text.add_name("process_name", 1, "p");
  file.add(text);
  EXPECT_EQ(events(file.path()).size(), 1u);
}

TEST(TraceFile, LeavesOneAloneThatIsBeingWritten) {
  const ScratchFolder folder;
  TraceText text(1);
  text.add_name("process_name", 1, "p");
  TraceFile first(folder.file("t.json"));
  first.add(text);
  TraceFile second(folder.file("t.json"));
  EXPECT_EQ(second.path(), folder.file("t.json.") + std::to_string(::getpid()));
  second.add(text);
  EXPECT_EQ(events(first.path()).size(), 1u);
  EXPECT_EQ(events(second.path()).size(), 1u);
}

TEST(TraceFile, SaysWhyThereIsNone) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { TraceFile file(folder.file("no/t.json")); }, ThrowsMessage<Error>("No such file or directory"));
  EXPECT_THAT([&] { TraceFile file(folder.path()); }, ThrowsMessage<Error>("Is a directory"));
  EXPECT_THAT([] { TraceFile file("/dev/null"); }, ThrowsMessage<Error>("it is not a regular file"));
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { TraceFile file(pipe); }, ThrowsMessage<Error>("No such device or address"));  // nobody reads
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_THAT([&] { TraceFile file(pipe); }, ThrowsMessage<Error>("it is not a regular file"));
  ::close(reader);
}

TEST(TraceFile, KeepsWhatItHadWhereNoMoreFits) {
  const ScratchFolder folder;
  TraceFile file(folder.file("t.json"));
  TraceText small(1), large(1);
  small.add_name("process_name", 1, "p");
  large.add_name("thread_name", 1, std::string(10'000, 'x'));
  file.add(small);
  EXPECT_EQ(sinter::testing::under_file_limit(1000,
                                              [&] {
                                                try {
                                                  file.add(large);
                                                } catch (const Error& e) {
                                                  return std::string(e.what()).ends_with("(ulimit -f)") ? 3 : 4;
                                                }
                                                return 5;
                                              }),
            3);
  EXPECT_EQ(events(file.path()).size(), 1u);
}

}  // namespace
}  // namespace sinter::runtime
