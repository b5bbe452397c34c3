// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kvroof {
namespace {

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : out_(::open_memstream(&text_, &size_)) {}
  ~ProgressTest() override {
    std::fclose(out_);
    std::free(text_);
  }
  std::string text() {
    std::fflush(out_);
    return {text_, size_};
  }
  std::function<double()> clock() {
    return [this] { return now_; };
  }

  double now_ = 100;
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* out_;
};

TEST_F(ProgressTest, OffATerminalItIsOneLineACase) {
  Progress progress(4, out_, false, clock());
  progress.begin("a");
  now_ += 10;
  progress.end("ok");
  progress.begin("b");
  now_ += 50;
  progress.end("skipped", 2);
  progress.begin("c");
  progress.end("ok");
  progress.clear();
  EXPECT_EQ(text(),
            "[1/4, about 30 s left] a: ok\n"       // 10 s a case, three to go
            "[3/4, about 20 s left] b: skipped\n"  // 20 s a case, one to go
            "[4/4] c: ok\n");
}

TEST_F(ProgressTest, OnATerminalItRedrawsOneShortLine) {
  {
    Progress progress(2, out_, true, clock());
    progress.begin(std::string(200, 'x'));
    EXPECT_EQ(text(), "\r\x1b[K[0/2] " + std::string(73, 'x'));
  }
  EXPECT_TRUE(text().ends_with("\r\x1b[K"));
  EXPECT_EQ(text().find('\n'), std::string::npos);
}

TEST(ShortDuration, UsesTheUnitThatFits) {
  EXPECT_EQ(short_duration(-1), "0 s");
  EXPECT_EQ(short_duration(3.4), "3 s");
  EXPECT_EQ(short_duration(59.6), "1 min 00 s");
  EXPECT_EQ(short_duration(250), "4 min 10 s");
  EXPECT_EQ(short_duration(7500), "2 h 05 min");
}

}  // namespace
}  // namespace kvroof
