// The content of the page, on GPUs of the fake driver. tests/python/page_test.py opens it in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <runtime/cuda/fake_gpus.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Sets PATH for one scope.
class Path {
 public:
  explicit Path(const std::string& value) : before_(std::getenv("PATH")) { ::setenv("PATH", value.c_str(), 1); }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  const std::string before_;
};

/// With the drawing of Graphviz, if it is installed, and without.
std::vector<std::string> paths() { return {std::getenv("PATH"), "/nowhere"}; }

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t p = text.find(part); p != text.npos; p = text.find(part, p + 1)) ++count;
  return count;
}

struct ExplainHtml : testing::Test {
  ExplainHtml() { sn::testing::fake_for_expressions(); }
  static sn::Tensor<float> square(const char* device) { return sn::empty<float>({64, 64}, device); }
  /// Three kernels or more; two of them compute sigmoid(x).
  static std::string page(const char* device) {
    const sn::Tensor<float> x = square(device);
    return sn::explain_html(sn::matmul(sn::exp(sn::sigmoid(x)), x).sum(0) + sn::sigmoid(x));
  }
};

TEST_F(ExplainHtml, NeedsNothingButItself) {
  for (const char* device : {"cpu", "cuda:0"})
    for (const std::string& path : paths()) {
      const Path used(path);
      const std::string text = page(device);
      EXPECT_TRUE(text.starts_with("<!DOCTYPE html>\n")) << text.substr(0, 100);
      EXPECT_TRUE(text.ends_with("</html>\n"));
      EXPECT_THAT(text, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("<script")), Not(HasSubstr(" src=")),
                              Not(HasSubstr("<link")), Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
      EXPECT_EQ(occurrences(text, "<svg"), device[1] == 'p' ? 1u : 2u);
    }
}

TEST_F(ExplainHtml, EachKernelHasABoxARowAndItsText) {
  for (const std::string& path : paths()) {
    const Path used(path);
    const std::string text = page("cuda:0");
    const std::size_t kernels = occurrences(text, "<section class=\"panel\"");
    EXPECT_GE(kernels, 3u);
    EXPECT_EQ(occurrences(text, "class=\"cluster kernel\""), kernels);
    EXPECT_EQ(occurrences(text, "__global__ void"), kernels - 1) << "the product has none";
    EXPECT_EQ(occurrences(text, "Computed by a library: no source."), 1u);
    for (std::size_t k = 1; k <= kernels; ++k) {
      EXPECT_EQ(occurrences(text, "id=\"kernel-" + std::to_string(k) + "\""), 1u);
      EXPECT_GE(occurrences(text, "href=\"#kernel-" + std::to_string(k) + "\""), 2u);
    }
    EXPECT_THAT(text, HasSubstr("class=\"node repeated\""));
  }
}

// The CPU's rate is unknown, so there is no roof.
TEST_F(ExplainHtml, ARooflineWhereTheDeviceIsKnown) {
  EXPECT_THAT(page("cuda:0"), AllOf(HasSubstr("id=\"roofline\""), Not(HasSubstr("id=\"bytes\""))));
  EXPECT_THAT(page("cpu"), AllOf(HasSubstr("id=\"bytes\""), Not(HasSubstr("id=\"roofline\"")),
                                 Not(HasSubstr("bound by")), Not(HasSubstr("-bound"))));
}

TEST_F(ExplainHtml, NamesAreTextAndNothingElse) {
  const std::string name = "</pre><img src=x onerror=alert(1)>&\"'\\\xFF";
  const sn::Tensor<float> x = sn::zeros({3});
  const sn::Lazy<float> z(sn::jit::named(sn::Lazy<float>(x).node(), name));
  for (const std::string& path : paths()) {
    const Path used(path);
    const std::string text = sn::explain_html(z + 1);
    EXPECT_THAT(text, AllOf(HasSubstr("&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;\\"),
                            Not(HasSubstr("<img")), Not(HasSubstr("\xFF"))));
    EXPECT_THAT(text, HasSubstr("\xEF\xBF\xBD"));
    EXPECT_EQ(occurrences(text, "<pre"), occurrences(text, "</pre>"));
  }
}

TEST_F(ExplainHtml, IsBoundedForLargePlans) {
  sn::Lazy<float> chain = sn::zeros({8});
  for (int i = 0; i < 3000; ++i) chain = i % 3 ? chain + i : sn::sin(chain);
  sn::Lazy<float> wide = sn::zeros({8});
  for (int i = 0; i < 1000; ++i) wide = wide + sn::Lazy<float>(sn::zeros({8}));
  for (const std::string& path : paths())
    for (const sn::Lazy<float>& e : {chain, wide}) {
      const Path used(path);
      const std::string text = sn::explain_html(e);
      EXPECT_LT(occurrences(text, "class=\"node "), 500u);
      EXPECT_THAT(text, Not(HasSubstr("class=\"node step\"")));
    }
}

TEST_F(ExplainHtml, BadOperandsThrowAsTheyWouldWhenEvaluated) {
  EXPECT_THROW(sn::explain_html(sn::zeros({2}) + sn::zeros({3})), sn::ShapeError);
}

}  // namespace
