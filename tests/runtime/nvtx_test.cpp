#include <runtime/trace/nvtx.hpp>

#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <sstream>

#include <sinter/sinter.hpp>
#include "traces.hpp"
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace sinter::testing {
namespace {

namespace nvtx = runtime::nvtx;
namespace sn = sinter;
using ::testing::Contains;
using ::testing::HasSubstr;

#if __has_include(<nvtx3/nvToolsExt.h>)
#define SINTER_SAME_MEMBER(own, theirs) \
  static_assert(offsetof(nvtx::EventAttributes, own) == offsetof(nvtxEventAttributes_t, theirs))
SINTER_SAME_MEMBER(version, version);
SINTER_SAME_MEMBER(size, size);
SINTER_SAME_MEMBER(category, category);
SINTER_SAME_MEMBER(color_type, colorType);
SINTER_SAME_MEMBER(color, color);
SINTER_SAME_MEMBER(payload_type, payloadType);
SINTER_SAME_MEMBER(reserved, reserved0);
SINTER_SAME_MEMBER(payload, payload);
SINTER_SAME_MEMBER(message_type, messageType);
SINTER_SAME_MEMBER(message, message);
static_assert(sizeof(nvtx::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(nvtx::EventAttributes().message_type == NVTX_MESSAGE_TYPE_ASCII);
static_assert(nvtx::version == NVTX_VERSION);
static_assert(nvtx::module_core == NVTX_CB_MODULE_CORE && nvtx::module_core2 == NVTX_CB_MODULE_CORE2);
static_assert(nvtx::functions == NVTX_CBID_CORE_SIZE && nvtx::functions == NVTX_CBID_CORE2_SIZE);
static_assert(nvtx::domain_range_push_ex == NVTX_CBID_CORE2_DomainRangePushEx);
static_assert(nvtx::domain_range_pop == NVTX_CBID_CORE2_DomainRangePop);
static_assert(nvtx::domain_name_category == NVTX_CBID_CORE2_DomainNameCategoryA);
static_assert(nvtx::domain_create == NVTX_CBID_CORE2_DomainCreateA);
static_assert(nvtx::table_callbacks == NVTX_ETID_CALLBACKS && nvtx::table_version == NVTX_ETID_VERSIONINFO);
static_assert(sizeof(nvtx::CallbackTable) == sizeof(NvtxExportTableCallbacks));
static_assert(sizeof(nvtx::VersionTable) == sizeof(NvtxExportTableVersionInfo));
static_assert(offsetof(nvtx::VersionTable, set_tool_version) ==
              offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
#endif

TEST(Child, DISABLED_Nvtx) {
  const sn::Tensor x = sn::ones({4}), y = sn::matmul(x, x);
  (void)sn::Tensor(x.to("cuda:0") + 1).to_vector();
}

std::string with_tool(const std::string& library, const std::string& more) {
  return "export SINTER_VIRTUAL_GPUS=1 SINTER_CACHE=memory NVTX_INJECTION64_PATH='" + library + "' " + more + ";";
}

TEST(Nvtx, SpansAreRanges) {
  const ScratchFolder folder;
  for (const bool with_file : {false, true}) {
    const std::string lines = folder.file("lines"), trace = folder.file("t.json");
    const Ended ended = run_child("Nvtx", with_tool(SINTER_FAKE_NVTX, "FAKE_NVTX_LINES='" + lines + "' SINTER_TRACE=" +
                                                                          (with_file ? "'" + trace + "'" : "")));
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.errors, "");
    const std::string text = read_text(lines);
    EXPECT_EQ(text.find("BAD"), text.npos) << text;
    EXPECT_THAT(text, HasSubstr("version 3, no other table\n"));
    EXPECT_THAT(text, HasSubstr("domain sinter\ncategory 1 plan\ncategory 2 compile\n"));
    EXPECT_THAT(text, HasSubstr("push 1 plan\npop\n"));
    EXPECT_THAT(text, HasSubstr("push 6 product\npop\n"));
    EXPECT_THAT(text, HasSubstr("push 8 copy to the device\n"));
    EXPECT_THAT(text, HasSubstr("push 4 sinter_"));
    int depth = 0;
    std::istringstream each(text);
    for (std::string line; std::getline(each, line);) {
      depth += line.starts_with("push") - (line == "pop");
      EXPECT_GE(depth, 0) << text;
    }
    EXPECT_EQ(depth, 0);
    EXPECT_EQ(std::filesystem::exists(trace), with_file);
  }
}

TEST(Nvtx, ALibraryThatIsNoneIsSaid) {
  const Ended missing = run_child("Nvtx", with_tool("/nonexistent/nvtx.so", "SINTER_QUIET=0"));
  EXPECT_EQ(missing.status, 0);
  EXPECT_THAT(missing.errors,
              HasSubstr("sinter: NVTX ranges are disabled: the library NVTX_INJECTION64_PATH=\"/nonexistent/nvtx.so\" "
                        "cannot be used: "));
  const Ended other = run_child("Nvtx", with_tool(SINTER_FAKE_MPICH, "SINTER_QUIET=0"));
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.errors, HasSubstr("it does not export InitializeInjectionNvtx2"));
}

}  // namespace
}  // namespace sinter::testing
